"""P(p-value <= u) <= u for every u: by adding up all outcomes of small experiments, nothing simulated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deptree_cli.core.audit import Enumerated, Summed, combine, omnibus
from deptree_cli.core.distribution import TreeDistribution
from tests.oracle import Oracle

# The sums of up to 5,000 probabilities of outcomes are rounded.
ROUNDING = 1e-9

PROBS = {
    "uniform": np.full(6, 1 / 6),
    "steps": np.array([0.02, 0.05, 0.08, 0.15, 0.3, 0.4]),
    "one large": np.array([0.05, 0.06, 0.07, 0.08, 0.09, 0.65]),
}


@pytest.mark.slow("size")
@pytest.mark.parametrize("name", PROBS)
@pytest.mark.parametrize("size", [4, 9])
def test_all_cells_together(name: str, size: int, excess, monkeypatch: pytest.MonkeyPatch) -> None:
    """C(14, 5) = 2,002 outcomes of 9 draws."""
    monkeypatch.setattr("deptree_cli.core.audit.EXPECTED", 0.05)
    probs = PROBS[name]
    assert omnibus(np.zeros(6), size, probs, 0.0) is not None
    assert excess(lambda counts: omnibus(counts.astype(float), size, probs, 0.0).smallest, probs, size) <= 1 + ROUNDING


@pytest.mark.parametrize("scale", [0.0, 1.5])
@pytest.mark.parametrize("size", [2, 5])
def test_the_whole_family_of_a_small_sentence(scale: float, size: int, graphs, excess) -> None:
    """C(13, 8) = 1,287 outcomes of 5 draws of the 9 trees over three words."""
    tests = Enumerated(graphs.distribution(graphs.gaussian(3, scale, seed=1)))
    p_values = lambda counts: combine(tests.findings(counts, size)).p_value  # noqa: E731
    assert excess(p_values, tests.probs, size) <= 1 + ROUNDING


def test_the_whole_family_of_three_trees(graphs, excess) -> None:
    """C(62, 2) = 1,891 outcomes of 60 draws from Figure 1."""
    tests = Enumerated(graphs.distribution(graphs.figure1()))
    possible = tests.probs > 0

    def p_value(counts) -> float:
        spread = np.zeros(len(tests.probs), dtype=np.int64)
        spread[possible] = counts
        return combine(tests.findings(spread, 60)).p_value

    assert excess(p_value, tests.probs[possible], 60) <= 1 + ROUNDING


@pytest.mark.parametrize("size", [2, 5])
def test_the_mean_log_probability(size: int, graphs, excess) -> None:
    """The same 1,287 outcomes."""
    distribution = graphs.distribution(graphs.gaussian(3, 1.5, seed=1))
    oracle, tests = Oracle(distribution), Summed(distribution)

    def p_values(drawn) -> float:
        counts = tests.empty()
        tests.add(counts, oracle.trees, drawn)
        return tests._log_prob_p(counts, size)

    assert excess(p_values, np.exp(oracle.log_probs), size) <= 1 + ROUNDING


@pytest.mark.parametrize("size", [2, 4])
def test_the_whole_family_of_a_longer_sentence(size: int, graphs, excess, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arcs, pairs and log-probability, as for sentences that are not enumerated, of the 9 trees over three words."""
    monkeypatch.setattr("deptree_cli.core.audit.EXPECTED", 0.01)
    distribution = graphs.distribution(graphs.gaussian(3, 1.0, seed=2))
    oracle, tests = Oracle(distribution), Summed(distribution)

    def p_value(drawn) -> float:
        counts = tests.empty()
        tests.add(counts, oracle.trees, drawn)
        return combine(tests.findings(counts, size)).p_value

    assert excess(p_value, np.exp(oracle.log_probs), size) <= 1 + ROUNDING


@pytest.mark.parametrize("size", [100, 1000])
@pytest.mark.parametrize("expected", [1, 2, 5, 10, 20, 50])
def test_two_trees_at_every_level(expected: int, size: int) -> None:
    """Chi-square exceeds 1e-5 24 times here; the audit's rejections are at most as probable as the level says."""
    prob = expected / size
    tests = Enumerated(TreeDistribution([[0, np.log(prob), np.log1p(-prob)], [0, 0, 0], [0, 0, 0]]))
    first = int(np.argmin(np.abs(tests.probs - prob)))
    counts = np.arange(0, min(size, 4 * expected + 60) + 1)
    p_values = []
    for count in counts.tolist():
        drawn = np.zeros(2, dtype=np.int64)
        drawn[[first, 1 - first]] = count, size - count
        p_values.append(combine(tests.findings(drawn, size)).p_value)
    probs = stats.binom.pmf(counts, size, prob)
    beyond = stats.binom.sf(counts[-1], size, prob)
    for level in 10.0 ** -np.arange(2, 10):
        assert probs[np.array(p_values) < level].sum() + beyond <= level
