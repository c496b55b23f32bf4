"""Wide numbers (`wide.py`) of which neighbours share an exponent: little more memory and time than float64 takes.

As many neighbours of a row as a vector holds are a block. All of its mantissas go with one exponent, as long as they
keep between 2^-500 and 2^500; a block that would leave this has an exponent for each of its numbers, like any wide
array. Memory for these is asked for but touched only there. Every number goes in and out as a wide one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.vectors import add_across, everywhere, load_from
from deptree_cli.kernels.numbers.wide import RADIX, SMALL, ZERO, normal, wide_add
from deptree_cli.kernels.portable import LINE

BLOCK = LINE // 8
LEAST, MOST = 2.0**-500, 2.0**500
MIXED = 2**60  # instead of the exponent of a block whose numbers have one each; the sum of two and any other is above
ANY_MIXED = 2**59


class Shared(NamedTuple):
    """An array of numbers, (tables, rows, columns), or one of its rows.

    Attributes:
        mantissas: float64, that of 0 is 0.
        blocks: (..., columns / BLOCK), the exponents of blocks, or MIXED.
        exponents: of single numbers, where blocks are MIXED.
    """

    mantissas: Any
    blocks: Any
    exponents: Any


class Stretch(NamedTuple):
    """The numbers first..stop-1 of a row."""

    row: Any
    first: Any
    stop: Any


def shared_zeros(shape: tuple[int, int, int]) -> Shared:
    """Return an array of zeros."""
    tables, rows, columns = shape
    blocks = np.zeros((tables, rows, -(-columns // BLOCK)), dtype=np.int64)
    return Shared(np.zeros(shape), blocks, np.zeros(shape, dtype=np.int64))


@ops.get.register(Shared)
def _get(array, index):
    table, i, j = index
    exponent = array.blocks[table, i, j // BLOCK]
    return normal(array.mantissas[index], array.exponents[index] if exponent == MIXED else exponent)


@ops.put.register(Shared)
def _put(array, index, x):
    table, i, j = index
    put_into_row(array.mantissas[table, i], array.blocks[table, i], array.exponents[table, i], j, x[0], x[1])


@kernel
def put_into_row(mantissas, blocks, exponents, j, m, e):
    """Store the wide number (m, e) at place j of a row."""
    block, first, stop = blocks[j // BLOCK], j // BLOCK * BLOCK, min(j // BLOCK * BLOCK + BLOCK, len(mantissas))
    if block != MIXED and block != e and m != 0.0:
        near = m * RADIX if e == block + 1 else m * SMALL if e == block - 1 else 0.0
        if is_zero(mantissas, first, stop):
            blocks[j // BLOCK] = e
        elif LEAST <= abs(near) <= MOST:
            m = near
        else:
            exponents[first:stop] = block
            blocks[j // BLOCK] = MIXED
    mantissas[j] = m
    if blocks[j // BLOCK] == MIXED:
        exponents[j] = e


@kernel
def is_zero(mantissas, first, stop):
    """Return whether all numbers first..stop-1 are 0."""
    found = True
    for j in range(first, stop):
        found = found and mantissas[j] == 0.0
    return found


@ops.row.register(Shared)
def _row(array, i):
    return Shared(array.mantissas[i], array.blocks[i], array.exponents[i])


@ops.part.register(Shared)
def _part(array, start, stop):
    return Stretch(array, start, stop)


@ops.inner.register(Stretch)
def _inner(x, y):
    of_x, of_y = x.row, y.row
    return sum_of_products(
        of_x.mantissas, of_x.blocks, of_x.exponents, of_y.mantissas, of_y.blocks, of_y.exponents, x.first, x.stop
    )


@kernel
def sum_of_products(x, of_x, exponents_of_x, y, of_y, exponents_of_y, first, stop):
    """Return the sum of x[j] * y[j], first <= j < stop: of vectors while exponents stay, and then of such sums."""
    total = 0.0, ZERO
    while first < stop:
        b = first // BLOCK
        e = of_x[b] + of_y[b]
        if e > ANY_MIXED:
            end = min(b * BLOCK + BLOCK, stop)
            for j in range(first, end):
                e = exponents_of_x[j] if of_x[b] == MIXED else of_x[b]
                e += exponents_of_y[j] if of_y[b] == MIXED else of_y[b]
                total = wide_add(total, normal(x[j] * y[j], e))
        else:
            b += 1
            while b * BLOCK < stop and of_x[b] + of_y[b] == e:
                b += 1
            end, sums = min(b * BLOCK, stop), everywhere(0.0)
            for j in range(first, end, BLOCK):
                sums = sums + load_from(x, j, end) * load_from(y, j, end)
            total = wide_add(total, normal(add_across(sums), e))
        first = end
    return total


@ops.zero.register(Shared)
def _zero(array):
    return 0.0, ZERO


@ops.one.register(Shared)
def _one(array):
    return 1.0, 0


@ops.length.register(Shared)
def _length(array):
    return array.mantissas.shape[0]
