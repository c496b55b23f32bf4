"""Numbers as pairs of float64 (`pairs.py`): scores, where what float64 rounds off decides between trees.

A score is of any sign, or ``-inf``; it is added, subtracted and compared. The finite numbers that precise ones
(`precise.py`) are made of are multiplied and divided too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.pairs import pair_add, pair_divide, pair_multiply


class Paired(NamedTuple):
    """A number or an array of them: high + low, low being what high rounds off, 0 beside ``-inf``."""

    high: Any
    low: Any


def paired(high: Any) -> Paired:
    """Return scores that round nothing off."""
    return Paired(high, np.zeros_like(high))


def paired_sums(x: Paired, y: Paired) -> Paired:
    """Return the sums of two arrays of pairs that can be broadcast together; -inf where either is."""
    return _broadcast(fill_sums, x, y)


def paired_products(x: Paired, y: Paired) -> Paired:
    """Return the products of two arrays of finite pairs that can be broadcast together."""
    return _broadcast(fill_products, x, y)


def _broadcast(fill: Callable[..., None], x: Paired, y: Paired) -> Paired:
    """Return what a kernel fills flat arrays with."""
    shape = np.broadcast_shapes(*map(np.shape, (*x, *y)))
    found = Paired(np.empty(shape), np.empty(shape))
    flat = [np.full(shape, part, np.float64).ravel() for part in (*x, *y)]
    fill(Paired(*flat[:2]), Paired(*flat[2:]), Paired(found.high.ravel(), found.low.ravel()))
    return found


@kernel
def fill_sums(x, y, out):
    """Fill a flat array with sums."""
    for i in range(ops.length(x)):
        ops.put(out, i, ops.add(ops.get(x, i), ops.get(y, i)))


@kernel
def fill_products(x, y, out):
    """Fill a flat array with products."""
    for i in range(ops.length(x)):
        ops.put(out, i, ops.multiply(ops.get(x, i), ops.get(y, i)))


ops.treat_parts_alike(Paired, Paired)


@ops.copy.register(Paired)
def _copy(array):
    return Paired(array.high.copy(), array.low.copy())


@ops.zero.register(Paired)
def _zero(array):
    return Paired(0.0, 0.0)


@ops.one.register(Paired)
def _one(array):
    return Paired(1.0, 0.0)


@ops.lowest.register(Paired)
def _lowest(array):
    return Paired(-math.inf, 0.0)


@ops.all_lowest.register(Paired)
def _all_lowest(array, shape):
    return Paired(np.full(shape, -np.inf), np.zeros(shape))


@ops.add.register(Paired)
def _add(x, y):
    if x.high == -math.inf or y.high == -math.inf:
        return Paired(-math.inf, 0.0)
    return Paired(*pair_add(x, y))


@ops.subtract.register(Paired)
def _subtract(x, y):
    if x.high == -math.inf:
        return x
    return Paired(*pair_add(x, (-y.high, -y.low)))


@ops.multiply.register(Paired)
def _multiply(x, y):
    return Paired(*pair_multiply(x, y))


@ops.divide.register(Paired)
def _divide(x, y):
    return Paired(*pair_divide(x, y))


@ops.scale.register(Paired)
def _scale(x, factor):
    return Paired(*pair_multiply(x, (factor, 0.0)))


@ops.largest_sum.register(Paired)
def _largest_sum(x, y):
    best = Paired(-math.inf, 0.0)
    for j in range(x.high.shape[0]):
        score = ops.add(ops.get(x, j), ops.get(y, j))
        best = score if ops.is_less(best, score) else best
    return best


@ops.rescale.register(Paired)
def _rescale(x, power):
    return Paired(x.high * power, x.low * power)


@ops.is_positive.register(Paired)
def _is_positive(x):
    return x.high > 0.0


@ops.is_negative.register(Paired)
def _is_negative(x):
    return x.high < 0.0


@ops.is_less.register(Paired)
def _is_less(x, y):
    return x.high < y.high or (x.high == y.high and x.low < y.low)


@ops.logarithm.register(Paired)
def _logarithm(x):
    return log(x.high) + x.low / x.high


@ops.as_float.register(Paired)
def _as_float(x):
    return x.high
