"""Leaving words out of the walk "go to your head", for many trees at once: Gauss-Jordan without a subtraction.

Arcs are (positions, columns, trees): the weight of going from a position to what a column stands for. A word is left
out by sending all that would go to it where it would go next (Grassmann, Taksar, Heyman 1985: from a word on to itself
is not subtracted from 1, but what leads elsewhere is added up). Trees are along the last axis, which is long.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from deptree_cli.jax.wide import Wide, add_product, constant, divide, each, normalised, total, where


def absorb(rows: Wide) -> Wide:
    """Return where a walk from each of m words ends once it has left them: probabilities, (m, columns - m, trees).

    rows: (m, columns, trees), the columns of the m words first. O(m^2 columns) a tree. The pivot's row and column are
    made a step ahead, or the compiler works them out anew for each number of the update.
    """
    count = rows.mantissa.shape[0]

    def eliminate(i: Array, state: tuple[Wide, Wide, Wide]) -> tuple[Wide, Wide, Wide]:
        rows, row, column = state
        rows = put_rows(add_product(rows, column, row), row, i)
        following = jnp.minimum(i + 1, count - 1)
        return rows, _onward(rows, following), _into(rows, following)

    rows, _, _ = lax.fori_loop(0, count, eliminate, (rows, _onward(rows, 0), _into(rows, 0)))
    return each(lambda part: part[:, count:], normalised(rows))


def pass_through(arcs: Wide, ends: Wide) -> Wide:
    """Leave m words out whose walks end as of `absorb`, (m, columns - m, trees): (positions, columns - m, trees).

    arcs: (positions, columns, trees), the columns of the m words first. O(positions m (columns - m)) a tree.
    """
    count = ends.mantissa.shape[0]

    def add(i: Array, sums: Wide) -> Wide:
        into = each(lambda part: lax.dynamic_slice_in_dim(part, i, 1, 1), arcs)
        return add_product(sums, into, each(lambda part: lax.dynamic_slice_in_dim(part, i, 1, 0), ends))

    return normalised(lax.fori_loop(0, count, add, each(lambda part: part[:, count:], arcs)))


def put_rows(arcs: Wide, rows: Wide, start: Array) -> Wide:
    """Return arcs with rows in the place of those from `start` on."""
    put = lax.dynamic_update_slice_in_dim
    return Wide(put(arcs.mantissa, rows.mantissa, start, 0), put(arcs.exponent, rows.exponent, start, 0))


def _onward(rows: Wide, i: Array | int) -> Wide:
    """Return where a walk goes from word i that may not stay or go back: probabilities, (1, columns, trees)."""
    columns = rows.mantissa.shape[1]
    row = normalised(each(lambda part: lax.dynamic_slice_in_dim(part, i, 1, 0), rows))
    row = where((jnp.arange(columns) > i)[:, None], row, constant(0, (), row.mantissa.dtype))
    return divide(row, each(lambda part: part[:, None], total(row, 1)))


def _into(rows: Wide, i: Array | int) -> Wide:
    """Return the weights of going to word i from all others, (m, 1, trees)."""
    column = normalised(each(lambda part: lax.dynamic_slice_in_dim(part, i, 1, 1), rows))
    here = (jnp.arange(column.mantissa.shape[0]) == i)[:, None, None]
    return where(here, constant(0, (), column.mantissa.dtype), column)
