"""Precise numbers: pairs of float64 (`paired.py`) with an exponent of their own, for differences that cancel.

A precise number is a wide one (`wide.py`, which has the arithmetic) whose mantissa is a pair: about 31 digits at any
magnitude. Sweeps take 20 to 80 times as long as in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.paired import Paired, paired_products
from deptree_cli.kernels.numbers.pairs import pair_exp, reduced
from deptree_cli.kernels.numbers.wide import ZERO, FloatArray, wide_floats


class Precise(NamedTuple):
    """An array of precise numbers, (high + low) * 2**(512 * exponent) with ``2**-256 <= |high| < 2**256``.

    Its parts stand side by side: in a pair of its own those of the mantissas would be counted at every use.
    """

    high: Any
    low: Any
    exponent: Any


def precise_exp(x: FloatArray, rest: FloatArray | float = 0.0, factor: float = 1.0) -> Precise:
    """Return exp(factor * (x + rest)) as a precise array of x's shape; ``x = -inf`` gives 0. Nothing is rounded first.

    rest: what rounding took off x.
    """
    found = precise_zeros(x.shape)
    rests = np.ascontiguousarray(np.broadcast_to(rest, x.shape), dtype=np.float64)
    fill_exponentials(np.ascontiguousarray(x).ravel(), rests.ravel(), factor, *(part.ravel() for part in found))
    return found


def precise_zeros(shape: int | tuple[int, ...]) -> Precise:
    """Return a precise array of zeros."""
    return Precise(np.zeros(shape), np.zeros(shape), np.full(shape, ZERO, dtype=np.int64))


def precise_scaled(x: Precise, factors: FloatArray, rest: FloatArray | None = None) -> Precise:
    """Return the products of precise numbers and factors below 1e19, as a precise array.

    rest: what rounding took off the factors.
    """
    high, low = paired_products(Paired(x.high, x.low), Paired(factors, 0.0 if rest is None else rest))
    return Precise(high, low, np.where(high == 0.0, ZERO, x.exponent))


def precise_floats(x: Precise) -> FloatArray:
    """Return the nearest float64 of precise numbers; 0 or inf beyond their range."""
    return wide_floats((x.high, x.exponent))


def pairs_of(x: Precise) -> tuple[FloatArray, FloatArray]:
    """Return precise numbers in float64's range as pairs, two arrays."""
    shift = 512 * np.clip(x.exponent, -4, 4)
    return np.ldexp(x.high, shift), np.ldexp(x.low, shift)


@kernel
def fill_exponentials(highs, lows, factor, out_high, out_low, exponents):
    """Fill a flat precise array with exp(factor * (highs + lows)); ``-inf`` gives 0."""
    for i in range(highs.shape[0]):
        if highs[i] == -np.inf:
            out_high[i], out_low[i], exponents[i] = 0.0, 0.0, ZERO
        else:
            e, rest = reduced(highs[i], lows[i], factor)
            out_high[i], out_low[i] = pair_exp(rest)
            exponents[i] = int(e)


@ops.get.register(Precise)
def _get(array, index):
    return Paired(array.high[index], array.low[index]), array.exponent[index]


@ops.put.register(Precise)
def _put(array, index, x):
    array.high[index] = x[0].high
    array.low[index] = x[0].low
    array.exponent[index] = x[1]


@ops.row.register(Precise)
def _row(array, i):
    return Precise(array.high[i], array.low[i], array.exponent[i])


@ops.part.register(Precise)
def _part(array, start, stop):
    return Precise(array.high[start:stop], array.low[start:stop], array.exponent[start:stop])


@ops.zero.register(Precise)
def _zero(array):
    return Paired(0.0, 0.0), ZERO


@ops.one.register(Precise)
def _one(array):
    return Paired(1.0, 0.0), 0


@ops.from_wide.register(Precise)
def _from_wide(array, x):
    return Paired(x[0], 0.0), x[1]
