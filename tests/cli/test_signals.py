"""A signal ends any command, by any workers, at once: no traceback, no worker, no half file is left.

Twelve random signals; DEPTREE_SIGNALS=200 sends more. They come at a random time after Python has handed over to us:
to the process alone, or to its whole group, as a terminal sends Ctrl-C.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.every_command import options
from tests.sample import DATA

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")

COUNT = int(os.environ.get("DEPTREE_SIGNALS", "12"))
LATEST = 3.0

# Seconds in which whatever must end has ended, also on a busy machine; the kernels at work would go on for minutes.
ENOUGH = 30

# Long enough that most are still at work when the signal comes.
LINES = """
    sample SCORES -k 100000 -o out.jsonl; sample SCORES -k 100000 --format npz -o out.npz;
    swor SCORES --sampler beam -k 2000 -o out.jsonl; decode SCORES -k 5000 -o out.jsonl; marginals SCORES -o out.npz;
    partition SCORES -o out.jsonl; expect entropy SCORES -o out.jsonl; check-bias SCORES -k 100000 -o out.jsonl;
    inspect SCORES -o out.json; show SCORES -k 100000 -o out.svg; convert SCORES -o out.npz;
    estimate DRAWS -o out.jsonl; swor SCORES --sampler beam -k 2000"""
COMMANDS = LINES.split(";")
DASK = "--jobs 2 DEPTREE_SCHEDULER=local"  # processes are those of a cluster


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals")
    rng = np.random.default_rng(7)
    np.savez(folder / "scores.npz", **{f"s{i}": rng.normal(size=(121, 121)) for i in range(8)})
    with np.load(DATA / "scores.npz") as scores:
        np.savez(folder / "small.npz", **{f"{name}-{i}": scores[name] for i in range(40) for name in scores})
    command = [sys.executable, "-m", "deptree_cli", "swor", folder / "small.npz", "--from", "natasha", "-k", "20", "-q"]
    with (folder / "draws.jsonl").open("wb") as draws:
        subprocess.run(command, stdout=draws, check=True, timeout=300)
    return {"SCORES": f"{folder}/scores.npz --from head-dep,log", "DRAWS": f"{folder}/draws.jsonl"}


@pytest.fixture
def start(tmp_path, files):
    """Call with a line, behind other arguments of Python if any: a process in a group of its own, ended at the end."""
    started = []

    def run(line: str, *python: str) -> subprocess.Popen[bytes]:
        for name, words in files.items():
            line = line.replace(name, words)
        env = os.environ | dict(word.split("=") for word in line.split() if word.startswith("DEPTREE_"))
        words = [word for word in line.split() if not word.startswith("DEPTREE_")]
        command = [sys.executable, *(python or ("-m", "deptree_cli")), *words]
        with (tmp_path / "stderr").open("wb") as err, (tmp_path / "stdout").open("wb") as out:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            started.append(subprocess.Popen(command, cwd=tmp_path, env=env, start_new_session=True, **streams))
        return started[-1]

    yield run
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def answers(pid: int) -> bool:
    """Whether a process catches SIGTERM and SIGHUP, both of which Python by itself leaves to the system."""
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        wanted = 1 << (signal.SIGTERM - 1) | 1 << (signal.SIGHUP - 1)
        return caught & wanted == wanted
    return False


def members(session: int) -> list[str]:
    alive = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] not in "ZX":
                alive.append((stat.parent / "cmdline").read_text().replace("\0", " "))
    return alive


def wait_until(happened: Callable[[], bool]) -> bool:
    until = time.monotonic() + ENOUGH
    while not happened() and time.monotonic() < until:
        time.sleep(0.01)
    return happened()


def cases(count: int) -> Iterator[tuple[str, str, bool, float]]:
    rng = random.Random(7)
    for number in range(count):
        line = COMMANDS[(number * 5 + number // len(COMMANDS)) % len(COMMANDS)].strip()
        workers = ("", "--jobs 2", DASK)[number % 3] if "--jobs" in options(line.split()[0]) else ""
        name = rng.choice(["SIGINT", "SIGINT", "SIGTERM", "SIGHUP"])
        yield f"{line} -q {workers}", name, name == "SIGINT" and rng.random() < 0.7, rng.uniform(0, LATEST)


@pytest.mark.slow("process")
@pytest.mark.parametrize(("line", "name", "group", "delay"), list(cases(COUNT)))
def test_a_signal_ends_it_at_once(tmp_path, start, line, name, group, delay):
    number = getattr(signal, name)
    process = start(line)
    wait_until(lambda: process.poll() is not None or answers(process.pid))  # before that Python does
    time.sleep(delay)
    ended_before = process.poll() is not None
    if not ended_before:
        (os.killpg if group else os.kill)(process.pid, number)
    code = process.wait(ENOUGH)
    assert wait_until(lambda: not members(process.pid)), members(process.pid)
    assert (tmp_path / "stderr").read_text() == ""
    # -number: Python has taken down its handlers after the last line of ours; a shell sees the same as for 128 + number
    assert code in ({0, 1} if ended_before else {128 + number, -number, 0, 1})
    written = {path.name for path in tmp_path.iterdir()} - {"stdout", "stderr"}
    assert written <= (set() if code == 128 + number else {line.partition(" -o ")[2].split(" ")[0]})


@pytest.mark.slow("process")
@pytest.mark.parametrize("workers", ["--jobs 2", DASK], ids=["processes", "dask"])
def test_workers_do_not_outlive_a_killed_parent(start, workers):
    process = start(f"{COMMANDS[-1]} -q {workers}")
    wait_until(lambda: len(members(process.pid)) >= 3)
    time.sleep(1)
    assert len(members(process.pid)) >= 3
    process.kill()
    process.wait(ENOUGH)
    assert wait_until(lambda: not members(process.pid)), members(process.pid)


def test_a_command_ends_behind_its_workers(start):
    process = start("sample SCORES -k 100000 --jobs 3")
    wait_until(lambda: len(members(process.pid)) >= 4)
    os.kill(process.pid, signal.SIGINT)
    assert (process.wait(ENOUGH), wait_until(lambda: not members(process.pid))) == (130, True)


FORKED = """
import os, signal, sys, time
def fork(fork=os.fork, number=getattr(signal, sys.argv.pop(1))):
    child = fork()
    if child:
        os.kill(os.getpid(), number)
    else:
        time.sleep(1)
    return child
os.fork = fork
from deptree_cli.__main__ import main
main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_worker_that_is_just_being_made_does_not_stay(start, name):
    """The signal comes between the fork and the moment from which the process knows its child."""
    process = start(f"{name} sample SCORES --jobs 2", "-c", FORKED)
    assert process.wait(60) == 128 + getattr(signal, name)
    assert wait_until(lambda: not members(process.pid)), members(process.pid)


WRITTEN = """
from deptree_cli.io.files.output import Output
with Output("results", last={last}) as out:
    out.write(b"all")
kill()
"""

# When a signal comes, and what it comes to. Training goes on when it has written a model, and Ctrl-C ends it.
LATE = {
    "behind the results": (WRITTEN.format(last=True), 0),
    "behind results that are not the last": (WRITTEN.format(last=False), 130),
    "at exit": ("import atexit; atexit.register(kill)", 0),
    "at the end": ("class Late:\n    __del__ = lambda self: kill()\nsys.modules['late'] = Late()", 0),
}

PROGRAM = """
import os, signal, sys
from deptree_cli.cli import app
def kill(name=signal.SIGINT, kill=os.kill, own=os.getpid()):
    kill(own, name)
def run():
{before}
    sys.exit(0)
app.main = run
from deptree_cli.__main__ import main
main()
"""


def run_program(program: str, folder: Path) -> tuple[int, bytes, bytes]:
    ended = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, check=False, timeout=60)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.quick
@pytest.mark.parametrize("when", LATE)
def test_a_signal_that_comes_too_late_changes_nothing(when, tmp_path):
    before, code = LATE[when]
    program = PROGRAM.format(before="\n".join(f"    {line}" for line in before.splitlines()))
    assert run_program(program, tmp_path) == (code, b"", b"")
    assert "results" not in when or (tmp_path / "results").read_bytes() == b"all"


def test_signals_that_were_ignored_stay_ignored(tmp_path):
    code = "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
    code += "from deptree_cli.cli.signals import end_on_signals as start;"
    code += "start(); os.kill(os.getpid(), signal.SIGHUP); print('on')"
    assert run_program(code, tmp_path) == (0, b"on\n", b"")
