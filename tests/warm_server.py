"""The process behind the stand-ins of `tests/warm.py`: it has everything imported and compiled, and forks for each."""

from __future__ import annotations

import array
import atexit
import gc
import io
import marshal
import math
import os
import runpy
import select
import signal
import socket
import struct
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from tests.sample import DATA

HIGH = 300  # descriptors of a stand-in are below, those of the server move above


class Server:
    """Forks for stand-ins, one after another, until standard input ends: with whoever started it."""

    def __init__(self, address):
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(64)
        self._waiting: dict[int, socket.socket] = {}
        self._ran: set[str] = set()

    def serve(self):
        """Answer stand-ins, and tell them how their forks ended; a fork whose stand-in was killed is killed too."""
        readable, writable = os.pipe()
        os.set_blocking(writable, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
        for path in DATA.iterdir():
            Path(path.name).symlink_to(path)
        print(flush=True)
        while True:
            ready = select.select([sys.stdin, readable, self._listener, *self._waiting.values()], [], [])[0]
            if sys.stdin in ready:
                break
            if readable in ready:
                os.read(readable, 1 << 12)
                self._tell()
            for pid, connection in self._waiting.items():
                if connection in ready:
                    os.kill(pid, signal.SIGKILL)
            if self._listener in ready:
                self._answer(self._listener.accept()[0])
        for pid in self._waiting:
            os.kill(pid, signal.SIGKILL)

    def _tell(self):
        """Send stand-ins the exit status of forks that have ended."""
        for pid in list(self._waiting):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with suppress(OSError), self._waiting.pop(pid) as connection:
                    connection.sendall(struct.pack("<q", os.waitstatus_to_exitcode(status)))

    def _answer(self, connection):
        """Fork for a stand-in."""
        length, rights, *_ = connection.recvmsg(8, socket.CMSG_SPACE(4 * 250))
        request = connection.recv(int.from_bytes(length, "little"), socket.MSG_WAITALL)
        command, folder, environment, numbers = marshal.loads(request)
        received = array.array("i", rights[0][2] if rights else b"").tolist()
        self._warm_up(command)
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(-1)
            _take_over(dict(zip(numbers, received, strict=True)))
            _be(command, folder, environment)
        for number in received:
            os.close(number)
        self._waiting[pid] = connection
        with suppress(OSError):  # the stand-in was killed
            connection.sendall(struct.pack("<q", pid))

    def _warm_up(self, command):
        """Run here what belongs to a command, unless that was done."""
        from deptree_cli.cli.app import deptree

        entries = deptree.entries()
        name = next((each for each in (" ".join(command[1:3]), *command[1:2]) if each in entries), "")
        if not name or entries[name].reads in ("text", "") or name in self._ran:
            return
        trained = [each.line for each in entries.values() if each.writes == "model" and entries[name].reads == "model"]
        self._ran.add(name)
        for line in [*trained, entries[name].line]:
            _run_here(line)
        gc.freeze()


def _run_here(line):
    """Run a line of the table in this process, and forget what it writes."""
    from deptree_cli.cli.app import deptree
    from deptree_cli.commands.warm import run_line

    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stderr = io.StringIO()
    try:
        run_line(line, deptree)
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams


def _take_over(descriptors):
    """Have these descriptors, received under other numbers, and none else."""
    for place, received in enumerate(descriptors.values(), HIGH):
        os.dup2(received, place)
    os.closerange(0, HIGH)
    for place, number in enumerate(descriptors, HIGH):
        os.dup2(place, number)
    os.closerange(HIGH, HIGH + len(descriptors))


def _be(command, folder, environment):
    """Be a new process: its streams and handlers are those that Python sets up, and it ends as Python does."""
    sys.modules["__main__"] = ModuleType("__main__")  # by which click tells what it was called
    os.environ.clear()
    os.environ.update(environment)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin, sys.stdout = _stream(0, "r", "strict"), _stream(1, "w", "strict")
    sys.stderr = _stream(2, "w", "backslashreplace")
    code = 1
    try:
        os.chdir(folder)
        code = _exit_status(command)
        threading._shutdown()
        atexit._run_exitfuncs()
        code = code if _flushed() else 120
    finally:
        os._exit(code)


def _flushed():
    """Whether standard output takes what is left in its buffer; what Python says if not."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:
        print(f"Exception ignored in: {sys.stdout!r}\nOSError: {error}", file=sys.stderr)
        return False
    return True


def _stream(number, mode, errors):
    """A standard stream; none where it is closed."""
    try:
        at_once = mode == "w" and bool(os.environ.get("PYTHONUNBUFFERED"))
        stream = open(number, f"{mode}b", 0 if at_once else -1, closefd=False)  # noqa: SIM115
    except OSError:
        return None
    getattr(stream, "raw", stream).name = f"<{('stdin', 'stdout', 'stderr')[number]}>"
    by_line = number == 2 or os.isatty(number)
    text = io.TextIOWrapper(stream, "utf-8", errors, line_buffering=by_line, write_through=at_once)
    text.mode = mode
    return text


def _exit_status(command):
    """Run a command; how it ends."""
    try:
        _run(command)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _run(command):
    """`deptree` with arguments, after what $DEPTREE_BEFORE says in Python; or a program in a file."""
    exec(os.environ.pop("DEPTREE_BEFORE", ""))
    if Path(command[0]).name == "deptree":
        from deptree_cli.__main__ import main
        from deptree_cli.cli import terminal

        terminal.LONG = math.inf  # no test depends on what is compiled before
        sys.argv = command
        main()
    else:
        sys.argv = command[1:]
        sys.path.insert(0, str(Path(command[1]).resolve().parent))
        runpy.run_path(command[1], run_name="__main__")


if __name__ == "__main__":
    Server(sys.argv[1]).serve()
