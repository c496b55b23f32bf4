"""Pairs that take long: what a chart costs, a line beforehand, how far they have come, and too little memory."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.bitext import options, scores
from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.bitext.scores import chart_size, is_turned, pieces, seconds, watched
from tests.sample import DATA

COMMANDS = pytest.mark.parametrize("command", ["expectations", "align", "show"])


def test_short_pairs_are_done_in_one_piece():
    with watched(pytest.fail):
        assert [*pieces(8, 9, "sums")] == [(1, 9)]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("p", [1, 2, 7])
def test_long_pairs_are_done_length_by_length(p, backwards):
    """Whoever watches is told how far it is before each of them, the first too; whoever has watched is not."""
    told = []
    with watched(told.append):
        found = [*pieces(p, 10_000, "sums of words", backwards)]
    assert found == sorted(((size, size + 1) for size in range(1, p + 1)), reverse=backwards)
    shares = [int(each.rpartition(" ")[2].rstrip("%")) for each in told]
    assert (len(shares), shares, told[0]) == (p, sorted(shares), "sums of words: 0%")
    assert [*pieces(p, 10_000, "sums")]
    assert len(told) == p


def test_costs_grow_as_the_algorithm_does():
    """In time O(p^3 q^3), in memory O(p^2 q^2)."""
    assert seconds(400, 400) == pytest.approx(2**6 * seconds(200, 200), rel=0.2)
    assert chart_size(400, 400) == pytest.approx(2**4 * chart_size(200, 200), rel=0.02)
    assert AlignmentDistribution(np.zeros((5, 7)))._chart._items.nbytes == chart_size(5, 7)


def test_pieces_change_nothing(monkeypatch):
    matrix, found = np.random.default_rng(1).normal(size=(6, 5)), []
    for long in (scores.LONG, 0.0):
        monkeypatch.setattr(scores, "LONG", long)
        pair = AlignmentDistribution(matrix)
        found.append([pair.log_partition, *pair.marginals().ravel(), *pair.argmax()])
    assert found[0] == found[1]


def test_a_long_side_beside_a_short_one_costs_the_same_on_either_side():
    """Pairs of similar lengths and short ones stay as they are."""
    assert seconds(1000, 2) == seconds(2, 1000)
    assert [pq for pq in [(1000, 2), (2, 1000), (45, 30), (200, 200), (12, 2)] if is_turned(*pq)] == [(1000, 2)]


@COMMANDS
def test_what_takes_long_is_announced(done, monkeypatch, command):
    """Before it is worked on; pairs of a few words never, those that are not chosen neither, and -q is quiet."""
    line = f"bitext {command} {DATA}/bitext.npz"
    assert "take about" not in done(line).err
    monkeypatch.setattr(options, "PATIENCE", 0.0)
    monkeypatch.setattr(options, "seconds", lambda p, q: 3.0 * p)
    found = [said for said in done(line).said if "take about" in said]
    time = {"expectations": "36 seconds", "align": "18 seconds", "show": "54 seconds"}[command]
    assert found[0] == f"deptree: de-1: sums over alignments of 6 by 7 words take about {time}"
    assert len(found) == (1 if command == "show" else 5)
    assert not done(f"{line} -q").err
    other = f"bitext expectations {DATA}/bitext.npz --method tic-tac-toe"  # whose time is not foreseen
    assert "take about" not in done(other).err


@pytest.mark.quick
@pytest.mark.parametrize(
    ("time", "spelled"), [(12.4, "12 seconds"), (300.0, "5 minutes"), (9000.0, "2 hours"), (400_000.0, "5 days")]
)
def test_times_in_words(time, spelled):
    assert options._spelled(time) == spelled


@COMMANDS
def test_how_far_it_has_come_is_told(done, monkeypatch, command):
    """To the bar, piece by piece; in other processes nobody watches."""
    told = []
    monkeypatch.setattr(scores, "LONG", 0.0)
    monkeypatch.setattr(options, "status", lambda: SimpleNamespace(draw=told.append))
    done(f"bitext {command} {DATA}/bitext.npz")
    what = {"best links of"} if command == "align" else {"sums of", "probabilities of"}
    assert what <= {" ".join(each.split()[:-5]) for each in told}
    assert told[0].endswith(": 0%")
    assert not scores._watching


@COMMANDS
def test_more_words_than_memory(refused, put, command):
    """3,000 by 3,000 would be a petabyte: one line at once, and no estimate of the time."""
    put("large.npy", np.zeros((3000, 3000), dtype=np.float32))
    refused(f"bitext {command} large.npy", "there is not enough memory for the chart of 3000 by 3000 words: it takes")
