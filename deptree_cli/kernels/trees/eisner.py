"""Eisner's (1996) chart of projective trees: sums over all of them, and the marginals of arcs by the sweep backwards.

Nodes stand in a row, ROOT first. A *complete* item is a head with everything on one side of it, out to the other end of
its span; an *arc* item is an arc with everything between its ends. Every projective tree is built in exactly one way:

    between[i, j] = sum over k of right[i, k] * left[k+1, j]      what fills an arc's span, whichever way it points
    right_arc[i -> j], left_arc[i <- j] = weight * between[i, j]
    right[i, j] = sum over k of right_arc[i -> k] * right[k, j]   k: the last dependent of i to the right
    left[i, j] = sum over k of left[i, k] * left_arc[k <- j]      k: the first dependent of j

Numbers of any kind are added and multiplied, and divided once, never subtracted. Complete items are kept by either end,
so that every sum runs along two rows. What takes a whole chart is inlined: one of dual numbers is fourteen arrays to
hand over, which took five times as long as the sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    as_float,
    divide,
    get,
    inner,
    length,
    multiply,
    one,
    part,
    put,
    row,
)
from deptree_cli.kernels.xoshiro import U64


class Chart(NamedTuple):
    """The items of a sentence of n words, or their adjoints: arrays of numbers, (n+1, n+1).

    Attributes:
        right, left: complete items, ``[first, last]``: their head is the first or the last node.
        right_by_end, left_by_end: the same, ``[last, first]``.
        right_arc: ``[head, dependent]`` with the dependent behind its head.
        left_arc: ``[head, dependent]`` with the dependent before its head.
        between: ``[first, last]``.
    """

    right: Any
    right_by_end: Any
    left: Any
    left_by_end: Any
    right_arc: Any
    left_arc: Any
    between: Any


@kernel
def inside(weights, single_root, chart):
    """Fill a chart of zeros from weights (n+1, n+1); return the partition function. O(n^3): n^3 / 2 multiply-adds.

    Under the single-root constraint ROOT's only arc is the one whose span begins with nothing to its right.
    """
    n = length(weights) - 1
    unit = one(chart.between)
    for i in range(n + 1):
        for items in (chart.right, chart.right_by_end, chart.left, chart.left_by_end):
            put(items, (i, i), unit)
    for j in range(1, n + 1):
        for i in range(j - 1, 0, -1):
            fill_arcs(weights, chart, i, j, j)
            fill_right(chart, i, j)
            fill_left(chart, i, j)
        fill_arcs(weights, chart, 0, j, 1 if single_root else j)
        if j == n or not single_root:
            fill_right(chart, 0, j)
    return get(chart.right, (0, n))


@kernel(forceinline=True)
def fill_arcs(weights, chart, i, j, stop):
    """Fill the arc items between i and j, splitting what is between them behind the nodes i..stop-1."""
    total = inner(part(row(chart.right, i), i, stop), part(row(chart.left_by_end, j), i + 1, stop + 1))
    put(chart.between, (i, j), total)
    put(chart.right_arc, (i, j), multiply(total, get(weights, (i, j))))
    put(chart.left_arc, (j, i), multiply(total, get(weights, (j, i))))


@kernel(forceinline=True)
def fill_right(chart, i, j):
    """Fill the complete item of head i that ends at j."""
    total = inner(part(row(chart.right_arc, i), i + 1, j + 1), part(row(chart.right_by_end, j), i + 1, j + 1))
    put(chart.right, (i, j), total)
    put(chart.right_by_end, (j, i), total)


@kernel(forceinline=True)
def fill_left(chart, i, j):
    """Fill the complete item of head j that begins at i."""
    total = inner(part(row(chart.left, i), i, j), part(row(chart.left_arc, j), i, j))
    put(chart.left, (i, j), total)
    put(chart.left_by_end, (j, i), total)


@kernel
def root_marginals(chart, out):
    """Fill out (n+1,) of float64 with the probability of each root, under the single-root constraint."""
    n = length(chart.between) - 1
    total = get(chart.right, (0, n))
    for r in range(1, n + 1):
        out[r] = as_float(divide(multiply(get(chart.right_arc, (0, r)), get(chart.right_by_end, (n, r))), total))


@kernel
def outside(weights, single_root, chart, adjoints, marginals):
    """Fill marginals (n+1, n+1), zeros at first, with those of arcs, of dual numbers with their derivatives too. O(n^3)

    adjoints: a chart of zeros, which is filled with the derivatives of log Z: `inside` line by line, backwards. An
    item times its adjoint is the probability that a tree contains it.
    """
    n = length(weights) - 1
    put(adjoints.right, (0, n), divide(one(chart.between), get(chart.right, (0, n))))
    for j in range(n, 0, -1):
        if j == n or not single_root:
            return_right(chart, adjoints, 0, j)
        return_arcs(weights, chart, adjoints, 0, j, 1 if single_root else j, marginals)
        for i in range(1, j):
            return_left(chart, adjoints, i, j)
            return_right(chart, adjoints, i, j)
            return_arcs(weights, chart, adjoints, i, j, j, marginals)


@kernel(forceinline=True)
def return_right(chart, adjoints, i, j):
    """Hand the adjoint of the complete item of head i that ends at j to those that it was made of."""
    adjoint = add(get(adjoints.right, (i, j)), get(adjoints.right_by_end, (j, i)))
    arcs, arc_adjoints = row(chart.right_arc, i), row(adjoints.right_arc, i)
    ends, end_adjoints = row(chart.right_by_end, j), row(adjoints.right_by_end, j)
    return_products(adjoint, arcs, arc_adjoints, ends, end_adjoints, i + 1, j + 1, 0)


@kernel(forceinline=True)
def return_left(chart, adjoints, i, j):
    """Hand the adjoint of the complete item of head j that begins at i to those that it was made of."""
    adjoint = add(get(adjoints.left, (i, j)), get(adjoints.left_by_end, (j, i)))
    starts, start_adjoints = row(chart.left, i), row(adjoints.left, i)
    arcs, arc_adjoints = row(chart.left_arc, j), row(adjoints.left_arc, j)
    return_products(adjoint, starts, start_adjoints, arcs, arc_adjoints, i, j, 0)


@kernel(forceinline=True)
def return_arcs(weights, chart, adjoints, i, j, stop, marginals):
    """Hand the adjoints of the arc items between i and j to what they were made of, and fill their marginals."""
    to_right, to_left = get(adjoints.right_arc, (i, j)), get(adjoints.left_arc, (j, i))
    put(marginals, (i, j), multiply(to_right, get(chart.right_arc, (i, j))))
    put(marginals, (j, i), multiply(to_left, get(chart.left_arc, (j, i))))
    adjoint = add(multiply(to_right, get(weights, (i, j))), multiply(to_left, get(weights, (j, i))))
    first, first_adjoints = row(chart.right, i), row(adjoints.right, i)
    last, last_adjoints = row(chart.left_by_end, j), row(adjoints.left_by_end, j)
    return_products(adjoint, first, first_adjoints, last, last_adjoints, i, stop, 1)


@kernel
def return_products(adjoint, x, x_adjoints, y, y_adjoints, start, stop, shift):
    """Hand the adjoint of the sum of x[k] * y[k + shift], start <= k < stop, to the numbers of the rows x and y.

    Unsigned indices cannot count from the end of a row, which would be checked at every step and keep it from being
    vectorised: two and a half times as fast.
    """
    for k in range(U64(start), U64(stop)):
        put(x_adjoints, k, add(get(x_adjoints, k), multiply(adjoint, get(y, k + U64(shift)))))
        put(y_adjoints, k + U64(shift), add(get(y_adjoints, k + U64(shift)), multiply(adjoint, get(x, k))))
