"""`deptree` as forks of the process that runs the tests, which has everything imported and compiled.

A process of its own takes a second, most of it to import NumPy and numba and to load machine code; a fork has these.
To whoever starts it, a stand-in of the name `deptree` (or `python FILE`) is a process as any other: its descriptors,
folder, environment, arguments and exit status are those of the command, and signals reach it. What starting does is
tested by real processes: the line to paste of every command's help, and whatever does not use the fixture `warm`.

The stand-in sends its descriptors over a socket and waits. A fork of the tests answers: it forks again for each, and
tells how that ended.
"""

from __future__ import annotations

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from deptree_cli.__main__ import main
from deptree_cli.cli import compiling
from deptree_cli.cli.app import deptree
from deptree_cli.cli.warming import run_line
from tests.sample import DATA

HIGH = 300  # descriptors of a stand-in are below, while they are moved they are above

STAND_IN = """#!{python} -ISE
import _signal, _socket, marshal, os, sys
if sys.argv[0].endswith("python") and not sys.argv[1].endswith(".py"):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
def is_open(number):
    try:
        return os.fstat(number)
    except OSError:
        return None
numbers = [number for number in map(int, os.listdir("/proc/self/fd")) if is_open(number)]
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({address!r})
said = marshal.dumps((sys.argv, os.getcwd(), dict(os.environ), numbers))
rights = b"".join(number.to_bytes(4, sys.byteorder) for number in numbers)
server.sendmsg([len(said).to_bytes(8, "little")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
server.sendall(said)
def answer():
    return int.from_bytes(server.recv(8) or os._exit(99), "little", signed=True)
pid = answer()
for name in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
    _signal.signal(name, lambda number, _: os.kill(pid, number))
code = answer()
if code < 0:
    _signal.signal(-code, _signal.SIG_DFL) if -code != _signal.SIGKILL else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@contextmanager
def stand_ins(folder: Path) -> Iterator[Path]:
    """A folder for the PATH with `deptree` and `python`, which last as long as the block."""
    (folder / "bin").mkdir()
    for name in ("deptree", "python"):
        (folder / "bin" / name).write_text(STAND_IN.format(python=sys.executable, address=f"{folder}/socket"))
        (folder / "bin" / name).chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/socket")
        listener.listen(64)
        alive, ours = os.pipe()
        server = os.fork()
        if not server:
            try:
                os.close(ours)
                atexit._clear()
                os.chdir(folder)
                _serve(listener, alive)
            except BaseException:
                traceback.print_exc()
            finally:  # whatever comes, this copy of the tests must not go on with them
                os._exit(0)
    os.close(alive)
    yield folder / "bin"
    os.close(ours)
    os.kill(server, signal.SIGTERM)
    os.waitpid(server, 0)


def _serve(listener: socket.socket, alive: int) -> None:
    """Answer stand-ins while the tests are alive; a fork whose stand-in was killed is killed too."""
    for path in DATA.iterdir():
        Path(path.name).symlink_to(path)
    waiting: dict[int, tuple[int, socket.socket]] = {}  # by what can be read once the fork has ended
    ran: set[str] = set()
    while True:
        ready = select.select([alive, listener, *waiting, *(each for _, each in waiting.values())], [], [])[0]
        if alive in ready:
            return
        for ended, (pid, connection) in list(waiting.items()):
            if connection in ready:
                os.kill(pid, signal.SIGKILL)
            if ended in ready:
                del waiting[ended]
                os.close(ended)
                with suppress(OSError), connection:
                    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                    connection.sendall(struct.pack("<q", status))
        if listener in ready:
            pid, connection = _answer(listener.accept()[0], ran)
            waiting[os.pidfd_open(pid)] = pid, connection


def _answer(connection: socket.socket, ran: set[str]) -> tuple[int, socket.socket]:
    """Fork for a stand-in, for whose command a line of the table is among those that ran."""
    length, received, *_ = socket.recv_fds(connection, 8, 250)
    request = connection.recv(int.from_bytes(length, "little"), socket.MSG_WAITALL)
    command, folder, environment, numbers = marshal.loads(request)
    _warm_up(command, ran)
    pid = os.fork()
    if not pid:
        _take_over(dict(zip(numbers, received, strict=True)))
        be(command, folder, environment)
    for number in received:
        os.close(number)
    with suppress(OSError):  # the stand-in was killed
        connection.sendall(struct.pack("<q", pid))
    return pid, connection


def _warm_up(command: list[str], ran: set[str]) -> None:
    """Run here what belongs to a command, unless that was done, and forget what it writes."""
    entries = deptree.entries()
    name = next((each for each in (" ".join(command[1:3]), *command[1:2]) if each in entries), "")
    if not name or entries[name].reads in ("text", "") or name in ran:
        return
    ran.add(name)
    trained = [each.line for each in entries.values() if each.writes == "model" and entries[name].reads == "model"]
    sys.stderr = io.StringIO()
    for line in [*trained, entries[name].line]:
        run_line(line, deptree)
    gc.freeze()


def _take_over(descriptors: dict[int, int]) -> None:
    """Have these descriptors, received under other numbers, and none else."""
    for place, received in enumerate(descriptors.values(), HIGH):
        os.dup2(received, place)
    os.closerange(0, HIGH)
    for place, number in enumerate(descriptors, HIGH):
        os.dup2(place, number)
    os.closerange(HIGH, HIGH + len(descriptors))


def be(command: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Be a new process: its streams and handlers are those that Python sets up, and it ends as Python does."""
    code = 1
    try:
        sys.modules["__main__"] = ModuleType("__main__")  # by which click tells what it was called
        os.environ.clear()
        os.environ.update(environment)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdin, sys.stdout = _stream(0, "r", "strict"), _stream(1, "w", "strict")
        sys.stderr = _stream(2, "w", "backslashreplace")
        os.chdir(folder)
        code = _exit_status(command)
        threading._shutdown()
        atexit._run_exitfuncs()
        code = code if _flushed() else 120
    finally:
        os._exit(code)


def _flushed() -> bool:
    """Whether standard output takes what is left in its buffer; what Python says if not."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:
        print(f"Exception ignored in: {sys.stdout!r}\nOSError: {error}", file=sys.stderr)
        return False
    return True


def _stream(number: int, mode: str, errors: str) -> Any:
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


def _exit_status(command: list[str]) -> int:
    """Run `deptree`, after what $DEPTREE_BEFORE says in Python, or a program in a file; how it ends."""
    try:
        exec(os.environ.pop("DEPTREE_BEFORE", ""))
        if Path(command[0]).name == "deptree":
            compiling.LONG = math.inf  # no test depends on what is compiled before
            sys.argv = command
            main()
        else:
            sys.argv = command[1:]
            sys.path.insert(0, str(Path(command[1]).resolve().parent))
            runpy.run_path(command[1], run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
