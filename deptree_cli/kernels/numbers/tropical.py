"""Tropical numbers: scores of which the larger is the sum, so that sweeps over sums find their best terms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.vectors import everywhere, larger, largest, load_from
from deptree_cli.kernels.portable import LINE

LANES = LINE // 8


class Tropical(NamedTuple):
    """A score or an array of them; ``-inf`` is the number 0."""

    log: Any


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


@ops.inner.register(Tropical)
def _inner(x, y):
    return Tropical(largest_sum(x.log, y.log))


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
    return y if x.log < y.log else x


@ops.multiply.register(Tropical)
def _multiply(x, y):
    return Tropical(x.log + y.log)


@ops.is_less.register(Tropical)
def _is_less(x, y):
    return x.log < y.log


@ops.length.register(Tropical)
def _length(array):
    return array.log.shape[0]
