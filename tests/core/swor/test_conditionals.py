"""The choices a tree is made of: their conditional distributions against enumeration, however unlikely."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.conditionals import Conditionals, log_sum, pick
from deptree_cli.core.distribution import TreeDistribution
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def prefixes_of(tree: np.ndarray, single_root: bool) -> tuple[int, ...]:
    """A tree's choices: its root, then the heads of the other words; of a spanning tree, the heads."""
    if not single_root:
        return tuple(tree.tolist())
    root = int(np.argmin(tree)) + 1
    return (root, *(int(head) for word, head in enumerate(tree.tolist(), 1) if word != root))


def check_against_enumeration(distribution: TreeDistribution, further: float = 0.0) -> None:
    """Every conditional probability of every prefix of every tree, in logarithms."""
    oracle, conditionals = Oracle(distribution), Conditionals(distribution)
    choices = np.array([prefixes_of(tree, distribution.single_root) for tree in oracle.trees])
    for prefix in {tuple(row[:length]) for row in choices.tolist() for length in range(distribution.n)}:
        below = (choices[:, : len(prefix)] == prefix).all(axis=1)
        total = np.logaddexp.reduce(oracle.log_probs[below])
        found = conditionals.log_probs(prefix)
        for value in range(distribution.n + 1):
            share = below & (choices[:, len(prefix)] == value)
            expected = np.logaddexp.reduce(oracle.log_probs[share], initial=-np.inf) - total
            assert found[value] == pytest.approx(expected, rel=1e-12, abs=1e-12 + further), (prefix, value)


@BOTH
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_against_enumeration(n: int, single_root: bool, graphs) -> None:
    for log_scores in (graphs.gaussian(n), graphs.gaussian(n, 50), graphs.saturated(n)):
        check_against_enumeration(graphs.distribution(log_scores, single_root))


@BOTH
@pytest.mark.parametrize("log_gap", [100.0, 300.0, 500.0, 1000.0, 1e5])
def test_where_float64_underflows(log_gap: float, single_root: bool, graphs) -> None:
    """A word's heads, and what leads from them to ROOT, are up to e^-200,000 apart."""
    check_against_enumeration(graphs.distribution(graphs.disconnected(4, log_gap), single_root), 1e-15 * log_gap)


@BOTH
def test_many_prefixes_at_once(single_root: bool, graphs) -> None:
    """Some with digits that float64 loses, and some without."""
    distribution = graphs.distribution(graphs.disconnected(5, 400.0), single_root)
    conditionals, trees = Conditionals(distribution), distribution.factorisation.sample(20, np.random.default_rng(2))
    prefixes = np.array([prefixes_of(tree, single_root)[:3] for tree in trees])
    found = conditionals.log_probs_of_each(prefixes)
    assert np.array_equal(found, np.array([conditionals.log_probs(tuple(prefix)) for prefix in prefixes.tolist()]))


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_forbidden_arcs(seed: int, single_root: bool, graphs) -> None:
    check_against_enumeration(graphs.distribution(graphs.holes(4, seed, single_root), single_root))
    check_against_enumeration(graphs.distribution(graphs.one_way(4, seed), single_root))


@BOTH
def test_a_complete_prefix_is_a_tree(single_root: bool, graphs) -> None:
    distribution = graphs.distribution(graphs.uniform(4), single_root)
    conditionals = Conditionals(distribution)
    assert conditionals.depth == 4
    for tree in Oracle(distribution).trees:
        assert conditionals.heads_of_each(np.array([prefixes_of(tree, single_root)])).tolist() == [tree.tolist()]


@BOTH
def test_conditionals_multiply_to_the_trees_probability(single_root: bool, graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(12, 10), single_root)
    conditionals = Conditionals(distribution)
    for tree in distribution.factorisation.sample(5, np.random.default_rng(1)):
        choices = prefixes_of(tree, single_root)
        log_probs = [conditionals.log_probs(choices[:done])[choices[done]] for done in range(12)]
        assert sum(log_probs) == pytest.approx(distribution.log_probs(tree[None])[0], abs=1e-11)


class Fixed:
    """A generator whose uniform number is always the same."""

    def __init__(self, number: float) -> None:
        self._number = number

    def random(self) -> float:
        return self._number


@pytest.mark.parametrize("number", [0.0, 0.3, 1 - 2**-53])
def test_a_choice_of_weight_0_is_never_picked(number: float) -> None:
    for log_weights in ([-np.inf, 0, -np.inf, -1, -np.inf], [-np.inf, -5000.0], [-900, -np.inf], [0, -1e-16, -np.inf]):
        assert np.isfinite(log_weights[pick(np.array(log_weights), Fixed(number))])


def test_picks_follow_their_weights() -> None:
    """H0: an index comes in proportion to exp(weight). 20,000 draws of (0.2, 0, 0.8): the first within five standard
    deviations, 5 * sqrt(0.16 / 20,000) = 0.0142, which chance misses once in two million."""
    rng = np.random.default_rng(5)
    log_weights = np.array([np.log(2), -np.inf, np.log(8)]) - 3000
    picks = np.bincount([pick(log_weights, rng) for _ in range(20_000)], minlength=3)
    assert picks[1] == 0
    assert abs(picks[0] / 20_000 - 0.2) < 0.0142


def test_log_sum() -> None:
    assert log_sum(np.array([])) == -np.inf
    assert log_sum(np.array([-np.inf, -np.inf])) == -np.inf
    assert log_sum(np.log([1.0, 2.0, 3.0])) == pytest.approx(np.log(6))
