"""A command on a terminal: all that comes to it, byte for byte or as it reads."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import traceback

from deptree_cli.cli.app import main

# Seconds that a command gets before it is killed.
PATIENCE = 120

STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(command, folder, columns=200, **environment):
    """Run a command in a folder with a terminal for all its streams: its exit status and what it sent there."""
    outside, inside = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": str(columns), **environment}
    streams = {"stdin": inside, "stdout": inside, "stderr": inside}
    process = subprocess.Popen([*map(str, command)], cwd=folder, env=env, **streams)
    os.close(inside)
    shown = b"".join(iter(lambda: _read(outside), b""))
    os.close(outside)
    return process.wait(60), shown.decode()


def forked_on_terminal(arguments, folder, columns=200):
    """The same for `deptree` with arguments, forked from this process, with what is imported and compiled here."""
    child, outside = pty.fork()
    if not child:
        _run_here(["deptree", *map(str, arguments)], folder, columns)
    shown = b"".join(iter(lambda: _read(outside), b""))
    os.close(outside)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def _run_here(command, folder, columns):
    """Run a command with the streams that the system has given this process, and end."""
    status = 1
    signal.alarm(PATIENCE)
    try:
        os.chdir(folder)
        os.environ.update(TERM="xterm", NO_COLOR="1", COLUMNS=str(columns))
        sys.argv = command
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(each, mode, 1, "utf-8") for each, mode in enumerate("rww"))
        main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:  # whatever comes, this copy of the tests must not go on with them
        sys.stdout.flush()
        os._exit(status)


def as_it_reads(shown):
    """Without the codes for styles and cursors."""
    return STYLE.sub("", shown)


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that nobody is at the other end
        return b""
