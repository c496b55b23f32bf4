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
from collections.abc import Iterator
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
SCORES = ("{scores}", "--from", "head-dep,log")
COMMANDS = [
    ("sample", *SCORES, "-k", "100000", "-o", "out.jsonl"),
    ("sample", *SCORES, "-k", "100000", "--format", "npz", "-o", "out.npz"),
    ("swor", *SCORES, "--sampler", "beam", "-k", "2000", "-o", "out.jsonl"),
    ("decode", *SCORES, "-k", "5000", "-o", "out.jsonl"),
    ("marginals", *SCORES, "-o", "out.npz"),
    ("partition", *SCORES, "-o", "out.jsonl"),
    ("expect", "entropy", *SCORES, "-o", "out.jsonl"),
    ("check-bias", *SCORES, "-k", "100000", "-o", "out.jsonl"),
    ("inspect", *SCORES, "-o", "out.json"),
    ("show", *SCORES, "-k", "100000", "-o", "out.svg"),
    ("convert", *SCORES, "-o", "out.npz"),
    ("estimate", "{draws}", "-o", "out.jsonl"),
    ("swor", *SCORES, "--sampler", "beam", "-k", "2000"),
]
# Among the arguments of a command: its processes are those of a cluster.
DASK = "DEPTREE_SCHEDULER=local"
WORKERS = [
    (),
    ("--jobs", "2"),
    ("--jobs", "2", DASK),
]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Scores of sentences that keep kernels busy for minutes, and draws that take a while to read."""
    folder = tmp_path_factory.mktemp("signals")
    rng = np.random.default_rng(7)
    np.savez(folder / "scores.npz", **{f"s{i}": rng.normal(size=(121, 121)) for i in range(8)})
    with np.load(DATA / "scores.npz") as scores:
        np.savez(folder / "small.npz", **{f"{name}-{i}": scores[name] for i in range(40) for name in scores})
    command = [sys.executable, "-m", "deptree_cli", "swor", folder / "small.npz", "--from", "natasha", "-k", "20", "-q"]
    with (folder / "draws.jsonl").open("wb") as draws:
        subprocess.run(command, stdout=draws, check=True, timeout=300)
    return {"scores": str(folder / "scores.npz"), "draws": str(folder / "draws.jsonl")}


def cases(count: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str, bool, float]]:
    """Every command by all kinds of workers in turn; the signal, whether all of the group get it, and when."""
    rng = random.Random(7)
    for number in range(count):
        command = COMMANDS[(number * 5 + number // len(COMMANDS)) % len(COMMANDS)]
        workers = WORKERS[number % len(WORKERS)] if "--jobs" in options(command[0]) else ()
        name = rng.choice(["SIGINT", "SIGINT", "SIGTERM", "SIGHUP"])
        yield command, workers, name, name == "SIGINT" and rng.random() < 0.7, rng.uniform(0, LATEST)


def start(folder: Path, *args: str) -> subprocess.Popen[bytes]:
    """The command in a group of its own; waits until it answers signals, for before that Python does."""
    command = [sys.executable, "-m", "deptree_cli", *(each for each in args if each != DASK)]
    env = os.environ | ({"DEPTREE_SCHEDULER": "local"} if DASK in args else {})
    with (folder / "stderr").open("wb") as err, (folder / "stdout").open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
    while process.poll() is None and not answers(process.pid):
        time.sleep(0.002)
    return process


def answers(pid: int) -> bool:
    """Whether a process catches SIGTERM and SIGHUP, both of which Python by itself leaves to the system."""
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        wanted = 1 << (signal.SIGTERM - 1) | 1 << (signal.SIGHUP - 1)
        return caught & wanted == wanted
    return False


def members(session: int) -> list[str]:
    """What of a session is still alive: zombies are not."""
    alive = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] not in "ZX":
                alive.append((stat.parent / "cmdline").read_text().replace("\0", " "))
    return alive


def wait_until_gone(session: int) -> list[str]:
    """What of a session is still alive when all of it has had enough time to end."""
    until = time.monotonic() + ENOUGH
    while (left := members(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def kill_all(session: int) -> None:
    """Leave nothing of a failed case."""
    with suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


@pytest.mark.slow("process")
@pytest.mark.parametrize(("command", "workers", "name", "group", "delay"), list(cases(COUNT)))
def test_a_signal_ends_it_at_once(
    tmp_path: Path,
    files: dict[str, str],
    command: tuple[str, ...],
    workers: tuple[str, ...],
    name: str,
    group: bool,
    delay: float,
) -> None:
    number = getattr(signal, name)
    process = start(tmp_path, *(argument.format(**files) for argument in command), *workers, "-q")
    try:
        time.sleep(delay)
        ended_before = process.poll() is not None
        if not ended_before:
            (os.killpg if group else os.kill)(process.pid, number)
        code = process.wait(ENOUGH)
        left = wait_until_gone(process.pid)
    finally:
        kill_all(process.pid)
    err = (tmp_path / "stderr").read_text()
    assert (left, err) == ([], "")
    # -number: Python has taken down its handlers after the last line of ours; a shell sees the same as for 128 + number
    assert code in ({0, 1} if ended_before else {128 + number, -number, 0, 1})
    written = {path.name for path in tmp_path.iterdir()} - {"stdout", "stderr"}
    assert written <= (set() if code == 128 + number else {command[-1]})


@pytest.mark.slow("process")
@pytest.mark.parametrize("workers", [("--jobs", "2"), ("--jobs", "2", DASK)], ids=["processes", "dask"])
def test_workers_do_not_outlive_a_killed_parent(
    tmp_path: Path, files: dict[str, str], workers: tuple[str, ...]
) -> None:
    process = start(tmp_path, *(argument.format(**files) for argument in COMMANDS[-1]), *workers, "-q")
    try:
        until = time.monotonic() + 60
        while len(members(process.pid)) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(1)
        assert len(members(process.pid)) >= 3
        process.kill()
        process.wait(ENOUGH)
        left = wait_until_gone(process.pid)
    finally:
        kill_all(process.pid)
    assert left == []


def test_signals_that_were_ignored_stay_ignored() -> None:
    """As nohup has it."""
    code = "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
    code += "from deptree_cli.cli.signals import end_on_signals as start;"
    code += "start(); os.kill(os.getpid(), signal.SIGHUP); print('on')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "on\n", "")


WRITTEN = """
from deptree_cli.io.files.output import Output
with Output("results", last={last}) as out:
    out.write(b"all")
"""

# When a signal comes: with the results in place, as Python ends, and on its very last steps.
LATE = {
    "behind the results": f"{WRITTEN.format(last=True)}kill()",
    "at exit": "import atexit; atexit.register(kill)",
    "at the end": "class Late:\n    __del__ = lambda self: kill()\nsys.modules['late'] = Late()",
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


def run_program(before: str, folder: Path) -> tuple[int, bytes]:
    program = PROGRAM.format(before="\n".join(f"    {line}" for line in before.splitlines()))
    ended = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, check=False, timeout=60)
    return ended.returncode, ended.stderr


@pytest.mark.parametrize("when", LATE)
def test_a_signal_that_comes_too_late_changes_nothing(when: str, tmp_path: Path) -> None:
    assert run_program(LATE[when], tmp_path) == (0, b"")


def test_results_that_are_not_the_last_are_no_end(tmp_path: Path) -> None:
    """Training goes on when it has written a model, and Ctrl-C ends it."""
    assert run_program(f"{WRITTEN.format(last=False)}kill()", tmp_path) == (130, b"")
    assert (tmp_path / "results").read_bytes() == b"all"


def test_a_command_ends_behind_its_workers(tmp_path: Path, files: dict[str, str]) -> None:
    process = start(tmp_path, "sample", *(each.format(**files) for each in SCORES), "-k", "100000", "--jobs", "3")
    until = time.monotonic() + 30
    while len(members(process.pid)) < 4 and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    assert (process.wait(ENOUGH), wait_until_gone(process.pid)) == (130, [])


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
def test_a_worker_that_is_just_being_made_does_not_stay(name: str, tmp_path: Path, files: dict[str, str]) -> None:
    """The signal comes between the fork and the moment from which the process knows its child."""
    command = [sys.executable, "-c", FORKED, name, "sample", *(each.format(**files) for each in SCORES), "--jobs", "2"]
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        status = process.wait(60)
    left = wait_until_gone(process.pid)
    kill_all(process.pid)
    assert (status, left) == (128 + getattr(signal, name), [])
