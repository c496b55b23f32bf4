"""The second-order chart, its sweep backwards, trees drawn from it and the best one, in every kind of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.scores import checked_log_scores
from deptree_cli.core.spaces import space
from deptree_cli.kernels.charts.projective_trees import follow_best, sample_trees
from deptree_cli.kernels.numbers.tropical import Tropical
from deptree_cli.second_order.kernels.chart import TABLES, Weights, inside, tree_log_probs
from deptree_cli.second_order.kernels.grammar import SecondOrder
from deptree_cli.second_order.kernels.outside import outside
from deptree_cli.second_order.model.chart import Shifted, shift
from deptree_cli.second_order.model.parts import checked_part

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])
GRANDPARENTS = pytest.mark.parametrize("with_grandparents", [False, True], ids=["n^3", "n^4"])


@pytest.fixture
def scores(n: int, with_grandparents: bool):
    """Scores of arcs, of grandparents if they count, and of siblings."""
    rng = np.random.default_rng(n)
    arcs, grandparent, sibling = (rng.normal(size=(n + 1,) * axes) for axes in (2, 3, 3))
    return arcs, grandparent if with_grandparents else None, sibling


def checked(scores, single_root: bool) -> Shifted:
    """The scores laid out for the kernels."""
    nodes = len(scores[0])
    named = zip(("grandparent", "sibling"), scores[1:], strict=True)
    parts = [None if part is None else checked_part(name, part, nodes, "log") for name, part in named]
    return shift(checked_log_scores(scores[0], "log"), *parts, space(single_root, projective=True))


def zeros(shifted: Shifted, kind: Kind):
    """A chart of zeros."""
    return kind.zeros((TABLES, *shifted.log_weights.arcs.shape))


def grammar(shifted: Shifted, weights: Weights, chart) -> SecondOrder:
    return SecondOrder(shifted.space.single_root, shifted.by_grandparent, weights, chart)


def filled(shifted: Shifted, kind: Kind):
    """Weights, their chart and its log Z."""
    weights, chart = Weights(*map(kind.exp, shifted.log_weights)), zeros(shifted, kind)
    total = kind.floats(inside(weights, shifted.everything, shifted.space.single_root, chart))
    return weights, chart, np.log(total) + shifted.constant


@BOTH
@KINDS
@GRANDPARENTS
@pytest.mark.parametrize("n", [1, 2, 4])
def test_sums(single_root: bool, kind: Kind, scores, part_sums) -> None:
    exact, shifted = part_sums(*scores, single_root), checked(scores, single_root)
    weights, chart, log_z = filled(shifted, kind)
    assert log_z == pytest.approx(exact.log_z, abs=1e-12)
    marginals = kind.zeros(exact.marginals.shape)
    outside(weights, shifted.everything, single_root, chart, zeros(shifted, kind), marginals)
    np.testing.assert_allclose(kind.floats(marginals), exact.marginals, rtol=0, atol=1e-13)


@BOTH
@KINDS
@GRANDPARENTS
@pytest.mark.parametrize("n", [1, 3, 4])
def test_trees_follow_the_distribution(
    single_root: bool, kind: Kind, scores, draws: int, state, part_sums, check_law
) -> None:
    """H0: independent draws from the distribution; chi-square, p < 1e-6 by chance."""
    exact, shifted = part_sums(*scores, single_root), checked(scores, single_root)
    weights, chart, _ = filled(shifted, kind)
    heads = np.full((draws, exact.trees.shape[1]), -9, dtype=np.int32)
    sample_trees(grammar(shifted, weights, chart), state, heads)
    check_law(heads, exact.trees, exact.log_probs)


@BOTH
@GRANDPARENTS
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_best_tree_and_what_trees_weigh(single_root: bool, scores, part_sums) -> None:
    exact, shifted = part_sums(*scores, single_root), checked(scores, single_root)
    found = np.empty(len(exact.trees))
    tree_log_probs(shifted.log_weights, -shifted.constant, exact.trees.astype(np.int64), found)
    np.testing.assert_allclose(found, exact.log_weights, rtol=0, atol=1e-12)
    weights = Weights(*map(Tropical, shifted.log_weights))
    chart = Tropical(np.full((TABLES, *shifted.log_weights.arcs.shape), -np.inf))
    best = inside(weights, shifted.everything, single_root, chart).log
    assert best + shifted.constant == pytest.approx(exact.log_weights.max(), abs=1e-12)
    heads = np.full(exact.trees.shape[1], -9, dtype=np.int32)
    follow_best(grammar(shifted, weights, chart), heads)
    np.testing.assert_array_equal(heads, exact.trees[exact.log_weights.argmax()])


@GRANDPARENTS
@pytest.mark.parametrize("n", [4])
def test_forbidden_parts_are_never_drawn(scores, state, part_sums) -> None:
    scores[2][1, 2, 3:] = scores[2][0, 0, 2] = -np.inf
    exact = part_sums(*scores)
    shifted = checked(scores, True)
    weights, chart, _ = filled(shifted, REAL)
    heads = np.empty((200, 4), dtype=np.int32)
    sample_trees(grammar(shifted, weights, chart), state, heads)
    allowed = {tuple(tree) for tree in exact.trees[np.isfinite(exact.log_weights)].tolist()}
    assert len(allowed) < len(exact.trees)
    assert {tuple(tree) for tree in heads.tolist()} <= allowed
