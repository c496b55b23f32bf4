"""A command on a terminal: all that comes to it, byte for byte or as it reads."""

from __future__ import annotations

import atexit
import os
import pty
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.warm import be

# Seconds that a command gets before it is killed.
PATIENCE = 120

STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(command: Sequence[object], folder: Path, columns: int = 200, **environment: str) -> tuple[int, str]:
    """Run a command in a folder with a terminal for all its streams: its exit status and what it sent there."""
    outside, inside = pty.openpty()
    streams = {"stdin": inside, "stdout": inside, "stderr": inside}
    process = subprocess.Popen([*map(str, command)], cwd=folder, env=_environment(columns) | environment, **streams)
    os.close(inside)
    shown = b"".join(iter(lambda: _read(outside), b""))
    os.close(outside)
    return process.wait(60), shown.decode()


def _environment(columns: int) -> dict[str, str]:
    return {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": str(columns)}


def forked_on_terminal(arguments: Sequence[object], folder: Path, columns: int = 200) -> tuple[int, str]:
    """The same for `deptree` with arguments, forked from this process, with what is imported and compiled here."""
    child, outside = pty.fork()
    if not child:
        signal.alarm(PATIENCE)
        atexit._clear()
        be(["deptree", *map(str, arguments)], str(folder), _environment(columns))
    shown = b"".join(iter(lambda: _read(outside), b""))
    os.close(outside)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def as_it_reads(shown: str) -> str:
    """Without the codes for styles and cursors."""
    return STYLE.sub("", shown)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that nobody is at the other end
        return b""
