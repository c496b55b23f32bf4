"""Eisner's (1996) chart of projective trees: sums over all of them, and the marginals of arcs by the sweep backwards.

Nodes stand in a row, ROOT first. An item (kind, i, j) spans the nodes i..j. RIGHT is complete, of head i; LEFT is
complete, of head j; BETWEEN is what fills the span of an arc between i and j, whichever way it points; an ARC is that
with its arc. All trees are RIGHT of node 0, and each is built in exactly one way:

    between[i, j] = sum over k of right[i, k] * left[k+1, j]
    arc[i -> j], arc[j -> i] = weight * between[i, j]
    right[i, j] = sum over k of arc[i -> k] * right[k, j]   k: the last dependent of i to the right
    left[i, j] = sum over k of left[i, k] * arc[j -> k]     k: the first dependent of j

A chart is one array of numbers, (TABLES, n+1, n+1), and every sum is that of x[i, k] * y[j, k] over k, two of its rows:
complete items are in their tables twice, and what stands below the diagonal is sorted by its end.

    chart[RIGHT, i, j] = chart[RIGHT, j, i] = right[i, j]
    chart[LEFT, i, j] = chart[LEFT, j, i-1] = left[i, j]
    chart[BETWEEN, i, j] = between[i, j]
    chart[ARC, head, dependent]

Numbers of any kind are added and multiplied, and divided once, never subtracted. On tropical numbers sums are maxima.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from deptree_cli.kernels.charts import walker
from deptree_cli.kernels.charts.walker import NONE
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    as_float,
    divide,
    get,
    inner,
    is_positive,
    length,
    logarithm,
    multiply,
    one,
    part,
    put,
    row,
    tolerance,
    zero,
)

RIGHT, LEFT, BETWEEN, ARC = range(4)
TABLES = 4

# No sentence of n words has more projective trees than 7^n: fewer than (27/4)^n with one root or several.
LOG_GROWTH = math.log(7.0)

# The logarithm of float64's smallest normal number, and how much less a part may be than all before it counts as lost.
LOG_SMALLEST = -708.0
LOG_LOST = -100.0

# Items are filled in by so many columns: from row i of a table all of these are, while it is in a core's cache.
COLUMNS = 8

# Patterns of longer sentences are asked in wide numbers.
LONGEST = 300


class Eisner(NamedTuple):
    """The grammar of projective trees (`walker.py`): whether ROOT has one arc only, and a chart. Places are nodes k."""

    single_root: Any
    chart: Any


@kernel
def log_partition(total, n):
    """Return the logarithm of a partition function, and whether float64 held every item that is a part of it.

    Weights are at most 1. An item and what surrounds it have at most 7^n trees: one that float64 cannot hold is no
    such part of Z.
    """
    if not is_positive(total):
        return -math.inf, False
    log_z = logarithm(total)
    return log_z, log_z > LOG_SMALLEST - LOG_LOST + n * LOG_GROWTH and n <= LONGEST


@kernel
def inside(weights, single_root, chart):
    """Fill a chart of zeros from weights (n+1, n+1); return the partition function. O(n^3): n^3 / 2 multiply-adds."""
    n = length(weights) - 1
    for i in range(n + 1):
        put(chart, (RIGHT, i, i), one(chart))
        put(chart, (LEFT, i, i), one(chart))
        if i > 0:
            put(chart, (LEFT, i, i - 1), one(chart))
    for start in range(1, n + 1, COLUMNS):
        stop = min(start + COLUMNS, n + 1)
        for i in range(stop - 2, -1, -1):
            for j in range(max(start, i + 1), stop):
                fill_items(weights, single_root, chart, i, j, n)
    return get(chart, (RIGHT, 0, n))


@kernel(forceinline=True)
def fill_items(weights, single_root, chart, i, j, n):
    """Fill in the items from i to j; all that these are summed from are known."""
    between = sum_of_parts(single_root, chart, BETWEEN, i, j)
    put(chart, (BETWEEN, i, j), between)
    put(chart, (ARC, i, j), multiply(between, get(weights, (i, j))))
    put(chart, (ARC, j, i), multiply(between, get(weights, (j, i))))
    if is_right(single_root, i, j, n):
        right = sum_of_parts(single_root, chart, RIGHT, i, j)
        put(chart, (RIGHT, i, j), right)
        put(chart, (RIGHT, j, i), right)
    if i > 0:
        left = sum_of_parts(single_root, chart, LEFT, i, j)
        put(chart, (LEFT, i, j), left)
        put(chart, (LEFT, j, i - 1), left)


@kernel(forceinline=True)
def is_right(single_root, i, j, n):
    """Return whether there is an item RIGHT from i to j: under the single-root constraint none of ROOT but the last."""
    return i > 0 or j == n or not single_root


@kernel(forceinline=True)
def nodes_between(single_root, kind, i, j):
    """Return the first node at which an item can be split, and the one behind the last.

    Under the single-root constraint ROOT's only arc is one whose span begins with nothing to ROOT's right.
    """
    if kind == RIGHT:
        return i + 1, j + 1
    return i, i + 1 if kind == BETWEEN and single_root and i == 0 else j


@kernel(forceinline=True)
def factors(kind):
    """Return the tables of which row i and row j are multiplied. (Indices into constants would be slower.)"""
    if kind == RIGHT:
        return ARC, RIGHT
    return (LEFT, ARC) if kind == LEFT else (RIGHT, LEFT)


@kernel(forceinline=True)
def sum_of_parts(single_root, chart, kind, i, j):
    """Return what an item sums, from those that it is split into."""
    (first, stop), (x, y) = nodes_between(single_root, kind, i, j), factors(kind)
    return inner(part(row(chart, (x, i)), first, stop), part(row(chart, (y, j)), first, stop))


@kernel
def root_marginals(chart, out):
    """Fill out (n+1,) of float64 with the probability of each root, under the single-root constraint."""
    n = out.shape[0] - 1
    for r in range(1, n + 1):
        with_root = multiply(get(chart, (ARC, 0, r)), get(chart, (RIGHT, n, r)))
        out[r] = as_float(divide(with_root, get(chart, (RIGHT, 0, n))))


@kernel
def outside(weights, single_root, chart, adjoints, marginals):
    """Fill marginals (n+1, n+1), zeros at first, with those of arcs, of dual numbers with their derivatives too. O(n^3)

    adjoints: a chart of zeros, which is filled with the derivatives of log Z: `inside` line by line, backwards. An
    item times its adjoint is the probability that a tree contains it. Returns whether the numbers were in range: as
    `sum_to_one`.
    """
    n = length(weights) - 1
    put(adjoints, (RIGHT, 0, n), divide(one(chart), get(chart, (RIGHT, 0, n))))
    for j in range(n, 0, -1):
        for i in range(j):
            if i > 0:
                left = add(get(adjoints, (LEFT, i, j)), get(adjoints, (LEFT, j, i - 1)))
                parts_backward(single_root, chart, adjoints, LEFT, i, j, left)
            if is_right(single_root, i, j, n):
                right = add(get(adjoints, (RIGHT, i, j)), get(adjoints, (RIGHT, j, i)))
                parts_backward(single_root, chart, adjoints, RIGHT, i, j, right)
            between = add(
                arc_backward(weights, chart, adjoints, i, j, marginals),
                arc_backward(weights, chart, adjoints, j, i, marginals),
            )
            parts_backward(single_root, chart, adjoints, BETWEEN, i, j, between)
    return sum_to_one(marginals)


@kernel
def sum_to_one(marginals):
    """Return whether the probabilities (n+1, n+1) of each word's heads do so, as far as they should."""
    in_range = True
    for j in range(1, length(marginals)):
        total = zero(marginals)
        for i in range(length(marginals)):
            total = add(total, get(marginals, (i, j)))
        in_range = in_range and abs(as_float(total) - 1.0) < tolerance(marginals)
    return in_range


@kernel(forceinline=True)
def arc_backward(weights, chart, adjoints, head, dependent, marginals):
    """Fill the marginal of an arc; return what the adjoint of its span gets."""
    arc, adjoint = (head, dependent), get(adjoints, (ARC, head, dependent))
    put(marginals, arc, multiply(adjoint, get(chart, (ARC, head, dependent))))
    return multiply(adjoint, get(weights, arc))


@kernel(forceinline=True)
def parts_backward(single_root, chart, adjoints, kind, i, j, adjoint):
    """Add to the adjoints of what an item was summed from, given its own."""
    (first, stop), (x, y) = nodes_between(single_root, kind, i, j), factors(kind)
    of_x, of_y = row(adjoints, (x, i)), row(adjoints, (y, j))
    products_backward(adjoint, row(chart, (x, i)), of_x, row(chart, (y, j)), of_y, first, stop)


@kernel
def products_backward(adjoint, x, of_x, y, of_y, first, stop):
    """Add to the adjoints of the rows x and y, given that of the sum of x[k] * y[k], first <= k < stop.

    `Index` makes it two and a half times as fast.
    """
    for k in range(Index(first), Index(stop)):
        put(of_x, k, add(get(of_x, k), multiply(adjoint, get(y, k))))
        put(of_y, k, add(get(of_y, k), multiply(adjoint, get(x, k))))


# What the walker asks.


@kernel(forceinline=True)
def split_at(kind, i, j, k):
    """Return the two items that one split at k consists of, a word and its head: see `walker.split`."""
    if kind == RIGHT:
        return (RIGHT, k, j), (BETWEEN, i, k), k - 1, i
    if kind == LEFT:
        return (LEFT, i, k), (BETWEEN, k, j), k - 1, j
    return (RIGHT, i, k), (LEFT, k + 1, j), NONE, NONE


@walker.total.register(Eisner)
def _total(grammar, item):
    return get(grammar.chart, (item[0], item[1], item[2]))


@walker.places.register(Eisner)
def _places(grammar, item, row):
    (first, stop), (x, y) = nodes_between(grammar.single_root, item[0], item[1], item[2]), factors(item[0])
    return first, stop, (x, item[1], y, item[2])


@walker.part.register(Eisner)
def _part(grammar, at, place):
    x, i, y, j = at
    return multiply(get(grammar.chart, (x, i, place)), get(grammar.chart, (y, j, place)))


@walker.split.register(Eisner)
def _split(grammar, item, row, place):
    return split_at(item[0], item[1], item[2], place)
