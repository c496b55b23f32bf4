"""The audit's statistics against brute force, its errors under the null hypothesis, and what it catches."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from deptree_cli.core.audit import (
    BIASED,
    EXPECTED,
    UNBIASED,
    UNDECIDED,
    Audit,
    Tally,
    binomial_p_values,
    chi_square,
    holm,
    mean_deviation,
)
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.oracle import Oracle

Float = NDArray[np.float64]


def pmf(k: int, size: int, p: float) -> float:
    """Binomial probability by its formula."""
    return math.comb(size, k) * p**k * (1 - p) ** (size - k)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.93])
def test_binomial_p_values_by_adding_up_tails(p: float) -> None:
    size = 12
    for count in range(size + 1):
        lower = math.fsum(pmf(k, size, p) for k in range(count + 1))
        upper = math.fsum(pmf(k, size, p) for k in range(count, size + 1))
        found = binomial_p_values(np.array([count]), size, np.array([p]))[0]
        assert found == pytest.approx(min(1.0, 2 * min(lower, upper)), rel=1e-11)


def test_binomial_p_values_of_certain_and_impossible_arcs() -> None:
    counts, probs = np.array([0, 1, 50, 49]), np.array([0.0, 0.0, 1.0, 1.0])
    assert binomial_p_values(counts, 50, probs).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert binomial_p_values(np.array([0]), 0, np.array([0.4])).tolist() == [1.0]


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_mean_deviation_by_adding_up(size: int) -> None:
    for p in (0.0, 1e-6, 0.1, 1 / 3, 0.5, 0.9, 1.0):
        expected = math.fsum(pmf(k, size, p) * abs(k / size - p) for k in range(size + 1))
        assert mean_deviation(np.array([p]), size)[0] == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert mean_deviation(np.array([0.2, 0.8]), 0).tolist() == [0.0, 0.0]


def naive_pools(probs: Float, size: int) -> list[list[int]]:
    """Rare cells into one, smallest first, until it and every other is expected often enough."""
    order = [int(index) for index in np.argsort(probs, kind="stable")]
    pool = [order.pop(0)]
    while order and (probs[pool].sum() * size < EXPECTED or probs[order[0]] * size < EXPECTED):
        pool.append(order.pop(0))
    return [pool, *([index] for index in order)]


@given(st.integers(2, 30), st.integers(1, 3000), st.integers(0, 10**6))
def test_chi_square_against_a_naive_one(cells: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(cells, 0.5))
    counts = rng.multinomial(size, probs)
    pools = naive_pools(probs, size)
    statistic, dof, p_value = chi_square(counts, probs)
    if len(pools) == 1:
        assert dof <= 1
        best = int(np.argmax(probs))
        expected = binomial_p_values(np.array([size - counts[best]]), size, np.array([1 - probs[best]]))[0]
        assert p_value == pytest.approx(expected, rel=1e-6, abs=1e-12)
        return
    observed = [counts[pool].sum() for pool in pools]
    expectation = np.array([probs[pool].sum() for pool in pools])
    naive = stats.chisquare(observed, expectation / expectation.sum() * size)
    assert dof == len(pools) - 1
    assert statistic == pytest.approx(naive.statistic, rel=1e-9, abs=1e-9)
    assert p_value == pytest.approx(naive.pvalue, rel=1e-8, abs=1e-12)


def test_chi_square_without_draws_or_choice() -> None:
    assert chi_square(np.array([0, 0]), np.array([0.5, 0.5])) == (0.0, 0, 1.0)
    assert chi_square(np.array([100]), np.array([1.0])) == (0.0, 0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_procedure_says(p_values: list[float], alpha: float) -> None:
    levels = holm(p_values, alpha)
    found = [p < level for p, level in zip(p_values, levels, strict=True)]
    naive, going = [False] * len(p_values), True
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        going = going and p_values[index] < alpha / (len(p_values) - rank)
        naive[index] = going
    assert found == naive


def test_holm_by_hand() -> None:
    assert holm([0.03, 0.001, 0.02], 0.05) == [0.05, pytest.approx(0.05 / 3), 0.025]
    assert holm([0.02, 0.03], 0.05) == [pytest.approx(0.025), 0.05]
    assert holm([0.03, 0.04], 0.05) == [0.0, 0.0]
    assert holm([], 0.05) == []


def test_verdicts() -> None:
    audit = Audit("enumeration", 10, 1.0, 1, 0.02, 0.1, 0.1, 0)
    assert (audit.verdict(0.05), audit.verdict(0.01), audit.verdict(0.0)) == (BIASED, UNBIASED, UNBIASED)
    assert Audit("enumeration", 0, 0.0, 0, 1.0, 0.0, 0.0, 0).verdict(0.05) == UNDECIDED


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
    assert audit.verdict(1e-9) == BIASED


@pytest.mark.parametrize("n", [4, 9])
def test_times_are_repetitions(n: int, graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(n))
    trees = distribution.factorisation.sample(60, np.random.default_rng(2))
    times = np.random.default_rng(3).integers(0, 4, size=60)
    at_once, one_by_one = Tally(distribution), Tally(distribution)
    at_once.add(trees, times)
    for tree in np.repeat(trees, times, axis=0):
        one_by_one.add(tree[None])
    assert at_once.audit() == one_by_one.audit()
    assert at_once.size == times.sum()


def test_distances_by_hand(graphs) -> None:
    """Figure 1's trees with probability 1/3 each, drawn 3, 1 and 0 times: distance 3/4 - 1/3."""
    tally = Tally(graphs.distribution(graphs.figure1()))
    tally.add(np.array([[0, 1, 1], [0, 3, 1]]), np.array([3, 1]))
    audit = tally.audit()
    assert audit.tv_distance == pytest.approx(3 / 4 - 1 / 3)
    expected = 1.5 * math.fsum(pmf(k, 4, 1 / 3) * abs(k / 4 - 1 / 3) for k in range(5))
    assert audit.tv_expected_by_chance == pytest.approx(expected)
    assert (audit.method, audit.size, audit.impossible) == ("enumeration", 4, 0)


def test_the_distance_expected_by_chance_is_met_on_average(graphs) -> None:
    """H0: the mean distance of 300 unbiased samples of 200 trees is the one announced. A tree moves a
    distance by 1/200 at most, so its variance is at most 200 * (1/200)^2 / 4 (Efron and Stein), its standard deviation
    0.0354, that of the mean 0.00204: within 0.0102, five of those."""
    distribution, rng = graphs.distribution(graphs.gaussian(3)), np.random.default_rng(4)
    audits = [audit_of(distribution, 200, rng) for _ in range(300)]
    distances = np.array([audit.tv_distance for audit in audits])
    assert abs(distances.mean() - audits[0].tv_expected_by_chance) < 0.0102


def audit_of(distribution: TreeDistribution, size: int, rng: np.random.Generator) -> Audit:
    """Of trees that are exact by enumeration, or of the elimination sampler."""
    tally = Tally(distribution)
    if distribution.n <= 5:
        oracle = Oracle(distribution)
        probs = np.exp(oracle.log_probs)
        tally.add(oracle.trees[rng.choice(len(probs), size=size, p=probs / probs.sum())])
    else:
        tally.add(distribution.factorisation.sample(size, rng))
    return tally.audit()


def test_chi_square_rejects_as_often_as_it_says(graphs) -> None:
    """H0: p < 0.05 in 5 % of unbiased samples. 300 audits of 500 trees: rejections are Binomial(300, 0.05), mean 15,
    standard deviation 3.8; outside [2, 34] with probability about 2e-5 (the rest is for chi-square's approximation)."""
    distribution, rng = graphs.distribution(graphs.gaussian(3)), np.random.default_rng(5)
    p_values = np.array([audit_of(distribution, 500, rng).p_value for _ in range(300)])
    assert stats.binom.cdf(1, 300, 0.05) + stats.binom.sf(34, 300, 0.05) < 2e-5
    assert 2 <= (p_values < 0.05).sum() <= 34
    assert 0.4 < p_values.mean() < 0.6  # 1/2 within six times 1 / sqrt(12 * 300) = 0.017


def test_marginals_reject_no_more_often_than_they_say(graphs) -> None:
    """H0: p < 0.05 in at most 5 % of unbiased samples; correction for arcs and discreteness make it fewer. 300 audits
    of 300 trees of ten words: more than 34 rejections with probability below 2e-5."""
    distribution, rng = graphs.distribution(graphs.gaussian(10)), np.random.default_rng(6)
    p_values = np.array([audit_of(distribution, 300, rng).p_value for _ in range(300)])
    assert (p_values < 0.05).sum() <= 34
    assert (p_values <= 1.0).all()


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
    deviation sqrt(0.1 * 0.9 / 10,000) = 0.003, so the mean z-score is 9; the threshold 0.001 / 100 arcs asks for 4.4,
    missed with probability P(z < -4.6) = 2e-6. Without the bias the same is not caught.
    """
    distribution, rng = graphs.distribution(graphs.uniform(10)), np.random.default_rng(7)
    tally = Tally(distribution)
    tally.add(biased_trees(distribution, 0.03, 10_000, rng))
    audit = tally.audit()
    assert audit.method == "marginals"
    assert audit.dof == 100
    assert audit.verdict(0.001) == BIASED
    fair = Tally(distribution)
    fair.add(biased_trees(distribution, 0.0, 10_000, rng))
    assert fair.audit().verdict(0.001) == UNBIASED


def test_nothing_drawn_is_undecided(graphs) -> None:
    for n in (4, 9):
        audit = Tally(graphs.distribution(graphs.gaussian(n))).audit()
        assert audit.size == 0
        assert audit.p_value == 1.0
        assert audit.verdict(0.05) == UNDECIDED
