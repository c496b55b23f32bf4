"""Every tree space of the register answers the questions asked of one, and answers them as enumeration does."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.spaces import (
    MULTI_ROOT,
    PROJECTIVE,
    PROJECTIVE_MULTI,
    SINGLE_ROOT,
    SPACES,
    Factorisation,
    TreeSpace,
    space,
)
from tests.oracle import Oracle

EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
Float = NDArray[np.float64]


GRAPHS = {
    "gaussian": lambda graphs, n: graphs.gaussian(n, 3, seed=n),
    "peaked": lambda graphs, n: graphs.gaussian(n, 80, seed=n),
    "holes": lambda graphs, n: graphs.holes(n, 2, single_root=True),
    "one way": lambda graphs, n: graphs.one_way(n, seed=n),
    "an improbable root": lambda graphs, n: (
        graphs.gaussian(n) - 900.0 * np.outer(np.arange(n + 1) == 0, np.arange(n + 1) == n)
    ),
    "beyond float64": lambda graphs, n: graphs.disconnected(n, 1000.0, seed=n),
}


@pytest.fixture(params=[(n, kind) for n in (1, 2, 3, 4) for kind in GRAPHS], ids=str)
def log_scores(request: pytest.FixtureRequest, graphs) -> Float:
    """Scores of sentences to enumerate, with trees in every space."""
    n, kind = request.param
    return GRAPHS[kind](graphs, n)


def distribution_over(trees: TreeSpace, log_scores: Float) -> ArcFactored:
    """By way of the space that every matrix here has trees of."""
    return ArcFactored(log_scores).over(trees)


def test_entries_are_complete() -> None:
    assert SPACES.names == [trees.name for trees in SPACES]
    assert len({trees.trees for trees in SPACES}) == len(SPACES)
    assert [space(True), space(False)] == [SINGLE_ROOT, MULTI_ROOT]
    assert [space(True, True), space(False, True)] == [PROJECTIVE, PROJECTIVE_MULTI]
    assert space() is SINGLE_ROOT
    for sampler in SAMPLERS:
        assert set(sampler.spaces) <= set(SPACES.names)


@EACH
def test_a_space_is_a_value(trees: TreeSpace) -> None:
    twin = pickle.loads(pickle.dumps(trees))
    assert twin == trees
    assert hash(twin) == hash(trees)
    assert [other for other in SPACES if other == trees] == [trees]
    with pytest.raises(AttributeError):
        trees.single_root = not trees.single_root  # type: ignore[misc]


@EACH
def test_contains(trees: TreeSpace) -> None:
    """Its trees and no other heads, out of every tuple of numbers from -1 to n + 1."""
    for n in (1, 2, 3):
        heads = np.stack(np.meshgrid(*[np.arange(-1, n + 2)] * n, indexing="ij"), axis=-1).reshape(-1, n)
        found = heads[trees.contains(heads)]
        assert found.tolist() == all_trees(n, trees).tolist()
        roots = (found == 0).sum(axis=1)
        assert (roots == 1).all() if trees.single_root else (roots >= 1).all()


def test_long_chains_and_long_cycles_in_integers_of_any_kind() -> None:
    chain = np.arange(100)[None]
    cycle = np.append(chain[:, 1:], [[100]], axis=1)
    cycle[0, -1] = 1
    for dtype in (np.int8, np.uint8, np.int32, np.uint64):
        assert SINGLE_ROOT.contains(chain.astype(dtype)).all()
        assert not MULTI_ROOT.contains(cycle.astype(dtype)).any()
        assert SINGLE_ROOT.contains(chain[:0].astype(dtype)).tolist() == []


@EACH
def test_sums(trees: TreeSpace, log_scores: Float) -> None:
    oracle, factors = Oracle(distribution_over(trees, log_scores)), trees.factorise(log_scores)
    assert factors.log_z == pytest.approx(oracle.log_z, rel=1e-14, abs=1e-13)
    np.testing.assert_allclose(factors.marginals(), oracle.marginals(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(factors.root_marginals(), oracle.marginals()[0], rtol=0, atol=1e-12)


def test_log_root_marginals(log_scores: Float) -> None:
    """Of every word, however unlikely as a root, without leaving the logarithms; those as large as log Z cancel."""
    oracle = Oracle(distribution_over(SINGLE_ROOT, log_scores))
    log_probs = oracle.log_probs - np.logaddexp.reduce(oracle.log_probs)
    exact = [np.logaddexp.reduce(log_probs[heads == 0], initial=-np.inf) for heads in oracle.trees.T]
    found = SINGLE_ROOT.factorise(log_scores).log_root_marginals()[1:]
    np.testing.assert_allclose(found, exact, rtol=1e-14, atol=1e-13 + 1e-15 * abs(oracle.log_z))


@EACH
def test_arc_covariance(trees: TreeSpace, log_scores: Float) -> None:
    """Cov(1[arc], sum of values) over trees by its definition; values of forbidden arcs do not count."""
    oracle, factors = Oracle(distribution_over(trees, log_scores)), trees.factorise(log_scores)
    values = np.random.default_rng(1).normal(size=log_scores.shape)
    probs, words = np.exp(oracle.log_probs), np.arange(1, len(log_scores))
    sums = values[oracle.trees, words].sum(axis=1)
    expected = np.zeros_like(values)
    for tree, weight in zip(oracle.trees, probs * (sums - probs @ sums), strict=True):
        expected[tree, words] += weight
    np.testing.assert_allclose(factors.arc_covariance(values), expected, rtol=0, atol=1e-12)


@EACH
def test_sample(trees: TreeSpace, log_scores: Float) -> None:
    """Only its trees, over allowed arcs; the laws are in tests/laws."""
    heads = trees.factorise(log_scores).sample(50, np.random.default_rng(1))
    assert heads.dtype == np.int32
    assert heads.shape == (50, len(log_scores) - 1)
    assert trees.contains(heads).all()
    assert np.isfinite(log_scores[heads, np.arange(1, len(log_scores))]).all()


@EACH
def test_maximum_tree(trees: TreeSpace, log_scores: Float) -> None:
    oracle = Oracle(distribution_over(trees, log_scores))
    heads, total = trees.maximum_tree(log_scores)
    words = np.arange(1, len(log_scores))
    assert trees.contains(heads[None]).all()
    assert total == pytest.approx(log_scores[heads, words].sum(), rel=1e-14, abs=1e-12)
    assert total == pytest.approx(log_scores[oracle.trees, words].sum(axis=1).max(), rel=1e-12, abs=1e-9)


@EACH
def test_best_trees(trees: TreeSpace, log_scores: Float) -> None:
    """All trees, once each, in the order of their sums; fewer are the first of more."""
    distribution = distribution_over(trees, log_scores)
    sums = np.sort(distribution.log_weights(Oracle(distribution).trees))[::-1]
    for size in (0, 1, 2, 7, len(sums), len(sums) + 5):
        found = trees.best_trees(log_scores, size)
        assert found.dtype == np.int32
        assert found.shape == (min(size, len(sums)), len(log_scores) - 1)
        assert trees.contains(found).all()
        assert len({tuple(tree) for tree in found.tolist()}) == len(found)
        np.testing.assert_allclose(distribution.log_weights(found), sums[:size], rtol=1e-14, atol=1e-12)


@pytest.mark.slow("size")
@EACH
def test_support_and_what_goes_beyond_other_spaces(trees: TreeSpace) -> None:
    """The arcs of its trees, exactly, on 400 random patterns; and whether it has trees that another space has not.

    Patterns that have none of its trees, and only these, are refused.
    """
    rng, patterns, refused = np.random.default_rng(6), 0, 0
    while patterns < 400:
        n = int(rng.integers(1, 5))
        allowed = rng.random((n + 1, n + 1)) < rng.uniform(0.2, 0.9)
        allowed[:, 0] = False
        np.fill_diagonal(allowed, False)
        every, words = all_trees(n, trees), np.arange(1, n + 1)
        possible = every[allowed[every, words].all(axis=1)]
        if not len(possible):
            with pytest.raises(DeptreeError, match="is possible"):
                trees.check_feasible(allowed)
            refused += 1
            continue
        trees.check_feasible(allowed)
        patterns += 1
        used = np.zeros_like(allowed)
        used[possible, words] = True
        assert (trees.support(allowed) == used).all()
        for other in SPACES:
            assert trees.goes_beyond(other, allowed) == (not other.contains(possible).all())
    assert refused > 50


@EACH
def test_log_probabilities_of_trees(trees: TreeSpace, log_scores: Float) -> None:
    """Scores of some thousands, as those beyond float64's range, are rounded to 1e-12."""
    oracle, factors = Oracle(distribution_over(trees, log_scores)), trees.factorise(log_scores)
    np.testing.assert_allclose(factors.tree_log_probs(oracle.trees), oracle.log_probs, rtol=1e-14, atol=1e-12)


@EACH
def test_a_factorisation_pickles_and_is_not_changed_by_questions(trees: TreeSpace, log_scores: Float) -> None:
    factors: Factorisation = trees.factorise(log_scores)
    before = pickle.dumps(factors)
    first = factors.marginals(), factors.sample(20, np.random.default_rng(3)), factors.log_z
    for other in (factors, pickle.loads(before), pickle.loads(pickle.dumps(factors))):
        again = other.marginals(), other.sample(20, np.random.default_rng(3)), other.log_z
        assert all(np.array_equal(old, new) for old, new in zip(first, again, strict=True))
