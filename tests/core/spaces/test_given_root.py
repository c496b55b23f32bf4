"""The factors given a root: against enumeration, however unlikely the root; and logarithms of root marginals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces.elimination import factorise
from deptree_cli.core.spaces.rules import are_trees


def only_root(log_scores: NDArray[np.float64], root: int) -> NDArray[np.float64]:
    """All other ROOT arcs forbidden."""
    only = log_scores.copy()
    only[0, np.arange(len(only)) != root] = -np.inf
    return only


@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("scale", [1, 10, 80, 300])
def test_given_root(n: int, scale: float, graphs, exact) -> None:
    """One sweep of ROOT's row gives what forbidding all other ROOT arcs gives, however unlikely the root."""
    log_scores = graphs.gaussian(n, scale, seed=n)
    for root in range(1, n + 1):
        given, expected = factorise(log_scores, True).given_root(root), exact(only_root(log_scores, root))
        assert given.log_z == pytest.approx(expected.log_z, rel=1e-14, abs=1e-13)
        atol = 1e-15 * max(100, 10 * scale)
        np.testing.assert_allclose(given.marginals(), expected.marginals(), rtol=0, atol=atol)
        assert given.root_marginals() == pytest.approx(np.eye(n + 1)[root], abs=1e-15)
        trees = given.sample(20, np.random.default_rng(root))
        assert are_trees(trees).all()
        assert (trees[:, root - 1] == 0).all()


@pytest.mark.parametrize("n", [3, 4, 5])
def test_with_forbidden_arcs(n: int, graphs, exact) -> None:
    for seed in range(8):
        log_scores = graphs.holes(n, seed)
        roots = factorise(log_scores, True).root_marginals()
        for root in range(1, n + 1):
            if roots[root] == 0:
                with pytest.raises(DeptreeError, match=f"no tree has word {root} as its root"):
                    factorise(log_scores, True).given_root(root)
            else:
                given, expected = factorise(log_scores, True).given_root(root), exact(only_root(log_scores, root))
                assert given.log_z == pytest.approx(expected.log_z, abs=1e-13)
                np.testing.assert_allclose(given.marginals(), expected.oracle.marginals(), rtol=0, atol=1e-13)


def test_the_parent_is_left_alone(graphs) -> None:
    factors = factorise(graphs.gaussian(5), True)
    before = factors.marginals(), factors.log_z, factors.sample(50, np.random.default_rng(1))
    factors.given_root(3).sample(50, np.random.default_rng(2))
    after = factors.marginals(), factors.log_z, factors.sample(50, np.random.default_rng(1))
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old, new)


def test_the_wide_factors_of_the_parent_are_forgotten(graphs) -> None:
    """`log_root_marginals` keeps wide factors; those of the parent do not know of the root given."""
    factors = factorise(graphs.gaussian(4), True)
    factors.log_root_marginals()
    given = factors.given_root(2)
    assert np.exp(given.log_root_marginals()) == pytest.approx(np.eye(5)[2], abs=1e-14)


def test_the_sampling_tables_of_the_parent_are_forgotten(graphs) -> None:
    factors = factorise(graphs.gaussian(4), True)
    factors.sample(10, np.random.default_rng(0))
    for root in (1, 4):
        assert (factors.given_root(root).sample(50, np.random.default_rng(0))[:, root - 1] == 0).all()


def test_behind_a_mask(graphs, exact) -> None:
    """The rest of the factors may be float64 while the root asked for is e^-1000 away."""
    log_scores = graphs.gaussian(4, seed=8)
    log_scores[:, 3] += [0, 900, 900, 0, 900]  # words govern 3: it is a root with probability e^-900
    factors = factorise(log_scores, True)
    assert not factors.is_wide
    given, expected = factors.given_root(3), exact(only_root(log_scores, 3))
    assert given.log_z == pytest.approx(expected.log_z, rel=1e-14)
    np.testing.assert_allclose(given.marginals(), expected.oracle.marginals(), rtol=0, atol=1e-12)
    assert (given.sample(100, np.random.default_rng(0))[:, 2] == 0).all()
    exact(log_scores).check_log_root_marginals(factors)
