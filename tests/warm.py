"""`deptree` as processes forked from one interpreter that has imported and compiled everything once.

A process of its own takes a second, most of it to import NumPy and numba and to load machine code; its fork has these.
To whoever starts it, a stand-in of the name `deptree` (or `python FILE`) is a process as any other: its descriptors,
folder, environment, arguments and exit status are those of the command, and signals reach it. What starting does is
tested by real processes: the line to paste of every command's help, and whatever does not use the fixture `warm`.

The stand-in sends its descriptors over a socket and waits; the server forks and tells how the fork ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

ROOT = Path(__file__).parents[1]

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
def stand_ins(folder):
    """A folder for the PATH with `deptree` and `python`, which last as long as the block."""
    (folder / "bin").mkdir()
    for name in ("deptree", "python"):
        (folder / "bin" / name).write_text(STAND_IN.format(python=sys.executable, address=f"{folder}/socket"))
        (folder / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command, pipes = [sys.executable, "-m", "tests.warm_server", f"{folder}/socket"], {"stdin": PIPE, "stdout": PIPE}
    with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as server:
        server.stdout.readline()
        yield folder / "bin"
        server.stdin.close()
