"""Distinct projective trees: whatever the thresholds, the memory or the kind of numbers; laws are in tests/laws."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, TreeSpace
from deptree_cli.core.swor import Draws, derivation_tree
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)
THRESHOLDS = pytest.mark.parametrize(("repeats", "least"), [(0, 1e-6), (1, 0.999), (10, 1e-6), (50, 1e-12)])

HARD = {
    "flat": lambda graphs, n: graphs.gaussian(n),
    "times 200": lambda graphs, n: graphs.gaussian(n, 200, seed=3),
    "gap 100": lambda graphs, n: graphs.disconnected(n, 100.0),
}


def draw(distribution: TreeDistribution, size: int, seed: int = 1) -> Draws:
    return derivation_tree.draw(distribution, size, np.random.default_rng(seed))


def set_thresholds(monkeypatch: pytest.MonkeyPatch, repeats: float, least: float) -> None:
    monkeypatch.setattr(derivation_tree, "REPEATS", repeats)
    monkeypatch.setattr(derivation_tree, "LEAST", least)


class Noted:
    """What is left before each tree is drawn and after the last, in logarithms, as `Draws.timed` is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        timed = Draws.timed

        def noting(heads: Any, log_probs: Any, log_left: Any, clock: Any) -> Draws:
            self.log_left = log_left.copy()
            return timed(heads, log_probs, log_left, clock)

        monkeypatch.setattr(derivation_tree.Draws, "timed", noting)


@BOTH
@THRESHOLDS
@pytest.mark.parametrize("graph", HARD)
def test_what_is_left_is_the_mass_of_the_trees_not_drawn(
    graph: str, repeats: float, least: float, trees: TreeSpace, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To nine digits of itself, however little it is, before every tree."""
    set_thresholds(monkeypatch, repeats, least)
    noted = Noted(monkeypatch)
    draws = draw(graphs.over(HARD[graph](graphs, 4), trees), 100)
    left = np.logaddexp.accumulate(draws.log_probs[::-1])[::-1]
    few_digits = least < 1e-9  # one minus the probabilities drawn
    np.testing.assert_allclose(noted.log_left[:-1], left, rtol=1e-13, atol=1e-3 if few_digits else 1e-9)
    assert noted.log_left[-1] == -np.inf


@BOTH
@pytest.mark.parametrize("size", [64, 1000, 3000])
def test_memory_for_nodes_does_not_show(size: int, trees: TreeSpace, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution = graphs.over(graphs.gaussian(7, 3), trees)
    expected = draw(distribution, size)
    monkeypatch.setattr(derivation_tree, "SLOTS", 2)
    assert np.array_equal(draw(distribution, size).heads, expected.heads)


@BOTH
def test_memory_is_not_read_before_it_is_written(trees: TreeSpace, graphs, over_junk) -> None:
    """More trees than the first set of them holds."""
    distribution = graphs.over(graphs.gaussian(7, 3), trees)
    first, second = over_junk(lambda: draw(distribution, 1500))
    assert np.array_equal(first.heads, second.heads)
    assert np.array_equal(first.arrivals, second.arrivals)


@pytest.mark.parametrize("scale", [1, 5, 20, 60])
def test_no_tree_twice_of_many(scale: int, graphs) -> None:
    draws = draw(graphs.over(graphs.gaussian(40, scale), PROJECTIVE), 5_000)
    assert len(np.unique(draws.heads, axis=0)) == len(draws.heads) == 5_000


def tries(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The kinds of numbers in which tries are made."""
    made: Counter[str] = Counter()
    no_nodes = derivation_tree._no_nodes

    def counting(kind: Any) -> Any:
        made[kind.name] += 1
        return no_nodes(kind)

    monkeypatch.setattr(derivation_tree, "_no_nodes", counting)
    return made


def test_a_trie_is_made_where_repeats_pile_up_and_only_there(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tries(monkeypatch)
    draw(graphs.over(graphs.gaussian(30), PROJECTIVE), 2_000)
    assert not made
    draw(graphs.over(graphs.gaussian(30, 20), PROJECTIVE), 2_000)
    assert made == {"REAL": 1}


@BOTH
def test_from_float64_on_in_wide_numbers(trees: TreeSpace, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most trees have less than e^-300: they come after all others, and in the order of their mass."""
    made = tries(monkeypatch)
    log_scores = graphs.gaussian(4)
    log_scores[1:3, 3:] -= 400.0
    distribution = graphs.over(log_scores, trees)
    assert not distribution.factorisation.is_wide
    draws = draw(distribution, 200)
    assert sorted(draws.heads.tolist()) == Oracle(distribution).trees.tolist()
    assert draws.log_probs.min() < -700
    assert (np.diff((draws.log_probs / 200).round()) <= 0).all()
    assert made == {"REAL": 1, "WIDE": 1}


@BOTH
def test_the_time_of_the_next_tree_is_right_where_next_to_nothing_is_left(trees: TreeSpace, graphs) -> None:
    """H0: what is left behind the best tree, e^-350 or less, times the time until the next one is Exp(1). The mean of
    500 is 1 within five standard errors, 5 / sqrt(500) = 0.22; float64 alone would say that no tree is left."""
    log_scores = graphs.uniform(3)
    log_scores[:, 1:] -= 400.0
    log_scores[0, 1] = log_scores[1, 2] = log_scores[2, 3] = 0.0
    distribution = graphs.over(log_scores, trees)
    log_left = np.logaddexp.reduce(np.sort(Oracle(distribution).log_probs)[:-1])
    assert -500 < log_left < -350
    draws = [draw(distribution, 1, seed) for seed in range(500)]
    waits = [np.exp(log_left) * (each.tau - each.arrivals[0]) for each in draws if not each.exhausted]
    assert len(waits) == 500
    assert np.mean(waits) == pytest.approx(1.0, abs=0.22)
