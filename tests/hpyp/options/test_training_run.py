"""What is told of a training that is cut short: what the file holds, at whatever moment the signal comes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deptree_cli.hpyp.commands.train import Checkpoint
from deptree_cli.hpyp.model.training import Progress

START = Progress(seed=7, oracle="static", tagset="upos", digest="", sentences=3, lifted=0)
FIRST = replace(START, log_likelihoods=(-9.0,))
SECOND = replace(START, log_likelihoods=(-9.0, -8.0))
PASS = replace(SECOND, text_log_likelihoods=(-5.0,))


def renamed_into(path: Path) -> None:
    """Put another file in a file's place, as models are written."""
    other = path.with_name(".other")
    other.write_bytes(b"")
    other.replace(path)


def told(kept: Checkpoint, capfd: pytest.CaptureFixture[str]) -> str:
    kept.tell()
    return capfd.readouterr().err


@pytest.mark.parametrize(
    ("had", "coming", "before", "after"),
    [
        (START, FIRST, "before the first iteration", "after iteration 1."),
        (FIRST, SECOND, "after iteration 1.", "after iteration 2."),
        (SECOND, PASS, "after iteration 2.", "after pass 1."),
    ],
)
def test_the_model_counts_once_it_is_in_its_place(
    had: Progress, coming: Progress, before: str, after: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither before, when it is only being written, nor later, when the next line of the program has run."""
    path = tmp_path / "m.npz"
    if had.iterations:
        renamed_into(path)
    for is_there, expected in ((False, before), (True, after)):
        kept = Checkpoint(str(path), had, quiet=False)
        kept.about_to_hold(coming)
        if is_there:
            renamed_into(path)
        assert expected in told(kept, capfd)
        assert told(kept, capfd) == ""  # once


def test_every_model_in_turn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What was about to be held is held when the next model is about to be written."""
    path = tmp_path / "m.npz"
    kept = Checkpoint(str(path), START, quiet=False)
    for progress in (FIRST, SECOND):
        kept.about_to_hold(progress)
        renamed_into(path)
    kept.about_to_hold(PASS)
    assert "after iteration 2." in told(kept, capfd)
