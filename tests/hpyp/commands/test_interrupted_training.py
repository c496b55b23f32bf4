"""Training that is ended by a signal keeps its last whole iteration, and goes on to the bytes of an unbroken run.

Signals come when so many iterations are reported, so at any point of the next one, or of writing its model.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from deptree_cli.hpyp.files.model_file import read_model

Command = Callable[..., list[str]]

SETTINGS = {
    "static": ["--iterations", "24"],
    "sampled": ["--iterations", "12", "--oracle", "sampled"],
    "text": ["--iterations", "3", "--unlabelled", "text.conllu", "--passes", "9"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, treebank_file: Path, warm: Path) -> Path:
    """A treebank, repeated so that an iteration takes a while, text, and the models of runs without a break."""
    folder = tmp_path_factory.mktemp("interrupted")
    data = treebank_file.read_bytes()
    (folder / "treebank.conllu").write_bytes(data * 8)
    (folder / "text.conllu").write_bytes(data * 4)
    for name in SETTINGS:
        subprocess.run(command(warm, name, f"{name}.npz", "-q"), cwd=folder, check=True, timeout=120)
    return folder


def command(start: Path, name: str, model: str, *more: str) -> list[str]:
    """The command line of a training, by the `deptree` of a folder."""
    train = [f"{start}/deptree", "hpyp", "train", "treebank.conllu", "-o", model]
    return [*train, *SETTINGS[name], "--seed", "7", *more]


def interrupted(line: list[str], folder: Path, after: int, number: int) -> tuple[int, list[str]]:
    """Send a signal after so many iterations and passes, and a little later; the exit status, the lines on stderr."""
    process = subprocess.Popen(line, cwd=folder, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines: list[str] = []
    while sum("log-likelihood" in line for line in lines) < after:
        lines.append(process.stderr.readline())
        assert lines[-1], lines
    time.sleep(Random(after).uniform(0, 0.05))
    process.send_signal(number)
    lines += process.communicate(timeout=30)[1].splitlines(keepends=True)
    return process.returncode, lines


@pytest.mark.slow("process")
@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("static", [(1, signal.SIGINT), (5, signal.SIGKILL)]),
        ("sampled", [(2, signal.SIGKILL), (3, signal.SIGINT)]),
        ("text", [(2, signal.SIGINT), (3, signal.SIGKILL), (2, signal.SIGINT)]),
    ],
)
def test_it_goes_on_where_it_was_killed(folder: Path, warm: Path, name: str, stops: list[tuple[int, int]]) -> None:
    """Several times in one run, each time from what the time before has left."""
    model = folder / "m.npz"
    model.unlink(missing_ok=True)
    for stop, number in stops:
        left = {*folder.glob(".deptree-*")}  # what a run that was killed was about to write
        again = ["--resume"] if model.exists() else []
        code, lines = interrupted(command(warm, name, "m.npz", *again), folder, stop, number)
        assert code == (130 if number == signal.SIGINT else -number)
        done = read_model(str(model))[0].progress
        assert done.iterations + done.passes >= stop
        if number == signal.SIGINT:
            kept = f"pass {done.passes}" if done.passes else f"iteration {done.iterations}"
            assert lines[-1].startswith(f"deptree: interrupted; m.npz is as it was after {kept}. ")
            assert "with --resume" in lines[-1]
            assert {*folder.glob(".deptree-*")} == left
        assert "Traceback" not in "".join(lines)
    for part in folder.glob(".deptree-*"):
        part.unlink()
    again = command(warm, name, "m.npz", "--resume")
    ended = subprocess.run(again, cwd=folder, capture_output=True, check=True, timeout=60)
    assert b"log-likelihood" in ended.stderr
    assert model.read_bytes() == (folder / f"{name}.npz").read_bytes()


@pytest.mark.slow("process")
def test_an_interruption_before_the_first_iteration(folder: Path) -> None:
    """Of a process that has just started."""
    line = command(Path(sys.executable).parent, "static", "none.npz")
    process = subprocess.Popen(line, cwd=folder, stderr=subprocess.PIPE, text=True)
    time.sleep(0.25)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in told
    assert not (folder / "none.npz").exists()


def test_quiet_is_quiet(folder: Path, warm: Path) -> None:
    model = folder / "quiet.npz"
    process = subprocess.Popen(command(warm, "static", "quiet.npz", "-q"), cwd=folder, stderr=subprocess.PIPE)
    while not model.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1] == b""
