"""Elimination at any logit scale: against multi-precision arithmetic, and beyond the range of float64."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.spaces.elimination import factorise

Float = NDArray[np.float64]

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def laplacian_hat(weights: mp.matrix, n: int, single_root: bool) -> mp.matrix:
    """Koo et al.'s Laplacian in multi-precision arithmetic."""
    laplacian = mp.matrix(n, n)
    for j in range(n):
        for i in range(n):
            laplacian[i, j] = -weights[i + 1, j + 1]
        laplacian[j, j] = mp.fsum(weights[i, j + 1] for i in range(1 if single_root else 0, n + 1))
    if single_root:
        laplacian[0, :] = weights[0, 1:]
    return laplacian


def by_mpmath(log_scores: Float, single_root: bool) -> tuple[float, Float]:
    """log Z and marginals from LU decompositions; digits enough for the cancellation of weights e^-1000 apart."""
    n = len(log_scores) - 1
    weights = mp.matrix(n + 1, n + 1)
    for i, j in np.argwhere(np.isfinite(log_scores)).tolist():
        weights[i, j] = mp.exp(mp.mpf(float(log_scores[i, j])))
    laplacian = laplacian_hat(weights, n, single_root)
    B = (laplacian**-1).T
    marginals = mp.matrix(n + 1, n + 1)
    for j in range(1, n + 1):
        diagonal = 0 if single_root and j == 1 else B[j - 1, j - 1]
        for i in range(1, n + 1):
            marginals[i, j] = weights[i, j] * (diagonal - (0 if single_root and i == 1 else B[i - 1, j - 1]))
        marginals[0, j] = weights[0, j] * (B[0, j - 1] if single_root else diagonal)
        assert abs(mp.fsum(marginals[i, j] for i in range(n + 1)) - 1) < mp.mpf(10) ** -60
    return float(mp.log(mp.det(laplacian))), np.array(marginals.tolist(), dtype=float)


@BOTH
@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("scale", [1, 10, 40, 80, 100])
def test_against_multi_precision_arithmetic(n: int, scale: float, single_root: bool, graphs) -> None:
    """60 digits are left of the 60 + 10 * scale after the Laplacian's cancellation, which `by_mpmath` asserts."""
    log_scores = graphs.gaussian(n, scale, seed=17 + n)
    with mp.workdps(60 + 10 * scale):
        log_z, marginals = by_mpmath(log_scores, single_root)
    factors = factorise(log_scores, single_root)
    assert factors.log_z == pytest.approx(log_z, rel=1e-10)
    np.testing.assert_allclose(factors.marginals(), marginals, rtol=0, atol=1e-12)
    np.testing.assert_allclose(factors.root_marginals(), marginals[0], rtol=0, atol=1e-12)


@BOTH
@pytest.mark.parametrize("scale", [1, 10, 40, 80])
def test_float64_and_wide_numbers_agree(scale: float, single_root: bool, graphs) -> None:
    for n in (1, 2, 7, 20):
        factors = factorise(graphs.gaussian(n, scale, seed=n), single_root)
        wide = factors.in_wide_numbers
        assert wide.is_wide
        assert wide.log_z == pytest.approx(factors.log_z, rel=1e-14, abs=1e-14)
        np.testing.assert_allclose(wide.marginals(), factors.marginals(), rtol=0, atol=1e-13)
        np.testing.assert_allclose(wide.root_marginals(), factors.root_marginals(), rtol=0, atol=1e-13)


def test_wide_numbers_draw_the_same_trees(graphs) -> None:
    """The same random bits take the same decisions but where rounding differs, once in about 1e15 decisions."""
    for single_root in (True, False):
        factors = factorise(graphs.gaussian(9, 3, seed=2), single_root)
        real, wide = (kind.sample(500, np.random.default_rng(5)) for kind in (factors, factors.in_wide_numbers))
        assert np.array_equal(real, wide)


@BOTH
@pytest.mark.parametrize("log_gap", [350.0, 740.0, 1000.0, 1e4, 1e9])
@pytest.mark.parametrize("n", [3, 4, 5])
def test_gaps_beyond_float64(n: int, log_gap: float, single_root: bool, graphs, exact) -> None:
    """Every tree has arcs that underflow, lose digits (e^-740 has three left) or might: also masks such as -1e4 and
    -1e9 that had to be used."""
    for seed in range(3):
        log_scores = graphs.disconnected(n, log_gap, seed)
        assert exact(log_scores, single_root).check().is_wide


@BOTH
@pytest.mark.parametrize("mask", [-1000.0, -1e4, -1e9])
def test_masks_that_no_tree_needs(mask: float, single_root: bool, graphs) -> None:
    """Arcs masked instead of forbidden count for nothing, and do not ask for wide numbers."""
    for seed in range(8):
        forbidden = graphs.holes(4, seed, single_root)
        masked = np.maximum(forbidden, mask)
        factors = factorise(graphs.close(masked.copy()), single_root)
        plain = factorise(forbidden, single_root)
        assert not factors.is_wide
        assert factors.log_z == pytest.approx(plain.log_z, abs=1e-12 + 1e-15 * abs(mask))
        np.testing.assert_allclose(factors.marginals(), plain.marginals(), rtol=0, atol=1e-13)
