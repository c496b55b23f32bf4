"""What quantities come to under distributions and among all trees: exact numbers against enumeration, samples by z."""

import numpy as np
import pytest

from deptree_cli.core import chance
from deptree_cli.core.chance import moments, of_random_trees, sampled, uniform_marginals
from deptree_cli.core.measures import OverArcs
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.quantities import NUMBERS, QUANTITIES
from deptree_cli.core.spaces import SPACES
from tests.oracle import Oracle

NAMES = tuple(NUMBERS.names)
IN_EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)


@IN_EACH
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow("size"))])
def test_sums_over_arcs_of_random_trees_are_means_over_all_trees(trees, n):
    every, exact = all_trees(n, trees), 0
    for name, (mean, *_) in zip(NAMES, of_random_trees(n, trees, NAMES, None, None).tolist(), strict=True):
        quantity = NUMBERS.get(name)
        if quantity.arc_values(n, trees) is None:
            assert np.isnan(mean)
            continue
        exact += 1
        assert mean == pytest.approx(quantity.of_sentence(every).mean(), rel=1e-12, abs=1e-12)
    assert exact == (6 if trees.single_root else 3)
    counts = np.zeros((n + 1, n + 1))
    np.add.at(counts, (every, np.broadcast_to(np.arange(1, n + 1), every.shape)), 1)
    np.testing.assert_allclose(uniform_marginals(n, trees), counts / len(every), atol=1e-13)


@IN_EACH
@pytest.mark.parametrize("n", [2, 3, 7])
def test_formulas_of_long_sentences_are_means_arc_by_arc(trees, n, monkeypatch):
    """But for a quantity without baselines, as another package registers it, however long the sentence is."""
    mine = OverArcs("mine", lambda heads, words: heads)
    monkeypatch.setattr(QUANTITIES, "_entries", {**QUANTITIES._entries, "mine": mine})
    found = []
    for longest, order in ((chance.ARC_BY_ARC, 1), (0, -1)):
        monkeypatch.setattr(chance, "ARC_BY_ARC", longest)
        chance.of_random_trees.cache_clear()
        found.append(of_random_trees(n, trees, (*NAMES, "mine")[::order], None, None)[::order])
    np.testing.assert_allclose(*found, rtol=1e-13)


@IN_EACH
def test_moments_under_a_parser(trees, graphs):
    distribution = graphs.over(graphs.gaussian(5, 2), trees)
    oracle = Oracle(distribution)
    probs = np.exp(oracle.log_probs)
    quantities = [each for each in NUMBERS if each.arc_values(5, trees) is not None]
    for quantity, found in zip(quantities, moments(distribution, quantities, None, None), strict=True):
        values = quantity.of_sentence(oracle.trees)
        mean = probs @ values
        assert found.mean == pytest.approx(mean, rel=1e-12, abs=1e-12)
        assert found.sd == pytest.approx((probs @ (values - mean) ** 2) ** 0.5, rel=1e-9, abs=1e-9)
        assert np.isnan(found.error)
    assert np.isnan(sampled(np.array([3.0]))[1:]).all()  # one sample has no spread


@pytest.mark.slow("statistics")
@IN_EACH
def test_samples_are_within_four_errors(trees):
    """H0: the mean of 50 random trees of 5 words is that of all. |z| < 4 in 500 draws of seeds for each quantity that
    varies; a normal z exceeds 4 in 500 draws with probability 0.03, but there are 20 quantities, so two may."""
    every = all_trees(5, trees)
    names = tuple(name for name in NAMES if NUMBERS.get(name).of_sentence(every).std() > 0)
    exact = np.array([NUMBERS.get(name).of_sentence(every).mean() for name in names])
    beyond = np.zeros(len(names), dtype=np.int64)
    for seed in range(500):
        found = of_random_trees(5, trees, names, 50, seed)
        errors = np.where(np.isnan(found[:, 2]), 1e-9, found[:, 2])
        beyond += np.abs(found[:, 0] - exact) > 4 * np.maximum(errors, 1e-9)
    assert (beyond <= 3).all()  # rare values, such as a crossing, are not normal in 50 trees
    assert beyond.sum() <= 0.001 * 500 * len(names) + 3
