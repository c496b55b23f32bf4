"""Partition functions with and without the single-root constraint or crossing arcs, and the sums over a file."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.partition import Partition, Summary, partition
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE_MULTI, SPACES, TreeSpace, space
from tests.oracle import Oracle

ALL = pytest.mark.parametrize("trees", SPACES, ids=SPACES.names)


def crosses(heads: list[int]) -> bool:
    """Whether two arcs of a tree cross, by the definition."""
    spans = [sorted(arc) for arc in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in spans for c, d in spans)


@ALL
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("scale", [1, 20])
def test_against_enumeration(trees: TreeSpace, n: int, scale: float, graphs) -> None:
    """Whichever of the spaces the distribution is over."""
    distribution = graphs.over(graphs.gaussian(n, scale, seed=n), trees)
    single, multi = (Oracle(distribution.over(space(one, trees.projective))) for one in (True, False))
    found = partition(distribution)
    assert found.log_z == pytest.approx(single.log_z, rel=1e-13, abs=1e-13)
    assert found.log_z_multi_root == pytest.approx(multi.log_z, rel=1e-13, abs=1e-13)
    roots = (multi.trees == 0).sum(axis=1)
    mass = np.exp(multi.log_probs[roots == 1]).sum()
    assert found.single_root_mass == pytest.approx(mass, rel=1e-11)
    assert found.samples_per_single_root_tree == pytest.approx(1 / mass, rel=1e-11)
    assert found.log_trials == pytest.approx(-np.log(mass), abs=1e-11)


@ALL
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [0.1, 3, 20])
def test_projective_mass_against_enumeration(trees: TreeSpace, seed: int, scale: float, graphs) -> None:
    """The share of all trees with the same root constraint, whether the distribution leaves the others out or not."""
    distribution = graphs.over(graphs.gaussian(5, scale, seed), trees)
    every = Oracle(distribution.over(space(trees.single_root)))
    straight = np.array([not crosses(heads) for heads in every.trees.tolist()])
    assert 0 < straight.sum() < len(straight)
    mass = np.exp(every.log_probs[straight]).sum()
    assert partition(distribution).projective_mass == pytest.approx(mass, rel=1e-11)


def test_projective_trees_with_several_roots_only() -> None:
    """The arc 4 -> 2 crosses 0 -> 3 and 3 -> 1: only under two roots, 1 and 4, nothing crosses it."""
    weights = np.zeros((5, 5))
    weights[[0, 3, 4, 0, 4, 0, 3], [1, 1, 2, 3, 3, 4, 4]] = 2, 3, 1, 5, 7, 11, 13
    single = partition(TreeDistribution(weights, "weight"))
    assert (single.projective_mass, single.log_projective_mass) == (0.0, -math.inf)
    for trees in (MULTI_ROOT, PROJECTIVE_MULTI):
        found = partition(TreeDistribution(weights, "weight", single_root=False).over(trees))
        assert found.projective_mass == pytest.approx(2 * 7 * 11 / ((2 + 3) * (5 * 11 + 5 * 13 + 7 * 11)))
    assert found.log_z is None
    assert (found.single_root_mass, found.samples_per_single_root_tree) == (0.0, None)
    assert found.log_z_multi_root == pytest.approx(math.log(2 * 7 * 11))


def test_spanning_trees_only() -> None:
    star = TreeDistribution([[0, 1, 2], [0, 0, 0], [0, 0, 0]], "weight", single_root=False)
    found = partition(star)
    assert found.log_z is None
    assert found.log_z_multi_root == pytest.approx(math.log(2))
    assert (found.single_root_mass, found.log_trials, found.samples_per_single_root_tree) == (0.0, math.inf, None)
    assert found.projective_mass == 1.0


def test_masses_beyond_float64(graphs) -> None:
    """Single-root trees are e^-1000 of all: no share that float64 can hold, and trials that nobody waits for."""
    log_scores = graphs.gaussian(3)
    log_scores[1:, 1:] -= 500.0
    found = partition(graphs.distribution(log_scores))
    assert found.single_root_mass == 0.0
    assert found.log_trials == pytest.approx(1000.0, rel=0.01)
    assert found.samples_per_single_root_tree is None


def test_rounding_lifts_no_mass_above_1() -> None:
    """One tree, by two routes that may round differently."""
    only = np.full((5, 5), -np.inf)
    only[[0, 1, 2, 3], [1, 2, 3, 4]] = 0.1, 0.7, -1e6, 0.3
    found = partition(TreeDistribution(only))
    assert (found.log_single_root_mass, found.single_root_mass, found.samples_per_single_root_tree) == (0.0, 1.0, 1.0)
    assert (found.log_projective_mass, found.projective_mass) == (0.0, 1.0)


@pytest.mark.parametrize("offset", [1e4, 1e6, -1e9])
def test_offsets_cost_no_digits(offset: float, graphs) -> None:
    """Powers of two and scores with few digits: the sums are exact, so is the distribution."""
    log_scores = np.round(graphs.gaussian(5) * 64) / 64
    there = log_scores.copy()
    there[:, 1:] += 2.0 ** np.round(np.log2(abs(offset))) * np.sign(offset)
    near, far = (partition(graphs.distribution(scores)) for scores in (log_scores, there))
    assert far.log_single_root_mass == pytest.approx(near.log_single_root_mass, rel=1e-14)
    assert far.log_projective_mass == pytest.approx(near.log_projective_mass, rel=1e-14)


def test_the_sums_of_a_file() -> None:
    summary = Summary()
    assert summary.row()["sentences"] == 0
    assert summary.row()["single_root_mass_mean"] is summary.row()["single_root_mass_min"] is None
    summary.add("a", 3, Partition(math.log(3), math.log(4), math.log(3 / 4), math.log(2 / 5)))
    summary.add("b", 5, Partition(0.0, math.log(4), -math.log(4), -math.inf))
    summary.add("c", 1, Partition(None, 2.0, -math.inf, 0.0))
    assert summary.row() == {
        "sentences": 3,
        "words": 9,
        "log_z_sum": pytest.approx(math.log(3)),
        "single_root_mass_mean": pytest.approx((0.75 + 0.25 + 0.0) / 3),
        "single_root_mass_min": 0.0,
        "single_root_mass_min_sent_id": "c",
        "single_root_mass_below_half": 2,
        "projective_mass_mean": pytest.approx((0.4 + 0.0 + 1.0) / 3),
        "projective_mass_min": 0.0,
        "projective_mass_min_sent_id": "b",
        "projective_mass_below_half": 2,
    }
