"""Wide numbers: float64 with an exponent of its own, for sweeps that leave float64's range.

A wide array is a pair (mantissas float64, exponents int64) of one shape that stands for
``mantissa * 2**(512 * exponent)`` with ``2**-256 <= |mantissa| < 2**256``, and a wide number is a pair of scalars:
sixteen digits at any magnitude, so that weights 1e-400 or e^-100000 apart are added, multiplied and compared as exactly
as near-equal ones are. (Logarithms would reach as far, but lose a digit for every factor of ten in their size.)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.operation import operation

RADIX = 2.0**512
SMALL = 2.0**-512
HALF = 2.0**256
LOG_RADIX = 512 * math.log(2.0)
# The same in two parts, for float64 rounds 1.2e-14 off it: multiples of the first are exact for logarithms up to 6e9.
HIGH = math.ldexp(round(math.ldexp(LOG_RADIX, 20)), -20)
LOW = LOG_RADIX - HIGH + 1.1873519686993054e-14
ZERO = -(2**60)  # the exponent of 0: below that of any other number
UNKNOWN = 2**58  # that of NaN: above all others, so that no sum loses it

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Wide = tuple[FloatArray, np.ndarray[Any, np.dtype[np.int64]]]


def wide_exp(x: FloatArray) -> Wide:
    """Return exp(x) as a wide array of x's shape; ``x = -inf`` gives 0."""
    mantissas, exponents = np.empty(x.shape), np.empty(x.shape, dtype=np.int64)
    fill_exponentials(np.ascontiguousarray(x).ravel(), mantissas.ravel(), exponents.ravel())
    return mantissas, exponents


@kernel
def fill_exponentials(x, mantissas, exponents):
    """Fill a flat wide array with exp(x)."""
    for i in range(x.shape[0]):
        mantissas[i], exponents[i] = exponential(x[i])


@kernel
def exponential(x):
    """Return exp(x) as a wide number: as far as x is known, to the last digit."""
    if x == -np.inf:
        return 0.0, ZERO
    e = np.rint(x / LOG_RADIX)
    near = x - e * HIGH
    rest = near - e * LOW
    return math.exp(rest) * (1.0 + ((near - rest) - e * LOW)), int(e)


class Exponentials(NamedTuple):
    """The exponentials of an array of float64, wide numbers that are worked out when they are asked for."""

    log: Any


@ops.get.register(Exponentials)
def _get(array, index):
    return exponential(array.log[index])


@ops.length.register(Exponentials)
def _length(array):
    return array.log.shape[0]


def wide_zeros(shape: int | tuple[int, ...]) -> Wide:
    """Return a wide array of zeros."""
    return np.zeros(shape), np.full(shape, ZERO, dtype=np.int64)


def wide_scaled(x: Wide, factors: FloatArray) -> Wide:
    """Return the products of wide numbers and float64 factors, as a wide array; NaN if a factor is infinite or NaN."""
    mantissas, exponents = x[0].copy(), x[1].copy()
    scale_each(mantissas.reshape(-1), exponents.reshape(-1), np.ascontiguousarray(factors).reshape(-1))
    return mantissas, exponents


@kernel
def scale_each(mantissas, exponents, factors):
    """Multiply the numbers of a flat wide array by factors."""
    for i in range(factors.shape[0]):
        m, e = normal(factors[i], 0)
        mantissas[i], exponents[i] = normal(mantissas[i] * m, exponents[i] + e)


def wide_log(x: Wide) -> FloatArray:
    """Return the natural logarithms of non-negative wide numbers, as a float64 array."""
    with np.errstate(divide="ignore"):
        return np.log(x[0]) + x[1] * LOG_RADIX


def wide_floats(x: Wide) -> FloatArray:
    """Return the nearest float64 of wide numbers; 0 or inf beyond their range."""
    with np.errstate(over="ignore"):
        return np.ldexp(x[0], 512 * np.clip(x[1], -4, 4))


# In what follows wide numbers are recognised as tuples.


@kernel
def normal(m, e):
    """Return the number m * 2**(512 e) with its mantissa brought back into range; NaN if m is infinite or NaN."""
    if m == 0.0:
        return 0.0, ZERO
    while not abs(m) < HALF:
        if not abs(m) < np.inf:
            return np.nan, UNKNOWN
        m *= SMALL
        e += 1
    while abs(m) < 1.0 / HALF:
        m *= RADIX
        e -= 1
    return m, e


@kernel
def wide_add(x, y):
    """Return x + y for numbers of any sign.

    An addend below 2^-512 of the other is lost, as one below 2^-53 is in float64.
    """
    if x[1] < y[1]:
        x, y = y, x
    gap = x[1] - y[1]
    if gap > 1:
        return x
    return normal(x[0] + y[0] * (1.0 if gap == 0 else SMALL), x[1])


@operation
def with_exponent(m, e):
    """Return the number, or the array, of a mantissa and an exponent."""
    return m, e


ops.treat_parts_alike(tuple, with_exponent)


@ops.inner.register(tuple)
def _inner(x, y):
    total = ops.zero(x)
    for j in range(ops.length(x)):
        total = wide_add(total, ops.multiply(ops.get(x, j), ops.get(y, j)))
    return total


@ops.multiply_add.register(tuple)
def _multiply_add(total, x, y):
    return ops.add(total, ops.multiply(x, y))


@ops.zero.register(tuple)
def _zero(array):
    return 0.0, ZERO


@ops.one.register(tuple)
def _one(array):
    return 1.0, 0


@ops.add.register(tuple)
def _add(x, y):
    return wide_add(x, y)


@ops.subtract.register(tuple)
def _subtract(x, y):
    return wide_add(x, (-y[0], y[1]))


@ops.multiply.register(tuple)
def _multiply(x, y):
    return normal(x[0] * y[0], x[1] + y[1])


@ops.divide.register(tuple)
def _divide(x, y):
    return normal(x[0] / y[0], x[1] - y[1])


@ops.scale.register(tuple)
def _scale(x, factor):
    return normal(x[0] * factor, x[1])


@ops.is_positive.register(tuple)
def _is_positive(x):
    return x[0] > 0.0


@ops.is_negative.register(tuple)
def _is_negative(x):
    return x[0] < 0.0


@ops.is_less.register(tuple)
def _is_less(x, y):
    return x[1] < y[1] or (x[1] == y[1] and x[0] < y[0])


@ops.logarithm.register(tuple)
def _logarithm(x):
    return math.log(x[0]) + x[1] * LOG_RADIX


@ops.as_float.register(tuple)
def _as_float(x):
    return np.ldexp(x[0], 512 * min(max(x[1], -4), 4))


@ops.from_wide.register(tuple)
def _from_wide(array, x):
    return x


@ops.reaches.register(tuple)
def _reaches(array, log_value):
    return True


@ops.tolerance.register(tuple)
def _tolerance(array):
    return ops.tolerance(array[0])
