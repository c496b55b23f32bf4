"""Partition functions with and without the single-root constraint, and the sums over a file."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.oracle import Oracle
from deptree_cli.core.partition import Partition, Summary, partition
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


@BOTH
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("scale", [1, 20])
def test_against_enumeration(single_root: bool, n: int, scale: float, graphs) -> None:
    """Whichever of the two spaces the distribution is over."""
    distribution = graphs.distribution(graphs.gaussian(n, scale, seed=n), single_root)
    single, multi = (Oracle(distribution.over(trees)) for trees in (SINGLE_ROOT, MULTI_ROOT))
    found = partition(distribution)
    assert found.log_z == pytest.approx(single.log_z, rel=1e-13, abs=1e-13)
    assert found.log_z_multi_root == pytest.approx(multi.log_z, rel=1e-13, abs=1e-13)
    roots = (multi.trees == 0).sum(axis=1)
    mass = np.exp(multi.log_probs[roots == 1]).sum()
    assert found.single_root_mass == pytest.approx(mass, rel=1e-11)
    assert found.expected_trials == pytest.approx(1 / mass, rel=1e-11)
    assert found.log_trials == pytest.approx(-np.log(mass), abs=1e-11)


def test_spanning_trees_only() -> None:
    star = TreeDistribution([[0, 1, 2], [0, 0, 0], [0, 0, 0]], "weight", single_root=False)
    found = partition(star)
    assert found.log_z is None
    assert found.log_z_multi_root == pytest.approx(math.log(2))
    assert (found.single_root_mass, found.log_trials, found.expected_trials) == (0.0, math.inf, None)


def test_masses_beyond_float64(graphs) -> None:
    """Single-root trees are e^-1000 of all: no share that float64 can hold, and trials that nobody waits for."""
    log_scores = graphs.gaussian(3)
    log_scores[1:, 1:] -= 500.0
    found = partition(graphs.distribution(log_scores))
    assert found.single_root_mass == 0.0
    assert found.log_trials == pytest.approx(1000.0, rel=0.01)
    assert found.expected_trials is None


def test_rounding_lifts_no_mass_above_1() -> None:
    """One tree, by two routes that may round differently."""
    only = np.full((5, 5), -np.inf)
    only[[0, 1, 2, 3], [1, 2, 3, 4]] = 0.1, 0.7, -1e6, 0.3
    found = partition(TreeDistribution(only))
    assert (found.log_single_root_mass, found.single_root_mass, found.expected_trials) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize("offset", [1e4, 1e6, -1e9])
def test_offsets_cost_no_digits(offset: float, graphs) -> None:
    """Powers of two and scores with few digits: the sums are exact, so is the distribution."""
    log_scores = np.round(graphs.gaussian(5) * 64) / 64
    there = log_scores.copy()
    there[:, 1:] += 2.0 ** np.round(np.log2(abs(offset))) * np.sign(offset)
    near, far = (partition(graphs.distribution(scores)) for scores in (log_scores, there))
    assert far.log_single_root_mass == pytest.approx(near.log_single_root_mass, rel=1e-14)


def test_the_sums_of_a_file() -> None:
    summary = Summary()
    assert summary.row()["sentences"] == 0
    assert summary.row()["single_root_mass_mean"] is summary.row()["single_root_mass_min"] is None
    summary.add("a", 3, Partition(math.log(3), math.log(4), math.log(3 / 4)))
    summary.add("b", 5, Partition(0.0, math.log(4), -math.log(4)))
    summary.add("c", 1, Partition(None, 2.0, -math.inf))
    assert summary.row() == {
        "sentences": 3,
        "words": 9,
        "log_z_sum": pytest.approx(math.log(3)),
        "single_root_mass_mean": pytest.approx((0.75 + 0.25 + 0.0) / 3),
        "single_root_mass_min": 0.0,
        "single_root_mass_min_sent_id": "c",
        "single_root_mass_below_half": 2,
    }
