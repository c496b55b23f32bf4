"""Dual numbers: a formula's derivative against finite differences, over float64 and over wide numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.wide import wide_exp


@njit
def combined(x, y):
    return ops.divide(ops.subtract(ops.multiply(x, x), y), ops.add(x, ops.multiply(y, y)))


def test_operations_against_finite_differences() -> None:
    x, y, dx, dy, step = 2.0, 0.7, 0.3, -1.1, 1e-6
    found = combined(Dual(x, dx), Dual(y, dy))
    above, below = (combined(x + sign * step * dx, y + sign * step * dy) for sign in (1, -1))
    assert found.value == combined(x, y)
    assert found.tangent == pytest.approx((above - below) / (2 * step), rel=1e-8)


def test_the_derivative_of_a_ratio_of_numbers_beyond_float64() -> None:
    """(x^2 - y) / (x + y^2) for y = 0 is x; at e^-2000 nothing of it is a float64."""
    mantissas, exponents = wide_exp(np.array([-2000.0, -1990.0]))
    x, dx = zip(mantissas.tolist(), exponents.tolist(), strict=True)
    nothing = (0.0, -(2**60))
    found = combined(Dual(x, dx), Dual(nothing, nothing))
    assert found.value == pytest.approx(x, rel=1e-15)
    assert found.tangent == pytest.approx(dx, rel=1e-14)
