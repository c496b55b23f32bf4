"""The Laplacian: right on flat scores, and known to be wrong on peaked ones."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.sums import matrix_tree
from deptree_cli.core.spaces import SINGLE_ROOT, space
from tests.oracle import Oracle


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 12, 40])
def test_agrees_with_elimination_on_flat_scores(n: int, single_root: bool, graphs) -> None:
    log_scores = graphs.gaussian(n, seed=n)
    factors = space(single_root).factorise(log_scores)
    assert matrix_tree.log_partition(log_scores, single_root) == pytest.approx(factors.log_z, rel=1e-12)
    assert matrix_tree.marginals(log_scores, single_root) == pytest.approx(factors.marginals(), abs=1e-11)


@pytest.mark.parametrize("single_root", [True, False])
def test_forbidden_arcs(single_root: bool, graphs) -> None:
    for seed in range(10):
        log_scores = graphs.holes(4, seed, single_root)
        exact = Oracle(graphs.distribution(log_scores, single_root))
        assert matrix_tree.log_partition(log_scores, single_root) == pytest.approx(exact.log_z, abs=1e-11)
        assert matrix_tree.marginals(log_scores, single_root) == pytest.approx(exact.marginals(), abs=1e-11)


def test_the_laplacian_of_two_words() -> None:
    weights = np.array([[0, 2.0, 3.0], [0, 0, 5.0], [0, 7.0, 0]])
    assert matrix_tree.construct_laplacian_hat(weights).tolist() == [[2, 3], [-7, 5]]
    assert matrix_tree.construct_laplacian_hat(weights, single_root=False).tolist() == [[9, -5], [-7, 8]]
    with np.errstate(divide="ignore"):
        log_scores = np.log(weights)
    assert matrix_tree.log_partition(log_scores) == pytest.approx(np.log(2 * 5 + 3 * 7))
    assert matrix_tree.log_partition(log_scores, single_root=False) == pytest.approx(np.log(2 * 5 + 3 * 7 + 2 * 3))


def largest_error(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest absolute difference; infinite where there are no numbers any more."""
    return float(np.nan_to_num(np.abs(found - exact), nan=np.inf).max())


def error_of_the_inverse(log_scores: np.ndarray, exact: np.ndarray) -> float:
    """The error of the textbook marginals; infinite where the Laplacian is singular to float64."""
    try:
        return largest_error(matrix_tree.marginals(log_scores), exact)
    except np.linalg.LinAlgError:
        return np.inf


@pytest.mark.parametrize(("left", "at_least"), [(1e-10, 1e-9), (1e-12, 1e-6), (1e-15, 1e-3), (1e-16, np.inf)])
def test_the_inverse_cancels_on_saturated_words(left: float, at_least: float, graphs) -> None:
    """Two pairs of words choose each other with probability 1 - left. Degrees are 1 + left, so about 1e-16 / left of
    what is left survives the Laplacian's diagonal; elimination loses nothing. This is why there is an elimination."""
    log_scores = graphs.saturated(4, left)
    exact = Oracle(graphs.distribution(log_scores))
    assert error_of_the_inverse(log_scores, exact.marginals()) >= at_least
    assert largest_error(SINGLE_ROOT.factorise(log_scores).marginals(), exact.marginals()) < 1e-13
    assert SINGLE_ROOT.factorise(log_scores).log_z == pytest.approx(exact.log_z, rel=1e-14)


def test_the_inverse_cancels_on_peaked_logits(graphs) -> None:
    """README, "Why not the Laplacian inverse": at scale 40 some graphs of 15 words have errors of tenths."""
    log_scores = graphs.gaussian(15, scale=40, seed=1)
    assert error_of_the_inverse(log_scores, SINGLE_ROOT.factorise(log_scores).marginals()) > 1e-3


def test_log_z_is_nan_where_rounding_made_the_determinant_negative(graphs) -> None:
    found = [matrix_tree.log_partition(graphs.gaussian(8, scale=80, seed=seed)) for seed in range(100)]
    assert np.isnan(found).any()
    assert np.isfinite(found).any()
