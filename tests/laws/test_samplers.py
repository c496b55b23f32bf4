"""Every exact sampler of the register against the exact distribution; and a biased one that has to be caught."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.binomials import binomial_p_values
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.spaces import SPACES
from tests.oracle import Oracle
from tests.pearson import chi_square

pytestmark = pytest.mark.laws

# All tests of a group together fail by chance once in a thousand runs of fresh seeds (Bonferroni).
LEVEL = 0.001
EXPECTED = 5
LARGEST_SIZE = 60_000
SATURATED_SIZE = 4_000  # the first walk may go on for all the steps that so many may take, 200 ms
EXACT = [(sampler, trees) for sampler in SAMPLERS if sampler.exact for trees in SPACES if sampler.serves(trees)]
GRAPHS = ("uniform", "peaked", "saturated", "holes", "one way", "beyond float64")
SMALL = [(*pair, graph, n) for pair in EXACT for graph in GRAPHS for n in (3, 4)]
FEW = [(*pair, graph) for pair in EXACT for graph in ("peaked", "nearly saturated", "holes")]
LONG = [(*pair, kind, n) for pair in EXACT for kind in ("flat", "peaked") for n in (12, 25)]


def called(part):
    return getattr(part, "name", str(part))


def small_graph(graphs, graph, n, trees):
    log_scores = {
        "uniform": lambda: graphs.uniform(n),
        "peaked": lambda: graphs.gaussian(n, 3, seed=n),
        "saturated": lambda: graphs.saturated(n),
        "nearly saturated": lambda: graphs.saturated(n, left=1e-3),
        "holes": lambda: graphs.holes(n, 3, trees.single_root, projective=trees.projective),
        "one way": lambda: graphs.one_way(n, seed=2),
        "beyond float64": lambda: graphs.disconnected(n, 1000.0, seed=1),
    }[graph]()
    return graphs.over(log_scores, trees)


def counts_of(heads, trees):
    index = {tuple(tree): number for number, tree in enumerate(trees.tolist())}
    distinct, times = np.unique(heads, axis=0, return_counts=True)
    counts = np.zeros(len(trees), dtype=np.int64)
    counts[[index[tuple(tree)] for tree in distinct.tolist()]] = times
    return counts


@pytest.mark.parametrize(("sampler", "trees", "graph", "n"), SMALL, ids=called)
def test_trees_follow_the_distribution(sampler, trees, graph, n, graphs):
    """H0: the trees drawn are independent and follow the distribution.

    Chi-square over all trees, the rare ones pooled until expected five times. Size: 5 / (probability of the rarest
    tree), at least 2,000 (n = 4 uniform needs 5 * 64 = 320) and at most 60,000 (saturated 4,000). Threshold:
    0.001 divided by the number of tests, (sampler, tree space) x 6 graphs x 2 lengths: with nine 0.001 / 108.
    """
    distribution = small_graph(graphs, graph, n, trees)
    oracle = Oracle(distribution)
    probs = np.exp(oracle.log_probs)
    probs /= probs.sum()
    at_most = SATURATED_SIZE if graph == "saturated" else LARGEST_SIZE
    size = int(np.clip(np.ceil(EXPECTED / max(probs.min(), 1e-9) * 1.001), 2000, at_most))
    heads = sampler.draw(distribution, size, np.random.default_rng(1000 + n))
    statistic, dof, p_value = chi_square(counts_of(heads, oracle.trees), probs)
    assert p_value > LEVEL / len(SMALL), (statistic, dof)


@pytest.mark.parametrize(("sampler", "trees", "graph"), FEW, ids=called)
def test_few_trees_at_a_time_follow_it_too(sampler, trees, graph, graphs):
    """H0 as above: what is drawn in small portions may be drawn in another way.

    1,500 portions of 5 trees, n = 4, chi-square with rare trees pooled until expected five times. Threshold: 0.001 /
    (number of tests), with nine pairs (sampler, tree space) 0.001 / 27.
    """
    distribution = small_graph(graphs, graph, 4, trees)
    oracle, rng = Oracle(distribution), np.random.default_rng(1500)
    heads = np.concatenate([sampler.draw(distribution, 5, rng) for _ in range(1500)])
    p_value = chi_square(counts_of(heads, oracle.trees), np.exp(oracle.log_probs))[2]
    assert p_value > LEVEL / len(FEW)


def arc_p_values(heads, marginals):
    """Exact two-sided p-values of every arc's frequency, for arcs that are not certain either way."""
    n = heads.shape[1]
    counts = np.zeros((n + 1, n + 1), dtype=np.int64)
    np.add.at(counts, (heads, np.arange(1, n + 1)), 1)
    tested = (marginals > 1e-12) & (marginals < 1 - 1e-12)
    assert (counts[:, 1:] <= len(heads) * (marginals[:, 1:] > 0)).all()
    return binomial_p_values(counts[tested], len(heads), marginals[tested])


def given_arc(distribution, head, dependent):
    log_scores = distribution.log_scores.copy()
    log_scores[np.arange(distribution.n + 1) != head, dependent] = -np.inf
    return TreeDistribution(log_scores, single_root=distribution.single_root).over(distribution.space).marginals()


@pytest.mark.parametrize(("sampler", "trees", "kind", "n"), LONG, ids=called)
def test_arcs_and_pairs_of_arcs_follow_their_distributions(sampler, trees, kind, n, graphs):
    """H0: arc frequencies are binomial with the exact marginals. 20,000 trees (arcs of probability 1/2: +- 0.0035). The
    smallest exact p-value times the number of arcs (up to 25 * 25) against 0.001 / (number of tests): Bonferroni, which
    is Holm's first step.

    H0: given an arc, the other arcs have the exact marginals given it: a sampler may have the right marginals and wrong
    trees. The five arcs of probability nearest 1/3; about 20,000 / 3 trees have each of them. The smallest p-value
    times the number of all pairs tested against 0.001 / (number of tests).
    """
    distribution = graphs.over(graphs.gaussian(n, {"flat": 1.0, "peaked": 4.0}[kind], seed=n), trees)
    heads = sampler.draw(distribution, 20_000, np.random.default_rng(2000 + n))
    marginals = distribution.marginals()
    arcs = np.stack(np.unravel_index(np.argsort(np.abs(marginals - 1 / 3), axis=None)[:5], marginals.shape), axis=1)
    pairs = [arc_p_values(heads[heads[:, d - 1] == h], given_arc(distribution, h, d)) for h, d in arcs.tolist()]
    for p_values in (arc_p_values(heads, marginals), np.concatenate(pairs)):
        assert p_values.min() * len(p_values) > LEVEL / len(LONG)


def test_the_audit_catches_wilson_rc(graphs):
    """H0 is false: on Figure 1's graph wilson-rc draws the three trees with 1/4, 1/4, 1/2 instead of 1/3 each.

    2,000 trees: chi-square with 2 degrees of freedom and noncentrality 2000 * 3 * (1/12^2 + 1/12^2 + 1/6^2) = 250,
    while the threshold 0.001 / (number of tests of this file) asks for about 23: missed with probability < 1e-20.
    """
    distribution = graphs.distribution(graphs.figure1())
    oracle, sampler = Oracle(distribution), SAMPLERS.get("wilson-rc")
    heads = sampler.draw(distribution, 2000, np.random.default_rng(4000))
    counts = counts_of(heads, oracle.trees)
    assert chi_square(counts, np.exp(oracle.log_probs))[2] < LEVEL / (len(SMALL) + 2 * len(LONG))
    assert sampler.bias(distribution) == pytest.approx(1 / 6, abs=1e-15)
    # 1/6 within five standard deviations, sqrt(1/2 * 1/2 / 2000) = 0.0112, of the third tree's share
    assert 0.5 * np.abs(counts / 2000 - 1 / 3).sum() == pytest.approx(1 / 6, abs=0.056)
