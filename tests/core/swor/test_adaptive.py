"""Trees drawn with replacement until repeats pile up: whatever thresholds, memory and kind of numbers; in all spaces.

The partition tree draws those with crossing arcs, the derivation tree projective ones. Laws are in tests/laws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deptree_cli.core import cells
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT, SPACES, TreeSpace
from deptree_cli.core.swor import Draws
from tests.oracle import Oracle

IN_EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)

HARD = {
    "flat": lambda graphs, n: graphs.gaussian(n),
    "times 200": lambda graphs, n: graphs.gaussian(n, 200, seed=3),
    "gap 100": lambda graphs, n: graphs.disconnected(n, 100.0),
}


def draw(distribution: TreeDistribution, size: int, seed: int = 1) -> Draws:
    return cells.draw_auto(distribution, size, np.random.default_rng(seed))


@IN_EACH
@pytest.mark.parametrize(("repeats", "least"), [(0, 1e-6), (1, 0.999), (10, 1e-6), (50, 1e-12)])
@pytest.mark.parametrize("graph", HARD)
def test_what_is_left_is_the_mass_of_the_trees_not_drawn(
    graph: str, repeats: float, least: float, trees: TreeSpace, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To nine digits of itself (six in cells), however little it is, before every tree and after the last."""
    timed, told = Draws.timed, []

    def noting(heads: Any, log_probs: Any, log_left: Any, clock: Any) -> Draws:
        told.append(log_left.copy())
        return timed(heads, log_probs, log_left, clock)

    monkeypatch.setattr(cells, "TRIE_COST" if trees.projective else "REPEATS", repeats)
    monkeypatch.setattr(cells, "LEAST", least)
    monkeypatch.setattr(Draws, "timed", noting)
    draws = draw(graphs.over(HARD[graph](graphs, 4), trees), 200)
    left = np.logaddexp.accumulate(draws.log_probs[::-1])[::-1]
    digits = max(1e-9 if trees.projective else 1e-6, 4 * len(left) * 2.0**-53 / least)  # rounding at each of four words
    np.testing.assert_allclose(told[0][:-1], left, rtol=1e-13, atol=digits)
    assert told[0][-1] == -np.inf


@IN_EACH
@pytest.mark.parametrize("size", [64, 1000, 3000])
def test_memory_does_not_show(size: int, trees: TreeSpace, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """It grows from room for two cells or slots."""
    distribution = graphs.over(graphs.gaussian(7 if trees.projective else 5, 3), trees)
    expected = draw(distribution, size)
    monkeypatch.setattr(cells, "SLOTS" if trees.projective else "CELLS", 2)
    assert np.array_equal(draw(distribution, size).heads, expected.heads)


@IN_EACH
def test_memory_is_not_read_before_it_is_written(trees: TreeSpace, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over junk of two kinds; more trees than the first set of them holds."""
    distribution, empty, found = graphs.over(graphs.gaussian(7, 3), trees), np.empty, []
    for junk in (0, 7):

        def filled(*arguments: Any, junk: int = junk, **options: Any) -> np.ndarray:
            array = empty(*arguments, **options)
            array.fill(junk)
            return array

        monkeypatch.setattr(np, "empty", filled)
        found.append(draw(distribution, 1500))
    assert np.array_equal(found[0].heads, found[1].heads)
    assert np.array_equal(found[0].arrivals, found[1].arrivals)


@pytest.mark.parametrize(("trees", "n", "size"), [(SINGLE_ROOT, 100, 10_000), (PROJECTIVE, 40, 5_000)])
@pytest.mark.parametrize("scale", [1, 5, 15, 60])
def test_no_tree_twice_of_many(trees: TreeSpace, n: int, size: int, scale: int, graphs) -> None:
    draws = draw(graphs.over(graphs.gaussian(n, scale), trees), size)
    assert len(np.unique(draws.heads, axis=0)) == len(draws.heads) == size


def improbable(graphs, trees: TreeSpace) -> TreeDistribution:
    """Three trees in four have less than e^-300, though its sums need no wide numbers."""
    log_scores = graphs.gaussian(4)
    log_scores[1:3, 3:] -= 400.0
    return graphs.over(log_scores, trees)


@IN_EACH
def test_from_float64_on_in_wide_numbers(trees: TreeSpace, graphs) -> None:
    """The improbable trees come after all others, and in the order of their mass."""
    distribution = improbable(graphs, trees)
    assert not distribution.factorisation.is_wide
    draws = draw(distribution, 200)
    assert sorted(draws.heads.tolist()) == Oracle(distribution).trees.tolist()
    assert draws.log_probs.min() < -700
    assert (np.diff((draws.log_probs / 200).round()) <= 0).all()
