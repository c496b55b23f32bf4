"""A sentence's audit: what is counted, its errors under the null hypothesis, and what it catches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.audits.control import SwappedPairs
from deptree_cli.core.audit import BIASED, UNBIASED, UNDECIDED, Audit, Tally, detectable_tvs, judge
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT, SPACES, TreeSpace, space
from tests.oracle import Oracle

ALL = pytest.mark.parametrize("trees", SPACES, ids=SPACES.names)
EITHER = pytest.mark.parametrize("trees", [SINGLE_ROOT, PROJECTIVE], ids=["single", "projective"])


def audited(distribution: TreeDistribution, trees: NDArray[np.int32]) -> Audit:
    tally = Tally(distribution)
    tally.add(trees)
    return tally.audit()


def verdict(audit: Audit, alpha: float = 0.001) -> str:
    return judge([audit], alpha)[0].verdict


@pytest.mark.parametrize("n", [3, 8])
@pytest.mark.parametrize("heads", [[0, 0, 1], [2, 1, 0], [0, 1, 9], [0, 1, -1], [0, 2, 1], [0, 1, 1]])
def test_impossible_trees_are_caught(n: int, heads: list[int], graphs) -> None:
    """Two roots, a cycle, no such head (twice), a self-loop, a forbidden arc: one among 500 good trees is enough."""
    log_scores = graphs.gaussian(n)
    log_scores[1, 3] = -np.inf
    distribution = graphs.distribution(log_scores)
    tally = Tally(distribution)
    tally.add(distribution.factorisation.sample(500, np.random.default_rng(1)))
    assert tally.impossible == 0
    tally.add(np.array([[*heads, *range(3, n)]]))
    audit = tally.audit()
    assert (audit.size, audit.impossible, audit.p_value) == (501, 1, 0.0)
    assert audit.method == ("enumeration" if n == 3 else "marginals")
    assert (verdict(audit, 1e-9), audit.evidence, audit.log_prob_z) == (BIASED, "impossible trees", None)


@pytest.mark.parametrize("n", [4, 8])
@pytest.mark.parametrize("single_root", [True, False])
def test_a_projective_distribution_has_no_trees_with_crossing_arcs(n: int, single_root: bool, graphs) -> None:
    """Good trees of the distribution over all trees: those that cross, and no others, are impossible."""
    distribution = graphs.over(graphs.gaussian(n), space(single_root))
    trees = distribution.factorisation.sample(1000, np.random.default_rng(1))
    spans = np.sort(np.stack([trees, np.broadcast_to(np.arange(1, n + 1), trees.shape)]), axis=0)
    first, last = spans[0][:, :, None], spans[1][:, :, None]
    inside = (first < spans[0][:, None]) & (spans[0][:, None] < last)
    crossing = (inside & (last < spans[1][:, None])).any(axis=(1, 2))
    assert 0 < crossing.sum() < 1000
    audit = audited(distribution.over(space(single_root, projective=True)), trees)
    assert (audit.impossible, audit.p_value, verdict(audit)) == (crossing.sum(), 0.0, BIASED)
    assert audited(distribution, trees).impossible == 0


@pytest.mark.parametrize("n", [4, 9])
def test_times_are_repetitions_in_any_order(n: int, graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(n))
    trees = distribution.factorisation.sample(60, np.random.default_rng(2))
    times = np.random.default_rng(3).integers(0, 4, size=60)
    at_once, one_by_one = Tally(distribution), Tally(distribution)
    at_once.add(trees, times)
    for tree in np.repeat(trees, times, axis=0)[::-1]:
        one_by_one.add(tree[None])
    assert at_once.audit() == one_by_one.audit()
    assert at_once.size == times.sum()


def test_distances_by_hand(graphs) -> None:
    """Figure 1's trees with probability 1/3 each, drawn 3, 1 and 0 times: distance 3/4 - 1/3."""
    tally = Tally(graphs.distribution(graphs.figure1()))
    tally.add(np.array([[0, 1, 1], [0, 3, 1]]), np.array([3, 1]))
    audit = tally.audit()
    assert audit.tv_distance == pytest.approx(3 / 4 - 1 / 3)
    pmf = [math.comb(4, k) * (1 / 3) ** k * (2 / 3) ** (4 - k) for k in range(5)]
    expected = 1.5 * math.fsum(pmf[k] * abs(k / 4 - 1 / 3) for k in range(5))
    assert audit.tv_expected_by_chance == pytest.approx(expected)
    assert (audit.method, audit.size, audit.impossible) == ("enumeration", 4, 0)


@pytest.mark.parametrize("n", [4, 9])
def test_impossible_trees_count_in_the_distance(n: int) -> None:
    """A quarter of the trees where only one is possible: every distribution of heads has moved by a quarter."""
    chain = np.arange(n)
    scores = np.full((n + 1, n + 1), -np.inf)
    scores[chain, chain + 1] = 0.0
    tally = Tally(TreeDistribution(scores))
    tally.add(np.array([chain, np.minimum(chain, 1)]), np.array([6, 2]))
    audit = tally.audit()
    assert (audit.impossible, audit.tv_distance, audit.tv_expected_by_chance) == (2, pytest.approx(1 / 4), 0.0)


def test_the_distance_expected_by_chance_is_met_on_average(graphs) -> None:
    """H0: the mean distance of 300 unbiased samples of 200 trees is the one announced. A tree moves a
    distance by 1/200 at most, so its variance is at most 200 * (1/200)^2 / 4 (Efron and Stein), its standard deviation
    0.0354, that of the mean 0.00204: within 0.0102, five of those."""
    distribution, rng = graphs.distribution(graphs.gaussian(3)), np.random.default_rng(4)
    oracle = Oracle(distribution)
    probs = np.exp(oracle.log_probs) / np.exp(oracle.log_probs).sum()
    audits = [audited(distribution, oracle.trees[rng.choice(len(probs), size=200, p=probs)]) for _ in range(300)]
    distances = np.array([audit.tv_distance for audit in audits])
    assert abs(distances.mean() - audits[0].tv_expected_by_chance) < 0.0102


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("n", [5, 10])
def test_unbiased_samples_are_rejected_no_more_often_than_the_level_says(n: int, graphs) -> None:
    """H0: p < 0.05 in at most 5 % of unbiased samples. 200 audits of 300 trees: more than 26 rejections (mean 10 at
    most, standard deviation 3.1) with probability below 4e-6."""
    distribution, rng = graphs.distribution(graphs.gaussian(n)), np.random.default_rng(6)
    sample = distribution.factorisation.sample
    assert sum(audited(distribution, sample(300, rng)).p_value < 0.05 for _ in range(200)) <= 26


def biased_trees(
    distribution: TreeDistribution, share: float, size: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Exact trees, but a share of them is drawn with ROOT -> 1 obligatory."""
    forced = distribution.log_scores.copy()
    forced[0, 2:] = -np.inf
    instead = TreeDistribution(forced).factorisation.sample(size, rng)
    trees = distribution.factorisation.sample(size, rng)
    return np.where((rng.random(size) < share)[:, None], instead, trees)


def test_a_small_bias_in_a_long_sentence_is_caught(graphs) -> None:
    """H0 is false at n = 10: three trees in a hundred are forced to have word 1 as root.

    With P(root 1) = 0.1 (uniform weights) its frequency becomes 0.1 + 0.03 * 0.9 = 0.127. 10,000 trees: standard
    deviation sqrt(0.1 * 0.9 / 10,000) = 0.003, so the mean z-score is 9; the threshold 0.001 * 4/7 / 100 arcs asks for
    4.6, missed with probability P(z < -4.4) = 6e-6. Without the bias the same is not caught.
    """
    distribution, rng = graphs.distribution(graphs.uniform(10)), np.random.default_rng(7)
    audit = audited(distribution, biased_trees(distribution, 0.03, 10_000, rng))
    assert (audit.method, audit.evidence) == ("marginals", "arcs")
    assert verdict(audit) == BIASED
    assert verdict(audited(distribution, biased_trees(distribution, 0.0, 10_000, rng))) == UNBIASED


@EITHER
@pytest.mark.parametrize("temperature", [0.97, 1.03])
def test_another_temperature_is_caught(temperature: float, trees: TreeSpace, graphs) -> None:
    """H0 is false at n = 15: 20,000 trees are drawn 3 % too hot or too cold.

    The mean log-probability is off by 0.03 variances, 0.03 * sqrt(20,000) = 4.2 times its standard deviation, 2.8:
    twelve standard deviations, of which Chernoff's bound at 1e-3 / 7 asks for 4.5. (Of projective trees as many.)
    """
    distribution = graphs.over(graphs.gaussian(15, 1.5, seed=3), trees)
    drawn = distribution.tempered(temperature).factorisation.sample(20_000, np.random.default_rng(8))
    audit = audited(distribution, drawn)
    assert np.sign(audit.log_prob_z) == np.sign(1 - temperature)
    assert abs(audit.log_prob_z) > 7
    assert (audit.evidence, verdict(audit)) == ("log-probability", BIASED)


@ALL
def test_the_control_has_the_right_marginals(trees: TreeSpace, graphs) -> None:
    """Exactly, by enumeration: mass moves between trees, and every arc keeps its probability."""
    distribution = graphs.over(graphs.gaussian(5), trees)
    control = SwappedPairs(distribution, 0.0, np.random.default_rng(1))
    oracle, swap = Oracle(distribution), control.swap
    probs = np.exp(oracle.log_probs)
    moved = probs * swap.movable(distribution, oracle.trees)
    target = oracle.trees.copy()
    target[:, swap.second - 1] = np.where(oracle.trees[:, swap.first - 1] == swap.heads[0], *swap.others)
    after, number = probs - moved, {tuple(tree): i for i, tree in enumerate(oracle.trees.tolist())}
    for tree, mass in zip(target.tolist(), moved.tolist(), strict=True):
        after[number.get(tuple(tree), 0)] += mass
    assert 0.5 * np.abs(after - probs).sum() == pytest.approx(moved.sum(), abs=1e-12)
    assert moved.sum() == pytest.approx(control.largest_tv, abs=5 * 0.5 / np.sqrt(50_000))
    assert moved.sum() > 0.01
    for word in range(5):
        heads = oracle.trees[:, word]
        assert np.bincount(heads, after) == pytest.approx(np.bincount(heads, probs), abs=1e-12)


@EITHER
@pytest.mark.parametrize("n", [8, 10, 12])
def test_right_marginals_and_wrong_pairs_are_caught(n: int, trees: TreeSpace, graphs) -> None:
    """H0 is false: 0.03 of the mass is moved, no arc's probability changes. 20,000 trees; in 20 runs of other seeds
    each was caught (benchmarks/README.md)."""
    distribution, rng = graphs.over(graphs.gaussian(n, 1.0, seed=n), trees), np.random.default_rng(9)
    control = SwappedPairs(distribution, 0.03, rng)
    audit = audited(distribution, control.draw(20_000, rng))
    assert (audit.evidence, verdict(audit)) == ("pairs", BIASED)


def test_more_than_there_is_cannot_be_moved(graphs) -> None:
    with pytest.raises(DeptreeError, match="can be exchanged"):
        SwappedPairs(graphs.distribution(graphs.uniform(12)), 0.5, np.random.default_rng(1))


@pytest.mark.parametrize("n", [1, 4, 9])
def test_nothing_drawn_is_undecided(n: int, graphs) -> None:
    audit = Tally(graphs.distribution(graphs.gaussian(n))).audit()
    assert (audit.size, audit.p_value, audit.tv_distance, audit.tv_expected_by_chance) == (0, 1.0, None, None)
    assert verdict(audit, 0.05) == UNDECIDED


def test_where_there_is_one_tree_only_impossible_ones_can_be_found(graphs) -> None:
    """Nine good trees: a sampler with a quarter of impossible ones would show one with 1 - 0.75^9 = 0.92."""
    distribution = graphs.distribution(np.zeros((2, 2)))
    few, enough = (audited(distribution, np.zeros((size, 1), dtype=np.int32)) for size in (8, 9))
    assert (verdict(few), verdict(enough)) == (UNDECIDED, UNBIASED)
    assert detectable_tvs([enough], 0.001)[0] == pytest.approx(1 - 0.1 ** (1 / 9))
    assert (enough.evidence, enough.tests, enough.p_value) == (None, 0, 1.0)


@ALL
def test_of_every_space(trees: TreeSpace, graphs) -> None:
    distribution = graphs.over(graphs.gaussian(9), trees)
    assert verdict(audited(distribution, distribution.factorisation.sample(2000, np.random.default_rng(5)))) == UNBIASED


def test_trees_without_replacement_are_refused(graphs) -> None:
    """They are distinct by design: an audit of independent trees would call any of them biased."""
    distribution = graphs.distribution(graphs.gaussian(4))
    with pytest.raises(DeptreeError, match=r"without replacement \(swor\).*Audit independent trees, as `sample`"):
        Tally(distribution).add(distribution.sample_without_replacement(9, np.random.default_rng(1)))
