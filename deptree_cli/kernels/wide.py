"""Wide numbers: float64 with an exponent of its own, for sweeps that leave float64's range (`arithmetic.py`).

A wide array is a pair (mantissas float64, exponents int64) of one shape that stands for
``mantissa * 2**(512 * exponent)`` with ``2**-256 <= |mantissa| < 2**256``: sixteen digits at any magnitude, so that
weights 1e-400 or e^-100000 apart are added, multiplied and compared as exactly as near-equal ones are. (Logarithms
would reach as far, but lose a digit for every factor of ten in their size.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from deptree_cli.kernels.flags import kernel

RADIX = 2.0**512
SMALL = 2.0**-512
HALF = 2.0**256
LOG_RADIX = 512 * math.log(2.0)
SAFE_LOG = -300.0  # how far float64 is trusted: its smallest normal number is e^-708
ZERO = -(2**60)  # the exponent of 0: below that of any other number

Wide = tuple[np.ndarray[Any, np.dtype[np.float64]], np.ndarray[Any, np.dtype[np.int64]]]


def wide_exp(x: np.ndarray[Any, np.dtype[np.float64]]) -> Wide:
    """exp(x) as a wide array; ``x = -inf`` gives 0."""
    finite = np.isfinite(x)
    exponents = np.rint(np.where(finite, x, 0.0) / LOG_RADIX)
    # 512 ln 2 in two parts of which the first has few bits: the difference loses nothing that x had
    high = math.floor(LOG_RADIX * 2**12) / 2**12
    low = LOG_RADIX - high
    mantissas = np.exp(np.where(finite, x, 0.0) - exponents * high - exponents * low)
    return np.where(finite, mantissas, 0.0), np.where(finite, exponents, ZERO).astype(np.int64)


def wide_zeros(shape: int | tuple[int, ...]) -> Wide:
    """A wide array of zeros."""
    return np.zeros(shape), np.full(shape, ZERO, dtype=np.int64)


def wide_scaled(x: Wide, factors: np.ndarray[Any, np.dtype[np.float64]]) -> Wide:
    """Wide numbers times float64 ones, of ordinary size or 0."""
    mantissas = x[0] * factors
    return mantissas, np.where(mantissas == 0.0, ZERO, x[1])


def wide_log(x: Wide) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Natural logarithms of non-negative wide numbers."""
    with np.errstate(divide="ignore"):
        return np.log(x[0]) + x[1] * LOG_RADIX


@kernel
def normal(m, e):
    """The wide number m * 2**(512 e) with its mantissa brought back into range."""
    if m == 0.0:
        return 0.0, ZERO
    while abs(m) >= HALF:
        m *= SMALL
        e += 1
    while abs(m) < 1.0 / HALF:
        m *= RADIX
        e -= 1
    return m, e


@kernel
def wide_add(x, y):
    """x + y of wide numbers of any sign; what is 2^-512 and less of the other is lost, as 2^-53 is in float64."""
    if x[1] < y[1]:
        x, y = y, x
    gap = x[1] - y[1]
    if gap == 0:
        return normal(x[0] + y[0], x[1])
    if gap == 1:
        return normal(x[0] + y[0] * SMALL, x[1])
    return x


def is_wide(kind):
    """Whether a numba type is a wide number or array, that is, a pair."""
    return isinstance(kind, types.BaseTuple)
