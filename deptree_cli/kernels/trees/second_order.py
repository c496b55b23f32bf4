"""The chart of projective trees with scores of grandparents and of adjacent siblings, and its sweep backwards.

McDonald and Pereira 2006 (siblings), Carreras 2007, Koo and Collins 2010 (model 1: both). A *complete* item is a head
with everything on one side of it, out to the end of its span; an *arc* item is an arc with everything between its ends;
a *pair* is what stands between two adjacent siblings. The head of an item's head, its grandparent, is outside of its
span. Every projective tree is built in exactly one way, to either side alike (here to the right):

    pair[s, d; h] = sum over r of complete[s, r; h] * complete[d, r+1; h]
    arc[h, d; g] = weight[h, d; g] * (first[h, d] * complete[d, h+1; h]
                   + sum over s of arc[h, s; g] * sibling[h, d, s] * pair[s, d; h])     s: the dependent before d
    complete[h, e; g] = sum over d of arc[h, d; g] * complete[d, e; h]                  d: the last dependent

Grandparents are the last axis of every array, along which the sums run, O(n^4). Where nothing is scored by them that
axis has the length 1, and the same sweeps are O(n^3). Numbers of any kind are added and multiplied, and divided once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, divide, get, inner, length, multiply, one, put, row, zero
from deptree_cli.kernels.xoshiro import U64


class Weights(NamedTuple):
    """What arcs and their parts weigh in a sentence of n words; G is n+1, or 1 without scores of grandparents.

    Attributes:
        arcs: ``[head, dependent, grandparent]``, (n+1, n+1, G): the arc with the arc above it; 0 where the grandparent
            stands between the two, and under ROOT, which has no head, for all but number 0.
        siblings: ``[head, dependent, sibling]``, (n+1, n+1, n+1); the head itself stands for no sibling.
    """

    arcs: Any
    siblings: Any


class Chart(NamedTuple):
    """The items of a sentence of n words, or their adjoints: arrays of numbers, (n+1, n+1, G).

    Attributes:
        complete: ``[head, end, grandparent]``.
        arc: ``[head, dependent, grandparent]``.
        pair: ``[first, last, head]``, whichever side of it the head of both stands on.
    """

    complete: Any
    arc: Any
    pair: Any


@kernel
def inside(weights, single_root, chart):
    """Fill a chart of zeros; return the partition function.

    Under the single-root constraint ROOT's only arc is one without a sibling before it.
    """
    n = length(chart.complete) - 1
    unit = one(chart.complete)
    for i in range(n + 1):
        for g in range(grandparents(chart.complete)):
            put(chart.complete, (i, i, g), unit)
    for j in range(1, n + 1):
        for i in range(j - 1, 0, -1):
            fill_pair(chart, i, j)
            fill_arc(weights, chart, i, j, True)
            fill_arc(weights, chart, j, i, True)
            fill_complete(chart, i, j)
            fill_complete(chart, j, i)
        fill_arc(weights, chart, 0, j, not single_root)
        if j == n or not single_root:
            fill_complete(chart, 0, j)
    return get(chart.complete, (0, n, 0))


@kernel
def grandparents(items):
    """Return the length of the axis of grandparents, as an unsigned integer.

    Unsigned indices cannot count from the end of an axis, which would be checked at every step.
    """
    return U64(length(row(row(items, 0), 0)))


@kernel
def fill_pair(chart, i, j):
    """Fill what stands between the siblings i and j."""
    complete, pair, m = chart.complete, chart.pair, grandparents(chart.complete)
    i, j = U64(i), U64(j)
    for r in range(i, j):
        for g in range(m):
            x = multiply(get(complete, (i, r, g)), get(complete, (j, r + U64(1), g)))
            put(pair, (i, j, g), add(get(pair, (i, j, g)), x))


@kernel
def fill_arc(weights, chart, head, dependent, with_siblings):
    """Fill the item of an arc: its dependent is the first one on its side, or the next one after a sibling."""
    arcs, siblings = weights.arcs, weights.siblings
    complete, arc, pair, m = chart.complete, chart.arc, chart.pair, grandparents(chart.complete)
    step = 1 if head < dependent else -1
    h, d, at = U64(head), U64(dependent), U64(head if m > 1 else 0)
    factor = multiply(get(complete, (d, U64(head + step), at)), get(siblings, (h, d, h)))
    for g in range(m):
        put(arc, (h, d, g), factor)
    if with_siblings:
        for sibling in range(head + step, dependent, step):
            s = U64(sibling)
            factor = multiply(get(pair, (min(s, d), max(s, d), at)), get(siblings, (h, d, s)))
            for g in range(m):
                put(arc, (h, d, g), add(get(arc, (h, d, g)), multiply(get(arc, (h, s, g)), factor)))
    for g in range(m):
        put(arc, (h, d, g), multiply(get(arc, (h, d, g)), get(arcs, (h, d, g))))


@kernel
def fill_complete(chart, head, end):
    """Fill the complete item of a head out to an end, by its last dependent on that side."""
    complete, arc, m = chart.complete, chart.arc, grandparents(chart.complete)
    step = 1 if head < end else -1
    h, e, at = U64(head), U64(end), U64(head if m > 1 else 0)
    for dependent in range(head + step, end + step, step):
        d = U64(dependent)
        factor = get(complete, (d, e, at))
        for g in range(m):
            put(complete, (h, e, g), add(get(complete, (h, e, g)), multiply(get(arc, (h, d, g)), factor)))


@kernel
def outside(weights, single_root, chart, adjoints, marginals):
    """Fill marginals (n+1, n+1), zeros at first, with those of arcs: `inside` line by line, backwards.

    adjoints: a chart of zeros, which is filled with the derivatives of log Z; those of arc items come out multiplied by
    the weights of their arcs.
    """
    n = length(chart.complete) - 1
    put(adjoints.complete, (0, n, 0), divide(one(chart.complete), get(chart.complete, (0, n, 0))))
    for j in range(n, 0, -1):
        if j == n or not single_root:
            return_complete(chart, adjoints, 0, j)
        return_arc(weights, chart, adjoints, 0, j, not single_root, marginals)
        for i in range(1, j):
            return_complete(chart, adjoints, j, i)
            return_complete(chart, adjoints, i, j)
            return_arc(weights, chart, adjoints, j, i, True, marginals)
            return_arc(weights, chart, adjoints, i, j, True, marginals)
            return_pair(chart, adjoints, i, j)


@kernel
def return_complete(chart, adjoints, head, end):
    """Hand the adjoint of a complete item to those that it was made of."""
    complete, of_complete, of_arc, m = chart.complete, adjoints.complete, adjoints.arc, grandparents(chart.complete)
    step = 1 if head < end else -1
    h, e, at = U64(head), U64(end), U64(head if m > 1 else 0)
    adjoint, arcs = row(row(of_complete, head), end), row(chart.arc, head)
    for dependent in range(head + step, end + step, step):
        d = U64(dependent)
        factor = get(complete, (d, e, at))
        for g in range(m):
            put(of_arc, (h, d, g), add(get(of_arc, (h, d, g)), multiply(get(of_complete, (h, e, g)), factor)))
        put(of_complete, (d, e, at), add(get(of_complete, (d, e, at)), inner(adjoint, row(arcs, dependent))))


@kernel
def return_arc(weights, chart, adjoints, head, dependent, with_siblings, marginals):
    """Hand the adjoint of an arc's item to what it was made of, and fill its marginal."""
    arcs, siblings, pair, m = weights.arcs, weights.siblings, chart.pair, grandparents(chart.complete)
    of_complete, of_arc, of_pair = adjoints.complete, adjoints.arc, adjoints.pair
    step = 1 if head < dependent else -1
    h, d, at = U64(head), U64(dependent), U64(head if m > 1 else 0)
    adjoint, items = row(row(of_arc, head), dependent), row(chart.arc, head)
    put(marginals, (head, dependent), inner(adjoint, row(items, dependent)))
    total = zero(of_arc)
    for g in range(m):
        put(of_arc, (h, d, g), multiply(get(of_arc, (h, d, g)), get(arcs, (h, d, g))))
        total = add(total, get(of_arc, (h, d, g)))
    nearest = d, U64(head + step), at
    put(of_complete, nearest, add(get(of_complete, nearest), multiply(total, get(siblings, (h, d, h)))))
    if with_siblings:
        for sibling in range(head + step, dependent, step):
            s = U64(sibling)
            between = min(s, d), max(s, d), at
            factor = multiply(get(pair, between), get(siblings, (h, d, s)))
            for g in range(m):
                put(of_arc, (h, s, g), add(get(of_arc, (h, s, g)), multiply(get(of_arc, (h, d, g)), factor)))
            total = multiply(inner(adjoint, row(items, sibling)), get(siblings, (h, d, s)))
            put(of_pair, between, add(get(of_pair, between), total))


@kernel
def return_pair(chart, adjoints, i, j):
    """Hand the adjoint of a pair to the complete items that it was made of."""
    complete, of_complete, of_pair, m = chart.complete, adjoints.complete, adjoints.pair, grandparents(chart.complete)
    i, j = U64(i), U64(j)
    for r in range(i, j):
        for g in range(m):
            first, last = (i, r, g), (j, r + U64(1), g)
            adjoint = get(of_pair, (i, j, g))
            put(of_complete, first, add(get(of_complete, first), multiply(adjoint, get(complete, last))))
            put(of_complete, last, add(get(of_complete, last), multiply(adjoint, get(complete, first))))


@kernel
def tree_log_weights(arcs, siblings, heads, out):
    """Fill out (k,) with the sums of what the parts of trees score, (k, n) heads; O(n) a tree where arcs are short.

    arcs, siblings: logarithms of `Weights`, float64.
    """
    by_grandparent = arcs.shape[2] > 1
    for t in range(heads.shape[0]):
        total = 0.0
        for d in range(1, heads.shape[1] + 1):
            h = heads[t, d - 1]
            step = 1 if h > d else -1
            s = d + step
            while s != h and heads[t, s - 1] != h:
                s += step
            g = heads[t, h - 1] if by_grandparent and h > 0 else 0
            total += arcs[h, d, g] + siblings[h, d, s]
        out[t] = total
