"""Expectations at their limits, by hand; features that do not count; the spread of the risk. Laws: tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core import expectations
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import FEATURES
from deptree_cli.core.intervals import normal_interval
from deptree_cli.core.quantities import EXPECTED
from deptree_cli.core.spaces import SPACES
from tests.oracle import Oracle


def test_a_divergence_from_what_is_impossible_there_is_infinite(graphs):
    distribution, other = graphs.distribution(graphs.gaussian(3)), graphs.distribution(graphs.holes(3, 1, True))
    assert expectations.kl(distribution, other) == np.inf
    assert expectations.cross_entropy(distribution, other) == np.inf
    assert np.isnan(expectations.kl_gradient(distribution, other)).all()
    assert expectations.kl(other, distribution) < np.inf


def test_arcs_that_are_impossible_in_both_do_not_count(graphs):
    chain = np.full((4, 4), -np.inf)
    chain[0, 1] = chain[1, 2] = chain[2, 3] = 0.0
    useless = chain.copy()
    useless[3, 2] = 5.0  # 2 is the head of 3: a cycle
    assert expectations.kl(graphs.distribution(useless), graphs.distribution(chain)) == 0.0
    assert np.isfinite(expectations.kl_gradient(graphs.distribution(useless), graphs.distribution(chain))).all()


def test_limits(graphs):
    distribution = graphs.distribution(graphs.gaussian(5))
    assert expectations.kl(distribution, distribution) == 0.0
    assert expectations.renyi(distribution, 1.0) == expectations.entropy(distribution)
    assert np.array_equal(expectations.renyi_gradient(distribution, 1.0), expectations.entropy_gradient(distribution))
    assert expectations.renyi(distribution, 1 + 1e-5) == pytest.approx(expectations.entropy(distribution), rel=1e-4)
    assert expectations.entropy(graphs.distribution(np.zeros((5, 5)))) == pytest.approx(3 * np.log(4))


@pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
def test_renyi_falls_with_its_order(single_root, graphs):
    distribution = graphs.distribution(graphs.gaussian(5, 2), single_root)
    found = [expectations.renyi(distribution, order) for order in (1e-6, 0.3, 1.0, 2.0, 50.0, 1000.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(np.log(5**4 if single_root else 6**4), rel=1e-4)
    assert found[-1] == pytest.approx(-distribution.log_prob(distribution.argmax()), rel=2e-3)


OF_FEATURES = [
    (quantity, function)
    for quantity in EXPECTED
    if FEATURES in [needed.kind for needed in quantity.inputs]
    for function in filter(None, (quantity.value, quantity.gradient))
]


def of_features(distribution, features):
    for quantity, function in OF_FEATURES:
        yield function(distribution, features, *[np.ones(2)] * (len(quantity.inputs) - 1))


@pytest.mark.parametrize("value", [np.nan, -np.inf, np.inf])
def test_features_are_finite_where_trees_have_the_arc_and_do_not_count_elsewhere(graphs, value):
    """Forbidden ones, loops, arcs to ROOT, and an allowed arc that no tree has: 3 is the head of 2."""
    scores = graphs.gaussian(4)
    scores[:, 3], scores[2, 3] = -np.inf, 0.0
    distribution = graphs.distribution(scores)
    features = np.random.default_rng(1).normal(size=(5, 5, 2))
    expected = list(of_features(distribution, np.where(distribution.support[..., None], features, 0.0)))
    features[~distribution.support] = value
    assert len(expected) == 5
    for found, wanted in zip(of_features(distribution, features), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    features[1, 2, 0] = value
    for quantity, function in OF_FEATURES:
        with pytest.raises(DeptreeError, match="a feature of an arc that some tree has is not a finite number"):
            function(distribution, features, *[np.ones(2)] * (len(quantity.inputs) - 1))
    with pytest.raises(DeptreeError, match="a target is not a finite number"):
        EXPECTED.get("ge").value(distribution, np.ones((5, 5, 2)), np.array([0.0, value]))


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_variance_of_the_risk_by_enumeration(space, n):
    distribution = TreeDistribution(np.random.default_rng(n).normal(0, 2, (n + 1, n + 1)), space=space)
    oracle, heads = Oracle(distribution), distribution.argmax()
    for gold in (heads, np.where(np.arange(n) == 0, -1, heads)):
        wrong, probs = ((oracle.trees != gold) & (gold >= 0)).sum(axis=1), np.exp(oracle.log_probs)
        expected = probs @ (wrong - probs @ wrong) ** 2
        assert expectations.risk_variance(distribution, gold) == pytest.approx(expected, abs=1e-12)


def test_an_interval_from_the_variance_of_the_risk_covers():
    """40 sentences of 12 words, gold trees drawn 400 times from their own distributions: 380 of the scores should be in
    the interval; 4 standard deviations are 17.4. Half the width must not do."""
    random = np.random.default_rng(9)
    right, mean, variance = np.zeros(400), 0.0, 0.0
    for number in range(40):
        distribution = TreeDistribution(random.normal(0, 2, (13, 13)), id=str(number))
        heads = distribution.argmax()
        right += (distribution.sample(400, seed=9) == heads).sum(axis=1)
        mean += 12 - expectations.risk(distribution, heads)
        variance += expectations.risk_variance(distribution, heads)
    low, high = normal_interval(mean, variance, 0.95)
    assert 362 <= ((low <= right) & (right <= high)).sum() <= 397
    assert (np.abs(right - mean) <= (high - low) / 4).sum() < 362
