"""Kinds of numbers beside float64: wide, dual, tropical, and those of several sentences side by side."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels import operations as ops
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.kept import LINE
from deptree_cli.kernels.operations import (
    add,
    divide,
    everywhere,
    inner,
    larger,
    largest,
    load,
    load_from,
    multiply,
    multiply_add,
    operation,
    scale,
    store,
    subtract,
    zero,
)

# Wide numbers: float64 with an exponent of its own, for sweeps that leave float64's range.
#
# A wide array is a pair (mantissas float64, exponents int64) of one shape that stands for ``mantissa * 2**(512 *
# exponent)`` with ``2**-256 <= |mantissa| < 2**256``, and a wide number is a pair of scalars: sixteen digits at any
# magnitude, so that weights 1e-400 or e^-100000 apart are added, multiplied and compared as exactly as near-equal
# ones are. (Logarithms would reach as far, but lose a digit for every factor of ten in their size.)


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
    if 1.0 / HALF <= abs(m) < HALF:
        return m, e
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
    if x[1] == y[1]:
        return normal(x[0] + y[0], x[1])
    if x[1] < y[1]:
        x, y = y, x
    return x if x[1] - y[1] > 1 else normal(x[0] + y[0] * SMALL, x[1])


@operation
def with_exponent(m, e):
    """Return the number, or the array, of a mantissa and an exponent."""
    return m, e


ops.treat_parts_alike(tuple, with_exponent)


@ops.new.register(tuple)
def _new(like, size):
    return np.zeros(size), np.full(size, ZERO)  # `normal` would never end on an infinity in unused memory


@ops.set_zero.register(tuple)
def _set_zero(memory):
    memory[0][:] = 0.0
    memory[1][:] = ZERO


ops.number.register(tuple, lambda like, x: normal(x, 0))
ops.inner.register(tuple, lambda x, y: wide_sum_of_products(x[0], x[1], y[0], y[1]))


@kernel
def wide_sum_of_products(x, exponents_of_x, y, exponents_of_y):
    """Return the sum of products of two rows, brought into range only where exponents change."""
    m, e = 0.0, ZERO
    for j in range(len(x)):
        product, exponent = x[j] * y[j], exponents_of_x[j] + exponents_of_y[j]
        if exponent == e:
            m += product
        elif product != 0.0:
            m, e = wide_add(normal(m, e), normal(product, exponent))
    return normal(m, e)


@ops.multiply_add.register(tuple)
def _multiply_add(total, x, y):
    m, e = x[0] * y[0], x[1] + y[1]
    return normal(total[0] + m, e) if e == total[1] else wide_add(total, normal(m, e))


ops.zero.register(tuple, lambda array: (0.0, ZERO))
ops.one.register(tuple, lambda array: (1.0, 0))
ops.add.register(tuple, lambda x, y: wide_add(x, y))
ops.subtract.register(tuple, lambda x, y: wide_add(x, (-y[0], y[1])))
ops.multiply.register(tuple, lambda x, y: normal(x[0] * y[0], x[1] + y[1]))
ops.divide.register(tuple, lambda x, y: normal(x[0] / y[0], x[1] - y[1]))
ops.scale.register(tuple, lambda x, factor: normal(x[0] * factor, x[1]))
ops.is_positive.register(tuple, lambda x: x[0] > 0.0)
ops.is_negative.register(tuple, lambda x: x[0] < 0.0)
ops.is_less.register(tuple, lambda x, y: x[1] < y[1] or (x[1] == y[1] and x[0] < y[0]))
ops.logarithm.register(tuple, lambda x: math.log(x[0]) + x[1] * LOG_RADIX)
ops.as_float.register(tuple, lambda x: np.ldexp(x[0], 512 * min(max(x[1], -4), 4)))
ops.from_wide.register(tuple, lambda array, x: x)
ops.reaches.register(tuple, lambda array, log_value: True)
ops.tolerance.register(tuple, lambda array: ops.tolerance(array[0]))


# Dual numbers: a number of either kind, float64 or wide, with its derivative in one direction.
#
# Elimination and its reverse sweep, run on these, differentiate the marginals: one sweep of each gives the covariance
# of every arc with an additive function of trees (the second-order quantities of Zmigrod et al. 2021b), O(n^3).


class Dual(NamedTuple):
    """A number or an array of numbers of either kind, and the derivatives, of the same kind and shape."""

    value: object
    tangent: object


ops.treat_parts_alike(Dual, Dual)


ops.number.register(Dual, lambda like, x: Dual(ops.number(like.value, x), zero(like.value)))


@ops.inner.register(Dual)
def _inner_of_duals(x, y):
    return Dual(inner(x.value, y.value), add(inner(x.value, y.tangent), inner(x.tangent, y.value)))


@ops.multiply_add.register(Dual)
def _multiply_add_duals(total, x, y):
    tangent = multiply_add(multiply_add(total.tangent, x.value, y.tangent), x.tangent, y.value)
    return Dual(multiply_add(total.value, x.value, y.value), tangent)


ops.zero.register(Dual, lambda array: Dual(zero(array.value), zero(array.value)))
ops.one.register(Dual, lambda array: Dual(ops.one(array.value), zero(array.value)))
ops.add.register(Dual, lambda x, y: Dual(add(x.value, y.value), add(x.tangent, y.tangent)))
ops.subtract.register(Dual, lambda x, y: Dual(subtract(x.value, y.value), subtract(x.tangent, y.tangent)))


@ops.multiply.register(Dual)
def _multiply_duals(x, y):
    return Dual(multiply(x.value, y.value), add(multiply(x.value, y.tangent), multiply(x.tangent, y.value)))


@ops.divide.register(Dual)
def _divide_duals(x, y):
    ratio = divide(x.value, y.value)
    return Dual(ratio, divide(subtract(x.tangent, multiply(ratio, y.tangent)), y.value))


ops.scale.register(Dual, lambda x, factor: Dual(scale(x.value, factor), scale(x.tangent, factor)))
ops.is_positive.register(Dual, lambda x: ops.is_positive(x.value))
ops.is_negative.register(Dual, lambda x: ops.is_negative(x.value))
ops.is_less.register(Dual, lambda x, y: ops.is_less(x.value, y.value))
# What leaves the arithmetic, and what is not differentiated, is the value's.
ops.logarithm.register(Dual, lambda x: ops.logarithm(x.value))
ops.as_float.register(Dual, lambda x: ops.as_float(x.value))
ops.from_wide.register(Dual, lambda array, x: Dual(ops.from_wide(array.value, x), zero(array.value)))
ops.reaches.register(Dual, lambda array, log_value: ops.reaches(array.value, log_value))
ops.tolerance.register(Dual, lambda array: ops.tolerance(array.value))


# Tropical numbers: scores of which the larger is the sum, so that sweeps over sums find their best terms.


LANES = LINE // 8


class Tropical(NamedTuple):
    """A score or an array of them; ``-inf`` is the number 0."""

    log: Any


ops.get.register(Tropical, lambda array, index: Tropical(array.log[index]))


@ops.put.register(Tropical)
def _put(array, index, x):
    array.log[index] = x.log


ops.row.register(Tropical, lambda array, i: Tropical(array.log[i]))
ops.part.register(Tropical, lambda array, start, stop: Tropical(array.log[start:stop]))


@kernel
def largest_sum(x, y):
    """Return the largest x[j] + y[j]; -inf of none. No score is nan."""
    count, best = x.shape[0], -math.inf
    full = count - count % LANES
    if full > 0:
        sums = everywhere(best)
        for j in range(0, full, LANES):
            sums = larger(sums, load_from(x, j, full) + load_from(y, j, full))
        best = largest(sums)
    for j in range(full, count):
        best = max(best, x[j] + y[j])
    return best


ops.inner.register(Tropical, lambda x, y: Tropical(largest_sum(x.log, y.log)))
ops.multiply_add.register(Tropical, lambda total, x, y: ops.add(total, ops.multiply(x, y)))
ops.zero.register(Tropical, lambda array: Tropical(-math.inf))
ops.one.register(Tropical, lambda array: Tropical(0.0))
ops.add.register(Tropical, lambda x, y: y if x.log < y.log else x)
ops.multiply.register(Tropical, lambda x, y: Tropical(x.log + y.log))
ops.is_less.register(Tropical, lambda x, y: x.log < y.log)
ops.length.register(Tropical, lambda array: array.log.shape[0])


# Numbers of several sentences side by side, a sentence in each lane of a vector (`operations.py`): float64 or float32.
#
# An array of them is a plain array with one axis more, of as many numbers as a cache line holds, and a number is such a
# line, loaded as a whole: LLVM does not vectorise over sentences by itself, since a store could change what is loaded
# next. What one lane holds never depends on the others.


class Lanes(NamedTuple):
    """An array of numbers: values has one axis more, the lanes."""

    values: Any


ops.get.register(Lanes, lambda array, index: load(array.values[index]))


@ops.put.register(Lanes)
def _put_lanes(array, index, x):
    store(array.values[index], x)


ops.row.register(Lanes, lambda array, i: Lanes(array.values[i]))
ops.length.register(Lanes, lambda array: array.values.shape[0])
ops.zero.register(Lanes, lambda array: everywhere(array.values.dtype.type(0.0)))
ops.one.register(Lanes, lambda array: everywhere(array.values.dtype.type(1.0)))


@ops.is_positive.register(np.ndarray)
def _lanes_are_positive(x):
    return True  # nobody's sum stops that of others: what a pivot of 0 leads to, stays in its lane
