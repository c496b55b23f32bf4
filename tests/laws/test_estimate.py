"""Estimates from different trees against exact expectations, and the arrival times that they rest on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deptree_cli.core.estimate import FUNCTIONALS, arcs, estimate
from deptree_cli.core.oracle import Oracle
from deptree_cli.core.swor import ALGORITHMS

pytestmark = pytest.mark.laws

LEVEL = 0.001
RUNS = 2_000
EACH = pytest.mark.parametrize("name", sorted(ALGORITHMS))
SHAPES = {"flat": 1.0, "peaked": 3.0}


@EACH
@pytest.mark.parametrize("shape", SHAPES)
def test_weighted_arc_marginals_are_unbiased(name: str, shape: str, graphs) -> None:
    """H0: the mean of an estimated marginal is the marginal. z-scores of all 16 arcs of n = 4 over 2,000 runs of five
    trees, two-sided; threshold 0.001 / (16 arcs x 2 shapes x algorithms)."""
    sentence = graphs.sentence(graphs.gaussian(4, SHAPES[shape], seed=11))
    exact = sentence.elimination.marginals()
    rng = np.random.default_rng(8000)
    draws = [ALGORITHMS[name].draw(sentence, 5, rng) for _ in range(RUNS)]
    found = np.array([estimate(d.heads, d.log_probs, d.tau, arcs).unbiased for d in draws])
    possible = exact > 0
    error = found.std(axis=0)[possible] / np.sqrt(RUNS)
    z = (found.mean(axis=0)[possible] - exact[possible]) / error
    assert possible.sum() == 16
    assert 2 * stats.norm.sf(np.abs(z).max()) > LEVEL / (16 * len(SHAPES) * len(ALGORITHMS))
    assert (found[:, ~possible] == 0).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_standard_errors_tell_the_spread(shape: str, graphs) -> None:
    """The mean of the estimated variance against the variance seen: their ratio within 0.25 of 1 for the depth of trees
    of 5 words, 2,000 runs of 40 trees (the ratio's own spread is 0.05 here)."""
    sentence = graphs.sentence(graphs.gaussian(5, SHAPES[shape], seed=12))
    rng = np.random.default_rng(8001)
    draws = [ALGORITHMS["auto"].draw(sentence, 40, rng) for _ in range(RUNS)]
    found = [estimate(d.heads, d.log_probs, d.tau, FUNCTIONALS["depth"]) for d in draws]
    for value, error in (("unbiased", "unbiased_error"), ("normalised", "normalised_error")):
        seen = np.var([getattr(one, value) for one in found])
        told = np.mean([getattr(one, error) ** 2 for one in found])
        assert told / seen == pytest.approx(1.0, abs=0.25)


@EACH
def test_arrival_times(name: str, graphs) -> None:
    """H0: the first tree comes at a time ~ Exp(1), and the tree a comes first of all at a time ~ Exp(p_a) if it is
    drawn before all others, so (first arrival) has mean 1 whichever tree it is. Kolmogorov-Smirnov, 2,000 runs; and
    tau, the third arrival after two trees, against simulated exponential clocks, two-sample. Threshold 0.001 / (2 x
    algorithms)."""
    sentence = graphs.sentence(graphs.gaussian(3, 1.5, seed=13))
    probs = np.exp(Oracle(sentence).log_probs)
    rng = np.random.default_rng(8002)
    draws = [ALGORITHMS[name].draw(sentence, 2, rng) for _ in range(RUNS)]
    clocks = np.sort(rng.exponential(1.0 / probs, size=(RUNS, len(probs))), axis=1)
    firsts = stats.kstest([d.arrivals[0] for d in draws], "expon").pvalue
    taus = stats.ks_2samp([d.tau for d in draws], clocks[:, 2]).pvalue
    assert min(firsts, taus) > LEVEL / (2 * len(ALGORITHMS))
    assert all(d.arrivals[0] < d.arrivals[1] < d.tau for d in draws)
