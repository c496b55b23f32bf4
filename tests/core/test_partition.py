"""Partition functions, masses and other numbers of a distribution beside enumeration, which is counted."""

import math
import re
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.oracle import LARGEST_N, all_trees
from deptree_cli.core.partition import Partition, Summary, partition
from deptree_cli.core.peakedness import peakedness
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE_MULTI, SPACES, space
from tests.oracle import Oracle

ALL = pytest.mark.parametrize("trees", SPACES, ids=SPACES.names)
MANUAL = Path(__file__).parents[2] / "docs" / "how_it_works.md"


def test_enumeration_gives_every_tree_once_and_in_order():
    """As many as Cayley's formula says."""
    for n in range(1, 7):
        for trees, count in ((all_trees(n), n ** (n - 1)), (all_trees(n, MULTI_ROOT), (n + 1) ** (n - 1))):
            found = list(map(tuple, trees.tolist()))
            assert found == sorted(set(found))
            assert len(found) == count
    with pytest.raises(ValueError, match="8 words have too many trees"):
        all_trees(LARGEST_N + 1)


@ALL
def test_errors_are_no_larger_than_the_manual_says(graphs, trees):
    """Beside 60 digits: 17 graphs of 2 to 5 words and Gaussian scores; of one with a log Z of 3 from scores of 100."""

    def promised(quantity):
        row = re.search(rf"^\| {quantity} \|(.*)\|$", MANUAL.read_text(encoding="utf-8"), re.MULTILINE)
        return [float(number) for number in re.findall(r"\d+e-\d+", row[1])]

    (relative, absolute, of_scores), (of_marginals,) = promised("log Z"), promised("marginals")
    for seed in (*range(16), 124):
        n, scale = 2 + seed % 4, (1, 2, 5, 20, 100, 200)[seed % 6]
        scores, heads = graphs.gaussian(n, scale, seed), all_trees(n, trees)
        largest = np.abs(scores[np.isfinite(scores)]).max()
        with mp.workdps(60):
            weights = [[mp.exp(float(score)) for score in row] for row in np.where(np.isneginf(scores), 0.0, scores)]
            of_trees = [mp.fprod(weights[head][word] for word, head in enumerate(tree, 1)) for tree in heads.tolist()]
            z, marginals = mp.fsum(of_trees), mp.matrix(n + 1, n + 1)
            for tree, weight in zip(heads.tolist(), of_trees, strict=True):
                for word, head in enumerate(tree, 1):
                    marginals[head, word] += weight / z
            found, log_z = TreeDistribution(scores, space=trees), mp.log(z)
            assert abs(found.log_partition - log_z) <= max(relative * abs(log_z), absolute, of_scores * largest)
            assert max(map(abs, mp.matrix(found.marginals()) - marginals)) <= of_marginals


def crosses(heads):
    spans = [sorted(arc) for arc in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in spans for c, d in spans)


@ALL
@pytest.mark.parametrize("n", [1, 2, 4, 5])
@pytest.mark.parametrize("scale", [0.1, 1, 20])
def test_masses_against_enumeration(trees, n, scale, graphs):
    """Whichever space it is over; projective trees are a share of all with the same root constraint."""
    distribution = graphs.over(graphs.gaussian(n, scale, seed=n), trees)
    single, multi = (Oracle(distribution.over(space(one, trees.projective))) for one in (True, False))
    found = partition(distribution)
    assert found.log_z == pytest.approx(single.log_z, rel=1e-13, abs=1e-13)
    assert found.log_z_multi_root == pytest.approx(multi.log_z, rel=1e-13, abs=1e-13)
    mass = np.exp(multi.log_probs[(multi.trees == 0).sum(axis=1) == 1]).sum()
    assert (found.single_root_mass, found.samples_per_single_root_tree) == pytest.approx((mass, 1 / mass), rel=1e-11)
    assert found.log_trials == pytest.approx(-np.log(mass), abs=1e-11)
    every = Oracle(distribution.over(space(trees.single_root)))
    straight = np.array([not crosses(heads) for heads in every.trees.tolist()])
    assert found.projective_mass == pytest.approx(np.exp(every.log_probs[straight]).sum(), rel=1e-11)


def test_projective_trees_with_several_roots_only():
    """The arc 4 -> 2 crosses 0 -> 3 and 3 -> 1: only under two roots, 1 and 4, nothing crosses it."""
    weights = np.zeros((5, 5))
    weights[[0, 3, 4, 0, 4, 0, 3], [1, 1, 2, 3, 3, 4, 4]] = 2, 3, 1, 5, 7, 11, 13
    single = partition(TreeDistribution(weights, "weight"))
    assert (single.projective_mass, single.log_projective_mass) == (0.0, -math.inf)
    for trees in (MULTI_ROOT, PROJECTIVE_MULTI):
        found = partition(TreeDistribution(weights, "weight", single_root=False).over(trees))
        assert found.projective_mass == pytest.approx(2 * 7 * 11 / ((2 + 3) * (5 * 11 + 5 * 13 + 7 * 11)))
    assert (found.log_z, found.log_trials) == (None, math.inf)
    assert (found.single_root_mass, found.samples_per_single_root_tree) == (0.0, None)
    assert found.log_z_multi_root == pytest.approx(math.log(2 * 7 * 11))


def test_masses_beyond_float64(graphs):
    """Single-root trees are e^-1000 of all: no share that float64 can hold, and trials that nobody waits for."""
    log_scores = graphs.gaussian(3)
    log_scores[1:, 1:] -= 500.0
    found = partition(graphs.distribution(log_scores))
    assert (found.single_root_mass, found.samples_per_single_root_tree) == (0.0, None)
    assert found.log_trials == pytest.approx(1000.0, rel=0.01)


def test_rounding_lifts_no_mass_above_1():
    """One tree, by two routes that may round differently."""
    only = np.full((5, 5), -np.inf)
    only[[0, 1, 2, 3], [1, 2, 3, 4]] = 0.1, 0.7, -1e6, 0.3
    found = partition(TreeDistribution(only))
    assert (found.log_single_root_mass, found.single_root_mass, found.samples_per_single_root_tree) == (0.0, 1.0, 1.0)
    assert (found.log_projective_mass, found.projective_mass) == (0.0, 1.0)


@pytest.mark.parametrize("offset", [2.0**13, 2.0**20, -(2.0**30)])
def test_offsets_cost_no_digits(offset, graphs):
    """Powers of two and scores with few digits: the sums are exact, so is the distribution."""
    log_scores = np.round(graphs.gaussian(5) * 64) / 64
    near, far = (partition(graphs.distribution(scores)) for scores in (log_scores, log_scores + offset))
    assert far.log_single_root_mass == pytest.approx(near.log_single_root_mass, rel=1e-14)
    assert far.log_projective_mass == pytest.approx(near.log_projective_mass, rel=1e-14)


def test_the_sums_of_a_file():
    summary = Summary()
    assert summary.row()["sentences"] == 0
    assert summary.row()["single_root_mass_mean"] is summary.row()["single_root_mass_min"] is None
    summary.add("a", 3, Partition(math.log(3), math.log(4), math.log(3 / 4), math.log(2 / 5)))
    summary.add("b", 5, Partition(0.0, math.log(4), -math.log(4), -math.inf))
    summary.add("c", 1, Partition(None, 2.0, -math.inf, 0.0))
    row = summary.row()
    assert (row["sentences"], row["words"], row["log_z_sum"]) == (3, 9, pytest.approx(math.log(3)))
    for name, mean, worst in (("single_root_mass", (0.75 + 0.25 + 0) / 3, "c"), ("projective_mass", 1.4 / 3, "b")):
        assert row[f"{name}_mean"] == pytest.approx(mean)
        assert (row[f"{name}_min"], row[f"{name}_min_sent_id"], row[f"{name}_below_half"]) == (0.0, worst, 2)


@ALL
def test_peakedness_against_enumeration(trees, graphs):
    distribution = graphs.over(graphs.holes(4, 2, trees.single_root), trees)
    found, oracle = peakedness(distribution), Oracle(distribution)
    scores = distribution.log_scores[np.isfinite(distribution.log_scores)]
    assert (found.lowest, found.highest, found.forbidden) == (scores.min(), scores.max(), 16 - len(scores))
    assert found.best_head == pytest.approx(oracle.marginals()[:, 1:].max(axis=0).mean())
    assert found.entropy == pytest.approx(-np.exp(oracle.log_probs) @ oracle.log_probs / 4)
    masses = partition(distribution)
    assert found.single_root_mass == pytest.approx(masses.single_root_mass if trees.single_root else 1.0)
    assert found.projective_mass == pytest.approx(masses.projective_mass)
    one = peakedness(graphs.distribution(graphs.uniform(1)))
    assert (one.forbidden, one.best_head, one.entropy, one.single_root_mass) == (0, 1.0, 0.0, 1.0)


def test_whether_heads_are_normalised(graphs):
    log_scores = graphs.gaussian(5)
    normal = log_scores - np.append(0, np.logaddexp.reduce(log_scores[:, 1:], axis=0))
    found = [peakedness(graphs.distribution(scores)).normalised for scores in (log_scores, normal, normal + 0.01)]
    assert found == [False, True, False]
