"""Two distributions side by side: Jensen-Shannon against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.combination import jensen_shannon
from deptree_cli.core.partition import partition
from deptree_cli.core.spaces import PROJECTIVE, SPACES, TreeSpace
from tests.oracle import Oracle

ALL = pytest.mark.parametrize("trees", SPACES, ids=SPACES.names)


@ALL
@pytest.mark.parametrize("scale", [1, 5])
def test_jensen_shannon(trees: TreeSpace, scale: int, graphs) -> None:
    """H0: the estimate is right; 4,000 trees of each side; within five of its standard errors, and those below 0.01."""
    first, second = (graphs.over(graphs.gaussian(4, scale, seed=seed), trees) for seed in (1, 2))
    oracle = Oracle(first)
    p, q = np.exp(oracle.log_probs), np.exp(second.log_probs(oracle.trees))
    exact = 0.5 * (p @ np.log(2 * p / (p + q)) + q @ np.log(2 * q / (p + q)))
    found, error = jensen_shannon(first, second, 4000, np.random.default_rng(3))
    assert error < 0.01
    assert abs(found - exact) < 5 * error


def test_of_the_same_and_of_what_has_nothing_in_common(graphs) -> None:
    distribution = graphs.distribution(graphs.gaussian(4))
    same = jensen_shannon(distribution, distribution, 10, np.random.default_rng(1))
    assert same == pytest.approx((0.0, 0.0), abs=1e-12)
    ones, sevens = (graphs.distribution(np.where(np.eye(3, k=1) > 0, weight, -np.inf)) for weight in (0.0, 7.0))
    assert not np.array_equal(ones.log_scores, sevens.log_scores)  # but the one tree that each has is the same
    assert jensen_shannon(ones, sevens, 5, np.random.default_rng(1))[0] == pytest.approx(0.0)
    chain, star = np.full((4, 4), -np.inf), np.full((4, 4), -np.inf)
    chain[0, 1] = chain[1, 2] = chain[2, 3] = 0.0
    star[0, 1] = star[1, 2] = star[1, 3] = 0.0
    chain, star = graphs.distribution(chain), graphs.distribution(star)
    assert jensen_shannon(chain, star, 5, np.random.default_rng(1)) == pytest.approx((np.log(2), 0.0))
    assert jensen_shannon(chain, star, 1, np.random.default_rng(1))[1] == np.inf


def test_of_some_trees_and_of_all(graphs) -> None:
    """q is p without crossing arcs, a share s of p: then JS is known. H0 and threshold as above."""
    every = graphs.distribution(graphs.gaussian(5))
    share = partition(every).projective_mass
    assert 0.1 < share < 0.9
    exact = share * np.log(2 * share / (1 + share)) + (1 - share) * np.log(2) + np.log(2 / (1 + share))
    found, error = jensen_shannon(every, every.over(PROJECTIVE), 4000, np.random.default_rng(3))
    assert error < 0.01
    assert abs(found - 0.5 * exact) < 5 * error


def test_shifted_columns_are_the_same_distribution(graphs) -> None:
    """Scores that differ, probabilities that do not: no divergence beyond rounding."""
    log_scores = graphs.gaussian(5)
    first, second = graphs.distribution(log_scores), graphs.distribution(log_scores + np.arange(6) * 3.0)
    assert jensen_shannon(first, second, 50, np.random.default_rng(1)) == pytest.approx((0.0, 0.0), abs=1e-12)
