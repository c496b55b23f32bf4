"""What a chart costs, and how it is filled piece by piece where that is much."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext import scores as module
from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.bitext.scores import chart_size, is_turned, pieces, seconds, watched


def test_short_pairs_are_done_in_one_piece() -> None:
    told: list[str] = []
    with watched(told.append):
        assert [*pieces(8, 9, "sums")] == [(1, 9)]
    assert not told


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("p", [1, 2, 7])
def test_long_pairs_are_done_length_by_length(p: int, backwards: bool) -> None:
    """Whoever watches is told how far it is before each of them, the first too; whoever has watched is not."""
    told: list[str] = []
    with watched(told.append):
        found = [*pieces(p, 10_000, "sums of words", backwards)]
    assert sorted(found) == [(size, size + 1) for size in range(1, p + 1)]
    assert found == sorted(found, reverse=backwards)
    shares = [int(each.rpartition(" ")[2].rstrip("%")) for each in told]
    assert len(shares) == p
    assert shares == sorted(shares)
    assert told[0] == "sums of words: 0%"
    count = len(told)
    assert [*pieces(p, 10_000, "sums")]
    assert len(told) == count


def test_costs_grow_as_the_algorithm_does() -> None:
    """In time O(p^3 q^3), in memory O(p^2 q^2)."""
    assert seconds(400, 400) == pytest.approx(2**6 * seconds(200, 200), rel=0.2)
    assert chart_size(400, 400) == pytest.approx(2**4 * chart_size(200, 200), rel=0.02)


def test_the_size_is_that_of_a_chart() -> None:
    pair = AlignmentDistribution(np.zeros((5, 7)))
    assert pair.log_partition > 0
    assert pair._chart._items.nbytes == chart_size(5, 7)


def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(1).normal(size=(6, 5))
    whole = AlignmentDistribution(scores)
    expected = whole.log_partition, whole.marginals(), whole.argmax()
    monkeypatch.setattr(module, "LONG", 0.0)
    pieced = AlignmentDistribution(scores)
    for one, other in zip(expected, (pieced.log_partition, pieced.marginals(), pieced.argmax()), strict=True):
        assert np.array_equal(one, other)


def test_a_long_side_beside_a_short_one_costs_the_same_on_either_side() -> None:
    assert is_turned(1000, 2)
    assert seconds(1000, 2) == seconds(2, 1000)


@pytest.mark.parametrize(("p", "q"), [(2, 1000), (45, 30), (200, 200), (12, 2)])
def test_pairs_of_similar_lengths_and_short_ones_stay_as_they_are(p: int, q: int) -> None:
    assert not is_turned(p, q)
