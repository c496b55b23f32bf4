"""The chart of projective trees with scores of grandparents and of adjacent siblings.

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

Items can be pruned. Charts are zeros to begin with, and what is pruned is neither read nor written, so that a sweep
costs what it keeps; `clear` makes the chart one of zeros again at that price.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.operations import add, get, length, multiply, one, put, row, zero

COMPLETE, ARC, PAIR = range(3)
TABLES = 3


class Weights(NamedTuple):
    """What arcs and their parts weigh in a sentence of n words; G is n+1, or 1 without scores of grandparents.

    Attributes:
        arcs: ``[head, dependent, grandparent]``, (n+1, n+1, G): the arc with the arc above it; 0 where the grandparent
            stands between the two, and under ROOT, which has no head, for all but number 0.
        siblings: ``[head, dependent, sibling]``, (n+1, n+1, n+1); the head itself stands for no sibling.

    Number 0 of both, which is no arc's, is 1.
    """

    arcs: Any
    siblings: Any


class Chart(NamedTuple):
    """The tables of a chart, or of its adjoints: views of one array of numbers, (3, n+1, n+1, G).

    Attributes:
        complete: ``[head, end, grandparent]``.
        arc: ``[head, dependent, grandparent]``.
        pair: ``[first, last, head]``, whichever side of it the head of both stands on.
    """

    complete: Any
    arc: Any
    pair: Any


class ArcMask(NamedTuple):
    """Which items of a chart are kept, at least all those that a kept tree is made of; what they need may be pruned.

    Attributes:
        complete, arc, pair: booleans, (n+1, n+1), for the same axes as those of the chart; the complete items of single
            nodes are kept.
        above: int64, (n+1, 2), of every node: the first grandparent of its items, and the one behind the last; 0 and 1
            of ROOT, and of all where nothing is scored by grandparents. Heads of kept arcs are among them, and kept
            pairs have some in common.
    """

    complete: Any
    arc: Any
    pair: Any
    above: Any


@kernel(forceinline=True, allocates=True)
def tables_of(items):
    """Return the tables of a chart (3, n+1, n+1, G)."""
    return Chart(row(items, COMPLETE), row(items, ARC), row(items, PAIR))


@kernel(allocates=True)
def inside(weights, kept, single_root, items):
    """Fill a chart of zeros, (3, n+1, n+1, G); return the partition function.

    Under the single-root constraint ROOT's only arc is one without a sibling before it.
    """
    chart = tables_of(items)
    n = length(chart.complete) - 1
    unit = one(chart.complete)
    for i in range(n + 1):
        first, count = heads_of(kept, i)
        for k in range(count):
            g = first + k
            put(chart.complete, (i, i, g), unit)
    for j in range(1, n + 1):
        for i in range(j - 1, 0, -1):
            if kept.pair[i, j]:
                fill_pair(kept, chart, i, j)
            for head, end in ((i, j), (j, i)):
                if kept.arc[head, end]:
                    fill_arc(weights, kept, chart, head, end, True)
            for head, end in ((i, j), (j, i)):
                if kept.complete[head, end]:
                    fill_complete(kept, chart, head, end)
        if kept.arc[0, j]:
            fill_arc(weights, kept, chart, 0, j, not single_root)
        if kept.complete[0, j] and (j == n or not single_root):
            fill_complete(kept, chart, 0, j)
    return get(chart.complete, (0, n, 0))


# Inlined, for handing over all arrays would take as long as a short sum; and every loop counts from 0, for others are
# not vectorised.


@kernel(forceinline=True)
def heads_of(kept, node):
    """Return the first grandparent of a node's items, and how many there are."""
    first, stop = kept.above[node, 0], kept.above[node, 1]
    return Index(first), Index(stop - first)


@kernel(forceinline=True)
def heads_of_both(kept, i, j):
    """Return the first grandparent that two siblings have in common, and how many there are."""
    first, stop = max(kept.above[i, 0], kept.above[j, 0]), min(kept.above[i, 1], kept.above[j, 1])
    return Index(first), Index(stop - first)


@kernel
def grandparents(items):
    """Return the length of the axis of grandparents."""
    return Index(length(row(row(items, 0), 0)))


@kernel(forceinline=True)
def fill_pair(kept, chart, i, j):
    """Fill what stands between the siblings i and j."""
    complete, pair = chart.complete, chart.pair
    first, count = heads_of_both(kept, i, j)
    i, j = Index(i), Index(j)
    for r in range(i, j):
        if kept.complete[i, r] and kept.complete[j, r + Index(1)]:
            for k in range(count):
                g = first + k
                x = multiply(get(complete, (i, r, g)), get(complete, (j, r + Index(1), g)))
                put(pair, (i, j, g), add(get(pair, (i, j, g)), x))


@kernel(forceinline=True)
def fill_arc(weights, kept, chart, head, dependent, with_siblings):
    """Fill the item of an arc: its dependent is the first one on its side, or the next one after a sibling."""
    arcs, siblings = weights.arcs, weights.siblings
    complete, arc, pair = chart.complete, chart.arc, chart.pair
    first, count = heads_of(kept, head)
    step = 1 if head < dependent else -1
    h, d, at = Index(head), Index(dependent), Index(head if grandparents(complete) > 1 else 0)
    factor = multiply(get(complete, (d, Index(head + step), at)), get(siblings, (h, d, h)))
    for k in range(count):
        g = first + k
        put(arc, (h, d, g), factor)
    if with_siblings:
        for sibling in range(head + step, dependent, step):
            s = Index(sibling)
            if kept.arc[h, s] and kept.pair[min(s, d), max(s, d)]:
                factor = multiply(get(pair, (min(s, d), max(s, d), at)), get(siblings, (h, d, s)))
                for k in range(count):
                    g = first + k
                    put(arc, (h, d, g), add(get(arc, (h, d, g)), multiply(get(arc, (h, s, g)), factor)))
    for k in range(count):
        g = first + k
        put(arc, (h, d, g), multiply(get(arc, (h, d, g)), get(arcs, (h, d, g))))


@kernel(forceinline=True)
def fill_complete(kept, chart, head, end):
    """Fill the complete item of a head out to an end, by its last dependent on that side."""
    complete, arc = chart.complete, chart.arc
    first, count = heads_of(kept, head)
    step = 1 if head < end else -1
    h, e, at = Index(head), Index(end), Index(head if grandparents(complete) > 1 else 0)
    for dependent in range(head + step, end + step, step):
        d = Index(dependent)
        if kept.arc[h, d] and kept.complete[d, e]:
            factor = get(complete, (d, e, at))
            for k in range(count):
                g = first + k
                put(complete, (h, e, g), add(get(complete, (h, e, g)), multiply(get(arc, (h, d, g)), factor)))


@kernel(allocates=True)
def clear(kept, items):
    """Make a chart of these items, or of their adjoints, one of zeros again."""
    chart = tables_of(items)
    n = length(chart.complete) - 1
    for i in range(n + 1):
        first, count = heads_of(kept, i)
        for j in range(n + 1):
            if kept.complete[i, j]:
                fill_zeros(chart.complete, i, j, first, count)
            if kept.arc[i, j]:
                fill_zeros(chart.arc, i, j, first, count)
            if i < j and kept.pair[i, j]:
                fill_zeros(chart.pair, i, j, *heads_of_both(kept, i, j))


@kernel
def fill_zeros(items, i, j, first, count):
    """Put zeros into one item."""
    nothing = zero(items)
    i, j = Index(i), Index(j)
    for k in range(count):
        g = first + k
        put(items, (i, j, g), nothing)


@kernel
def tree_log_probs(log_weights, log_z, heads, out):
    """Fill out (k,) with log-probabilities of trees, (k, n) heads; O(n) a tree where arcs are short.

    log_weights: logarithms of `Weights`. -inf where a part is forbidden.
    """
    by_grandparent = log_weights.arcs.shape[2] > 1
    for t in range(heads.shape[0]):
        total = 0.0
        for d in range(1, heads.shape[1] + 1):
            h = heads[t, d - 1]
            step = 1 if h > d else -1
            s = d + step
            while s != h and heads[t, s - 1] != h:
                s += step
            g = heads[t, h - 1] if by_grandparent and h > 0 else 0
            total += log_weights.arcs[h, d, g] + log_weights.siblings[h, d, s]
        out[t] = total - log_z
