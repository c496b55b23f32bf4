"""Tropical numbers: scores of which the larger is the sum, so that sweeps over sums find their best terms.

The scores are float64 or, where masks of trees add up beside their other scores, pairs (`paired.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.operations import add, get, is_less, largest_sum, length, lowest, part, put, row, zero


class Tropical(NamedTuple):
    """A score or an array of them; ``-inf`` is the number 0."""

    log: Any


@ops.get.register(Tropical)
def _get(array, index):
    return Tropical(get(array.log, index))


@ops.put.register(Tropical)
def _put(array, index, x):
    put(array.log, index, x.log)


@ops.row.register(Tropical)
def _row(array, i):
    return Tropical(row(array.log, i))


@ops.part.register(Tropical)
def _part(array, start, stop):
    return Tropical(part(array.log, start, stop))


@ops.inner.register(Tropical)
def _inner(x, y):
    return Tropical(largest_sum(x.log, y.log))


@ops.multiply_add.register(Tropical)
def _multiply_add(total, x, y):
    return ops.add(total, ops.multiply(x, y))


@ops.zero.register(Tropical)
def _zero(array):
    return Tropical(lowest(array.log))


@ops.one.register(Tropical)
def _one(array):
    return Tropical(zero(array.log))


@ops.add.register(Tropical)
def _add(x, y):
    return y if is_less(x.log, y.log) else x


@ops.multiply.register(Tropical)
def _multiply(x, y):
    return Tropical(add(x.log, y.log))


@ops.is_less.register(Tropical)
def _is_less(x, y):
    return is_less(x.log, y.log)


@ops.length.register(Tropical)
def _length(array):
    return length(array.log)
