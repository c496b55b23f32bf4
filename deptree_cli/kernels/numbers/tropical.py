"""Tropical numbers: logarithms of which the larger is the sum, so that sweeps over sums find their best terms."""

from __future__ import annotations

import math
from typing import NamedTuple

from deptree_cli.kernels.numbers import operations as ops


class Tropical(NamedTuple):
    """A logarithm or an array of them, float64; ``-inf`` is the number 0."""

    log: object


@ops.get.register(Tropical)
def _get(array, index):
    return Tropical(array.log[index])


@ops.put.register(Tropical)
def _put(array, index, x):
    array.log[index] = x.log


@ops.row.register(Tropical)
def _row(array, i):
    return Tropical(array.log[i])


@ops.part.register(Tropical)
def _part(array, start, stop):
    return Tropical(array.log[start:stop])


@ops.inner.register(Tropical)
def _inner(x, y):
    best = -math.inf
    for j in range(x.log.shape[0]):
        best = max(best, x.log[j] + y.log[j])
    return Tropical(best)


@ops.multiply_add.register(Tropical)
def _multiply_add(total, x, y):
    return ops.add(total, ops.multiply(x, y))


@ops.zero.register(Tropical)
def _zero(array):
    return Tropical(-math.inf)


@ops.one.register(Tropical)
def _one(array):
    return Tropical(0.0)


@ops.add.register(Tropical)
def _add(x, y):
    return Tropical(max(x.log, y.log))


@ops.multiply.register(Tropical)
def _multiply(x, y):
    return Tropical(x.log + y.log)


@ops.is_less.register(Tropical)
def _is_less(x, y):
    return x.log < y.log


@ops.length.register(Tropical)
def _length(array):
    return array.log.shape[0]
