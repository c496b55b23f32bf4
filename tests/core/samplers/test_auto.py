"""The default sampler: what its rule takes, and what the rule looks at."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core import walks
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import SAMPLERS

SINGLE = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def expected_steps(distribution: TreeDistribution) -> float:
    """By an inverse: visits to each word from itself on the way to a root, roots by their marginals."""
    n, single_root = distribution.n, distribution.single_root
    weights = np.exp(distribution.log_scores)
    weights[0] *= not single_root
    steps = (weights / np.where(weights.sum(axis=0), weights.sum(axis=0), 1.0)).T
    roots = distribution.root_marginals if single_root else np.eye(n + 1)[0]
    total = 0.0
    for root in np.flatnonzero(roots):
        others = [node for node in range(1, n + 1) if node != root]
        total += roots[root] * np.trace(np.linalg.inv(np.eye(len(others)) - steps[np.ix_(others, others)]))
    return float(total)


@SINGLE
@pytest.mark.parametrize("scale", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_least_steps(seed: int, scale: float, single_root: bool, graphs) -> None:
    """A lower bound; with several roots exact, as no walk comes back from ROOT, and else not far below."""
    for log_scores in (graphs.gaussian(7, scale, seed), graphs.holes(7, seed)):
        distribution = graphs.distribution(log_scores, single_root)
        found, exact = walks.least_steps(distribution), expected_steps(distribution)
        assert exact / 3 < found < exact * (1 + 1e-9)
        if not single_root and np.isfinite(log_scores[0, 1:]).all():
            assert found == pytest.approx(exact, rel=1e-9)


def drawn(name: str, distribution: TreeDistribution, size: int) -> NDArray[np.int32]:
    return SAMPLERS.get(name).draw(distribution, size, np.random.default_rng(4))


@SINGLE
def test_few_trees_come_from_elimination_and_many_from_walks(single_root: bool, graphs) -> None:
    distribution, walks = (
        graphs.distribution(graphs.gaussian(20), single_root),
        "wilson-marginal" if single_root else "wilson",
    )
    for size, name in ((1, "elimination"), (149, "elimination"), (150, walks), (1000, walks)):
        assert np.array_equal(drawn("auto", distribution, size), drawn(name, distribution, size))


@SINGLE
def test_trees_that_walks_are_long_to_come_from_elimination(single_root: bool, graphs) -> None:
    """However certain the trees are: here two words in three choose each other."""
    distribution = graphs.distribution(graphs.saturated(20), single_root)
    assert walks.least_steps(distribution) > 1e6
    assert np.array_equal(drawn("auto", distribution, 1000), drawn("elimination", distribution, 1000))


def test_walks_that_are_longer_than_the_rule_knows_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """From word to word nine steps back for one ahead: 9^40 steps to the root, of which no single arc tells."""
    n = 40
    log_scores = np.full((n + 1, n + 1), -np.inf)
    log_scores[0, n] = 0.0
    for word in range(1, n):
        log_scores[word + 1, word] = np.log(0.1)
        log_scores[max(word - 1, 1), word] = np.log(0.9)
    distribution = TreeDistribution(log_scores)
    assert walks.least_steps(distribution) < n * n / 4
    monkeypatch.setattr(walks, "LIMIT", 10_000)
    monkeypatch.setattr(walks, "LIMIT_PER_TREE", 10)
    heads = drawn("auto", distribution, 100)
    assert (heads == [*range(2, n + 1), 0]).all()
