"""Pairs that take long: a line beforehand, how far they have come, and one line where memory does not suffice."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.bitext import options, scores
from tests.sample import DATA

SCORES = DATA / "bitext.npz"

COMMANDS = pytest.mark.parametrize("command", ["expectations", "align", "show"])


@COMMANDS
def test_what_takes_long_is_announced(done, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Before it is worked on; pairs of a few words never, those that are not chosen neither, and -q is quiet."""
    assert "take about" not in done("bitext", command, SCORES).err
    monkeypatch.setattr(options, "PATIENCE", 0.0)
    monkeypatch.setattr(options, "seconds", lambda p, q: 3.0 * p)
    lines = done("bitext", command, SCORES).said
    found = [line for line in lines if "take about" in line]
    time = {"expectations": "36 seconds", "align": "18 seconds", "show": "54 seconds"}[command]
    assert found[0] == f"deptree: de-1: sums over alignments of 6 by 7 words take about {time}"
    assert len(found) == (1 if command == "show" else 5)
    assert not done("bitext", command, SCORES, "-q").err


def test_what_other_methods_take_is_not_foreseen(done, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "PATIENCE", 0.0)
    assert "take about" not in done("bitext", "expectations", SCORES, "--method", "tic-tac-toe").err


@pytest.mark.parametrize(
    ("time", "spelled"), [(12.4, "12 seconds"), (300.0, "5 minutes"), (9000.0, "2 hours"), (400_000.0, "5 days")]
)
def test_times_in_words(time: float, spelled: str) -> None:
    assert options._spelled(time) == spelled


@COMMANDS
def test_how_far_it_has_come_is_told(done, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """To the bar, piece by piece; in other processes nobody watches."""
    told: list[str] = []
    monkeypatch.setattr(scores, "LONG", 0.0)
    monkeypatch.setattr(options, "status", lambda: SimpleNamespace(draw=told.append))
    done("bitext", command, SCORES)
    what = {"best links of"} if command == "align" else {"sums of", "probabilities of"}
    assert what <= {" ".join(each.split()[:-5]) for each in told}
    assert told[0].endswith(": 0%")
    assert not scores._watching


@pytest.mark.slow("process")
@COMMANDS
def test_more_words_than_memory(deptree, put, command: str) -> None:
    """3,000 by 3,000 would be a petabyte: one line at once, and no estimate of the time."""
    put("large.npy", np.zeros((3000, 3000), dtype=np.float32))
    ran = deptree("bitext", command, "large.npy")
    assert ran.code == 2
    (line,) = ran.said
    assert "there is not enough memory for the chart of 3000 by 3000 words: it takes" in line
