"""Estimates from distinct trees against exact expectations, and the arrival times that they rest on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deptree_cli.core.estimate import FUNCTIONALS, Functional, arcs, estimate
from deptree_cli.core.oracle import Oracle
from deptree_cli.core.swor import ALGORITHMS, Algorithm

pytestmark = pytest.mark.laws

LEVEL = 0.001
RUNS = 2_000
EXACT = [algorithm for algorithm in ALGORITHMS if algorithm.exact]
EACH = pytest.mark.parametrize("algorithm", EXACT, ids=lambda algorithm: algorithm.name)
SHAPES = {"flat": 1.0, "peaked": 3.0}


@EACH
@pytest.mark.parametrize("shape", SHAPES)
def test_weighted_arc_marginals_are_unbiased(algorithm: Algorithm, shape: str, graphs) -> None:
    """H0: the mean of an estimated marginal is the marginal. z-scores of all 16 arcs of n = 4 over 2,000 runs of five
    trees, two-sided; threshold 0.001 / (16 arcs x 2 shapes x algorithms)."""
    distribution = graphs.distribution(graphs.gaussian(4, SHAPES[shape], seed=11))
    exact = distribution.marginals()
    rng = np.random.default_rng(8000)
    draws = [algorithm.draw(distribution, 5, rng) for _ in range(RUNS)]
    found = np.array([estimate(d, arcs).unbiased for d in draws])
    possible = exact > 0
    error = found.std(axis=0)[possible] / np.sqrt(RUNS)
    z = (found.mean(axis=0)[possible] - exact[possible]) / error
    assert possible.sum() == 16
    assert 2 * stats.norm.sf(np.abs(z).max()) > LEVEL / (16 * len(SHAPES) * len(EXACT))
    assert (found[:, ~possible] == 0).all()


@pytest.mark.parametrize("functional", FUNCTIONALS, ids=lambda functional: functional.name)
@pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
def test_every_functional_is_estimated_without_bias(functional: Functional, single_root: bool, graphs) -> None:
    """H0: the mean of the estimates is the sum over all trees. z-scores over 2,000 runs of six trees of all those of
    4 words, 64 or 125, two-sided; threshold 0.001 / (2 tree spaces x functionals x numbers that each gives)."""
    distribution = graphs.distribution(graphs.gaussian(4, 1.5, seed=14), single_root)
    oracle, rng = Oracle(distribution), np.random.default_rng(8003)
    exact = np.tensordot(np.exp(oracle.log_probs), functional.function(oracle.trees), axes=1)
    draws = [distribution.sample_without_replacement(6, rng) for _ in range(RUNS)]
    found = np.array([estimate(each, functional.function).unbiased for each in draws])
    error = found.std(axis=0) / np.sqrt(RUNS)
    tested = error > 0
    z = (found.mean(axis=0) - exact)[tested] / error[tested]
    assert 2 * stats.norm.sf(np.abs(z).max()) > LEVEL / (2 * len(FUNCTIONALS) * z.size)
    assert (exact[~tested] == 0).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_standard_errors_are_the_spread(shape: str, graphs) -> None:
    """The mean of the estimated variance against the variance seen: their ratio within 0.25 of 1 for the depth of trees
    of 5 words, 2,000 runs of 40 trees (the ratio's own spread is 0.05 here)."""
    distribution = graphs.distribution(graphs.gaussian(5, SHAPES[shape], seed=12))
    rng = np.random.default_rng(8001)
    draws = [ALGORITHMS.get("auto").draw(distribution, 40, rng) for _ in range(RUNS)]
    found = [estimate(d, FUNCTIONALS.get("depth").function) for d in draws]
    for value, error in (("unbiased", "unbiased_error"), ("normalised", "normalised_error")):
        seen = np.var([getattr(one, value) for one in found])
        stated = np.mean([getattr(one, error) ** 2 for one in found])
        assert stated / seen == pytest.approx(1.0, abs=0.25)


@EACH
def test_arrival_times(algorithm: Algorithm, graphs) -> None:
    """H0: the first tree comes at a time ~ Exp(1), and the tree a comes first of all at a time ~ Exp(p_a) if it is
    drawn before all others, so (first arrival) has mean 1 whichever tree it is. Kolmogorov-Smirnov, 2,000 runs; and
    tau, the third arrival after two trees, against simulated exponential clocks, two-sample. Threshold 0.001 / (2 x
    algorithms)."""
    distribution = graphs.distribution(graphs.gaussian(3, 1.5, seed=13))
    probs = np.exp(Oracle(distribution).log_probs)
    rng = np.random.default_rng(8002)
    draws = [algorithm.draw(distribution, 2, rng) for _ in range(RUNS)]
    clocks = np.sort(rng.exponential(1.0 / probs, size=(RUNS, len(probs))), axis=1)
    firsts = stats.kstest([d.arrivals[0] for d in draws], "expon").pvalue
    taus = stats.ks_2samp([d.tau for d in draws], clocks[:, 2]).pvalue
    assert min(firsts, taus) > LEVEL / (2 * len(EXACT))
    assert all(d.arrivals[0] < d.arrivals[1] < d.tau for d in draws)
