"""The sampler of projective trees on ten graphs, a million trees each."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, TreeSpace
from tests.oracle import Oracle
from tests.pearson import chi_square

pytestmark = pytest.mark.laws

SIZE = 1_000_000
LEVEL = 0.001


def p_value(trees: TreeSpace, n: int, scale: float, holes: bool, graphs) -> float:
    """Of the chi-square test of a million trees against all trees' probabilities, rare ones pooled."""
    log_scores = graphs.holes(n, n, True, scale, projective=True) if holes else graphs.gaussian(n, scale, seed=n)
    distribution = graphs.over(log_scores, trees)
    oracle = Oracle(distribution)
    heads = SAMPLERS.get("eisner").draw(distribution, SIZE, np.random.default_rng(n))
    base = (n + 1) ** np.arange(n, dtype=np.int64)
    numbers, counts = np.unique(heads @ base, return_counts=True)
    of_trees = oracle.trees.astype(np.int64) @ base
    order = np.argsort(of_trees)
    places = np.searchsorted(of_trees[order], numbers)
    assert (of_trees[order][places] == numbers).all()  # no other trees
    found = np.zeros(len(order), dtype=np.int64)
    found[order[places]] = counts
    return float(chi_square(found, np.exp(oracle.log_probs))[2])


@pytest.mark.slow("size")
def test_a_million_trees_of_ten_graphs(graphs) -> None:
    """H0: the trees are independent draws from their distribution.

    Five lengths, dense and with holes, logits at scales 0.5 to 3, single- and multi-root in turn: ten chi-square tests
    of 1,000,000 trees each. The smallest p-value times ten against 0.001: Holm's first step.
    """
    cases = [
        (n, scale, holes)
        for n, scale in zip((2, 3, 4, 5, 6), (0.5, 1.0, 1.5, 2.0, 3.0), strict=True)
        for holes in (0, 1)
    ]
    p_values = [
        p_value((PROJECTIVE, PROJECTIVE_MULTI)[number % 2], n, scale, bool(holes), graphs)
        for number, (n, scale, holes) in enumerate(cases)
    ]
    assert min(p_values) * len(p_values) > LEVEL, p_values
