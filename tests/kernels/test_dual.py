"""Dual numbers: the operations against finite differences, and what the sweeps make of them against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from deptree_cli.core.oracle import Oracle
from deptree_cli.kernels import arithmetic as ops
from deptree_cli.kernels import dual
from deptree_cli.kernels.arithmetic import Dual

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


@njit
def combined(x, y):
    return ops.divide(ops.subtract(ops.multiply(x, x), y), ops.add(x, ops.multiply(y, y)))


def test_operations_against_finite_differences() -> None:
    assert dual  # importing it gives the operations their bodies for dual numbers
    x, y, dx, dy, step = 2.0, 0.7, 0.3, -1.1, 1e-6
    found = combined(Dual(x, dx), Dual(y, dy))
    above, below = (combined(x + sign * step * dx, y + sign * step * dy) for sign in (1, -1))
    assert found.value == combined(x, y)
    assert found.tangent == pytest.approx((above - below) / (2 * step), rel=1e-8)


@BOTH
@pytest.mark.parametrize("n", [1, 2, 4, 5])
@pytest.mark.parametrize("scale", [1, 10, 100, 400])
def test_arc_covariances_against_enumeration(single_root: bool, n: int, scale: int, graphs) -> None:
    """In float64 where that reaches, and in wide numbers."""
    sentence = graphs.sentence(graphs.gaussian(n, scale), single_root)
    values = np.random.default_rng(n).normal(size=(n + 1, n + 1))
    exact = Oracle(sentence)
    probs, words = np.exp(exact.log_probs), np.arange(1, n + 1)
    sums = values[exact.trees, words].sum(axis=1)
    has_arc = np.zeros((len(probs), n + 1, n + 1))
    has_arc[np.arange(len(probs))[:, None], exact.trees, words] = 1.0
    expected = np.tensordot(probs * (sums - probs @ sums), has_arc, axes=1)
    for elimination in (sentence.elimination, sentence.elimination.in_wide_numbers):
        np.testing.assert_allclose(elimination.arc_covariance(values), expected, rtol=1e-10, atol=1e-13)
