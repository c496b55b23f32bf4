"""Every quantity of the register against its definition over all trees, every gradient against finite differences.

A new entry of the register is tested by itself once its definition stands in `DEFINITIONS`.
"""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.expectations import DISTRIBUTION, FEATURES, HEADS, NUMBER, VECTOR
from deptree_cli.core.quantities import EXPECTED, NUMBERS
from deptree_cli.core.spaces import SINGLE_ROOT, SPACES
from tests.oracle import Oracle

pytestmark = pytest.mark.laws

R = 3  # features


def called(entry):
    return entry.name


EACH = pytest.mark.parametrize("quantity", EXPECTED, ids=called)
EACH_GRADIENT = pytest.mark.parametrize("quantity", [each for each in EXPECTED if each.gradient], ids=called)
SPACE = pytest.mark.parametrize("trees", SPACES, ids=called)
N = pytest.mark.parametrize("n", [1, 2, 4, 5])


def gold_heads(n):
    heads = np.arange(n, dtype=np.int32)
    heads[n // 2] = -1 if n > 2 else 0
    return heads


def inputs(quantity, distribution, graphs, scale):
    n, rng = distribution.n, np.random.default_rng(1)
    by_kind = {
        NUMBER: lambda: 0.7,
        DISTRIBUTION: lambda: graphs.over(graphs.gaussian(n, scale, seed=5), distribution.space),
        HEADS: lambda: gold_heads(n),
        FEATURES: lambda: rng.normal(size=(n + 1, n + 1, R)),
        VECTOR: lambda: rng.normal(size=R),
    }
    return [by_kind[each.kind]() for each in quantity.inputs]


def has_features(quantity):
    return any(each.kind == FEATURES for each in quantity.inputs)


def probs(oracle):
    return np.exp(oracle.log_probs)


def log_probs_of(other, trees):
    return other.log_weights(trees) - Oracle(other).log_z


def wrong(oracle, gold):
    return ((oracle.trees != gold) & (gold >= 0)).sum(axis=1)


def sums(oracle, features):
    return features[oracle.trees, np.arange(1, len(features))].sum(axis=1)


def covariance(oracle, features):
    centred = sums(oracle, features) - probs(oracle) @ sums(oracle, features)
    return centred.T @ (probs(oracle)[:, None] * centred)


# What each quantity is: sums over all trees. Arguments: an oracle and the quantity's inputs.
DEFINITIONS = {
    "entropy": lambda o: -probs(o) @ o.log_probs,
    "renyi": lambda o, alpha: np.log((probs(o) ** alpha).sum()) / (1 - alpha),
    "kl": lambda o, other: probs(o) @ (o.log_probs - log_probs_of(other, o.trees)),
    "cross-entropy": lambda o, other: -probs(o) @ log_probs_of(other, o.trees),
    "risk": lambda o, gold: probs(o) @ wrong(o, gold),
    "attachment": lambda o, gold: 1 - probs(o) @ wrong(o, gold) / max((gold >= 0).sum(), 1),
    "features": lambda o, features: probs(o) @ sums(o, features),
    "covariance": covariance,
    "ge": lambda o, features, target: -0.5 * ((probs(o) @ sums(o, features) - target) ** 2).sum(),
}


def of_trees(name):
    def value(oracle):
        heads = oracle.trees.astype(np.int64)
        starts = np.arange(0, heads.size + 1, heads.shape[1])
        return probs(oracle) @ np.nan_to_num(NUMBERS.get(name).of_trees(heads.ravel(), starts))

    return value


DEFINITIONS |= {name: of_trees(name) for name in EXPECTED.names if name in NUMBERS}
# Means over arcs are sums where trees have as many arcs.
ONE_ROOT = ("mean_length", "head_final", "root_place")


def in_space(name, trees):
    return SINGLE_ROOT if name in ONE_ROOT and not trees.single_root else trees


@EACH
@SPACE
@N
@pytest.mark.parametrize("scale", [1, 10])
def test_values_against_enumeration(quantity, trees, n, scale, graphs):
    distribution = graphs.over(graphs.gaussian(n, scale), in_space(quantity.name, trees))
    given = inputs(quantity, distribution, graphs, scale)
    expected = DEFINITIONS[quantity.name](Oracle(distribution), *given)
    atol = 1e-14 if has_features(quantity) else 1e-12
    np.testing.assert_allclose(quantity.value(distribution, *given), expected, rtol=1e-10, atol=atol)


def finite_differences(value, at, step=1e-4):
    """Central differences of fourth order in every allowed arc's log-score, (..., n+1, n+1)."""
    gradient = np.zeros((*np.shape(value(at)), at.n + 1, at.n + 1))

    def moved(arc, change):
        scores = at.log_scores.copy()
        scores[arc] += change
        return value(TreeDistribution(scores, single_root=at.single_root).over(at.space))

    for arc in zip(*np.nonzero(np.isfinite(at.log_scores)), strict=True):
        near, far = moved(arc, step) - moved(arc, -step), moved(arc, 2 * step) - moved(arc, -2 * step)
        gradient[..., arc[0], arc[1]] = (8 * near - far) / (12 * step)
    return gradient


@EACH_GRADIENT
@SPACE
@N
@pytest.mark.parametrize("scale", [1, 10])
def test_gradients_against_finite_differences(quantity, trees, n, scale, graphs):
    distribution = graphs.over(graphs.gaussian(n, scale, seed=2), in_space(quantity.name, trees))
    given = inputs(quantity, distribution, graphs, scale)
    expected = finite_differences(lambda moved: quantity.value(moved, *given), distribution)
    atol = 1e-8 if has_features(quantity) else 1e-8 * scale
    np.testing.assert_allclose(quantity.gradient(distribution, *given), expected, rtol=1e-6, atol=atol)


@pytest.mark.parametrize("quantity", [each for each in EXPECTED if each.gradient_other], ids=called)
@SPACE
@N
def test_gradients_in_the_other_distribution(quantity, trees, n, graphs):
    distribution = graphs.over(graphs.gaussian(n), trees)
    given = inputs(quantity, distribution, graphs, 1)
    place = [each.kind for each in quantity.inputs].index(DISTRIBUTION)

    def value(other):
        return quantity.value(distribution, *given[:place], other, *given[place + 1 :])

    expected = finite_differences(value, given[place])
    np.testing.assert_allclose(quantity.gradient_other(distribution, *given), expected, rtol=1e-6, atol=1e-9)


@EACH_GRADIENT
@SPACE
def test_forbidden_arcs_have_gradient_0(quantity, trees, graphs):
    distribution = graphs.over(graphs.holes(5, 3, trees.single_root), in_space(quantity.name, trees))
    gradient = quantity.gradient(distribution, *inputs(quantity, distribution, graphs, 1))
    assert np.isfinite(gradient).all()
    forbidden = np.isneginf(distribution.log_scores)
    assert forbidden.sum() > 11
    assert not gradient[..., forbidden].any()


@EACH
@SPACE
@pytest.mark.parametrize("scale", [100, 1000])
def test_finite_and_in_range_on_saturated_scores(quantity, trees, scale, graphs):
    for seed in range(5):
        distribution = graphs.over(graphs.gaussian(12, scale, seed=seed), in_space(quantity.name, trees))
        given = inputs(quantity, distribution, graphs, scale)
        value = quantity.value(distribution, *given)
        assert (np.abs(value) < 1e6).all()
        assert has_features(quantity) or value >= 0
        if quantity.gradient:
            assert np.isfinite(quantity.gradient(distribution, *given)).all()
