"""Charts of projective trees with scores of grandparents and of adjacent siblings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels import walker
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.operations import add, divide, get, inner, length, multiply, one, part, put, row, zero
from deptree_cli.kernels.walker import NONE, choose

# The chart of projective trees with scores of grandparents and of adjacent siblings.
#
# McDonald and Pereira 2006 (siblings), Carreras 2007, Koo and Collins 2010 (model 1: both). A *complete* item is a
# head with everything on one side of it, out to the end of its span; an *arc* item is an arc with everything between
# its ends; a *pair* is what stands between two adjacent siblings. The head of an item's head, its grandparent, is
# outside of its span. Every projective tree is built in exactly one way, to either side alike (here to the right):
#
#     pair[s, d; h] = sum over r of complete[s, r; h] * complete[d, r+1; h]
#     arc[h, d; g] = weight[h, d; g] * (first[h, d] * complete[d, h+1; h]
#                    + sum over s of arc[h, s; g] * sibling[h, d, s] * pair[s, d; h])     s: the dependent before d
#     complete[h, e; g] = sum over d of arc[h, d; g] * complete[d, e; h]                  d: the last dependent
#
# Grandparents are the last axis of every array, along which the sums run, O(n^4). Where nothing is scored by them that
# axis has the length 1, and the same sweeps are O(n^3). Numbers of any kind are added and multiplied, and divided once.
#
# A chart, or that of its adjoints, is one array of numbers, (3, n+1, n+1, G):
#
#     chart[COMPLETE, head, end, grandparent]
#     chart[ARC, head, dependent, grandparent]
#     chart[PAIR, first, last, head]     whichever side of it the head of both stands on
#
# Items can be pruned. Charts are zeros to begin with, and what is pruned is not written, so that a sweep costs what it
# keeps.


COMPLETE, ARC, PAIR = range(3)
TABLES = 3


class PartWeights(NamedTuple):
    """What arcs and their parts weigh in a sentence of n words; G is n+1, or 1 without scores of grandparents.

    Attributes:
        arcs: ``[head, dependent, grandparent]``, (n+1, n+1, G): the arc with the arc above it; 0 where the grandparent
            stands between the two, and under ROOT, which has no head, for all but number 0.
        siblings: ``[head, dependent, sibling]``, (n+1, n+1, n+1); the head itself stands for no sibling.

    Number 0 of both, which is not an arc's, is 1.
    """

    arcs: Any
    siblings: Any


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


@kernel
def inside(weights, kept, single_root, chart):
    """Fill a chart of zeros, (3, n+1, n+1, G); return the partition function.

    Under the single-root constraint ROOT's only arc is one without a sibling before it.
    """
    n, unit = length(weights.arcs) - 1, one(chart)
    for i in range(n + 1):
        first, count = heads_of(kept, i)
        for k in range(count):
            put(chart, (COMPLETE, i, i, first + k), unit)
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
    return get(chart, (COMPLETE, 0, n, 0))


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


@kernel(forceinline=True)
def grandparent_of(chart, head):
    """Return the number by which the items of a head's dependents go."""
    return Index(head if length(row(chart, (0, 0, 0))) > 1 else 0)


@kernel(forceinline=True)
def add_multiple(into, item, x, other, factor, first, count):
    """Add to an item, by every grandparent from the first on, another one times a number."""
    for k in range(count):
        to, at = (*item, first + k), (*other, first + k)
        put(into, to, add(get(into, to), multiply(get(x, at), factor)))


@kernel(forceinline=True)
def add_products(into, item, x, left, y, right, first, count):
    """Add to an item, by every grandparent from the first on, the product of two others."""
    for k in range(count):
        to, at, beside = (*item, first + k), (*left, first + k), (*right, first + k)
        put(into, to, add(get(into, to), multiply(get(x, at), get(y, beside))))


@kernel(forceinline=True)
def fill_pair(kept, chart, i, j):
    """Fill what stands between the siblings i and j."""
    first, count = heads_of_both(kept, i, j)
    i, j = Index(i), Index(j)
    for r in range(i, j):
        if kept.complete[i, r] and kept.complete[j, r + Index(1)]:
            left, right = (COMPLETE, i, r), (COMPLETE, j, r + Index(1))
            add_products(chart, (PAIR, i, j), chart, left, chart, right, first, count)


@kernel(forceinline=True)
def fill_arc(weights, kept, chart, head, dependent, with_siblings):
    """Fill the item of an arc: its dependent is the first one on its side, or the next one after a sibling."""
    first, count = heads_of(kept, head)
    step = 1 if head < dependent else -1
    h, d, at = Index(head), Index(dependent), grandparent_of(chart, head)
    factor = multiply(get(chart, (COMPLETE, d, Index(head + step), at)), get(weights.siblings, (h, d, h)))
    for k in range(count):
        put(chart, (ARC, h, d, first + k), factor)
    if with_siblings:
        for sibling in range(head + step, dependent, step):
            s = Index(sibling)
            if kept.arc[h, s] and kept.pair[min(s, d), max(s, d)]:
                factor = multiply(get(chart, (PAIR, min(s, d), max(s, d), at)), get(weights.siblings, (h, d, s)))
                add_multiple(chart, (ARC, h, d), chart, (ARC, h, s), factor, first, count)
    for k in range(count):
        g = first + k
        put(chart, (ARC, h, d, g), multiply(get(chart, (ARC, h, d, g)), get(weights.arcs, (h, d, g))))


@kernel(forceinline=True)
def fill_complete(kept, chart, head, end):
    """Fill the complete item of a head out to an end, by its last dependent on that side."""
    first, count = heads_of(kept, head)
    step = 1 if head < end else -1
    h, e, at = Index(head), Index(end), grandparent_of(chart, head)
    for dependent in range(head + step, end + step, step):
        d = Index(dependent)
        if kept.arc[h, d] and kept.complete[d, e]:
            factor = get(chart, (COMPLETE, d, e, at))
            add_multiple(chart, (COMPLETE, h, e), chart, (ARC, h, d), factor, first, count)


@kernel
def part_scores(log_weights, heads, totals, parts):
    """Fill totals (k,) with the log-weights of trees, (k, n) heads, and parts (n,) with those of the last tree's words.

    log_weights: logarithms of `PartWeights`. O(n) a tree where arcs are short.
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
            parts[d - 1] = log_weights.arcs[h, d, g] + log_weights.siblings[h, d, s]
            total += parts[d - 1]
        totals[t] = total


# The grammar of the second-order chart (`walker.py`): what its items are split into.
#
# An item (kind, i, j, above) is COMPLETE, of head i out to the end j, or an ARC from i to j, either way, and `above`
# is the grandparent; or it is a PAIR, what stands between the siblings i < j of the head `above`. Where nothing is
# scored by grandparents, `above` is 0. All trees are COMPLETE of node 0.
#
# A place is how far from i the node k is at which an item is split: the last dependent of a complete item; the sibling
# before an arc's dependent in row 1, the head itself for none in row 0; behind which node a pair is divided.


class PartGrammar(NamedTuple):
    """The grammar: whether ROOT has one arc only, whether grandparents score; `PartWeights`, and the chart."""

    single_root: Any
    by_grandparent: Any
    weights: Any
    chart: Any


class Halves(NamedTuple):
    """Where complete items and pairs are split: into two items."""

    by_grandparent: Any
    chart: Any


class ArcSplits(NamedTuple):
    """Where items of arcs are split: without a sibling in row 0, with one in row 1."""

    single_root: Any
    by_grandparent: Any
    weights: Any
    chart: Any


@kernel(forceinline=True)
def entry(chart, kind, i, j, above):
    """Return what an item sums; by `Index` a tenth faster."""
    return get(chart, (kind, Index(i), Index(j), Index(above)))


walker.total.register(PartGrammar, lambda grammar, item: entry(grammar.chart, item[0], item[1], item[2], item[3]))


@walker.choose.register(PartGrammar)
def _choose(grammar, item, rest):
    if item[0] == ARC:
        return choose(
            ArcSplits(grammar.single_root, grammar.by_grandparent, grammar.weights, grammar.chart), item, rest
        )
    return choose(Halves(grammar.by_grandparent, grammar.chart), item, rest)


@walker.places.register(Halves)
def _places_of_halves(grammar, item, row):
    kind, i, j, above = item[0], item[1], item[2], item[3]
    if kind == PAIR:
        return 0, j - i, (COMPLETE, i, j, above, above, 1)
    head, step = i if grammar.by_grandparent else 0, 1 if i < j else -1
    return 1, abs(j - i) + 1, (ARC, i, j, above, head, step)


@walker.part.register(Halves)
def _part_of_halves(grammar, at, place):
    kind, i, j, above, head, step = at
    k = i + step * np.int64(place)
    first, last = (k, j) if kind == ARC else (j, k + 1)
    return multiply(entry(grammar.chart, kind, i, k, above), entry(grammar.chart, COMPLETE, first, last, head))


walker.rows.register(ArcSplits, lambda grammar, item: 2)


@walker.places.register(ArcSplits)
def _places_of_arc(grammar, item, row):
    i, j, above = item[1], item[2], item[3]
    head, step = i if grammar.by_grandparent else 0, 1 if i < j else -1
    stop = 1 if row == 0 or (grammar.single_root and i == 0) else abs(j - i)
    return row, stop, (i, j, above, head, step, get(grammar.weights.arcs, (Index(i), Index(j), Index(above))))


@walker.part.register(ArcSplits)
def _part_of_arc(grammar, at, place):
    i, j, above, head, step, weight = at
    k = i + step * np.int64(place)
    first, second = (ARC, i, k, above), (PAIR, min(j, k), max(j, k), head)
    if place == 0:
        first, second = (COMPLETE, i, i, above), (COMPLETE, j, i + step, head)
    factor = multiply(get(grammar.weights.siblings, (Index(i), Index(j), Index(k))), entry(grammar.chart, *second))
    return multiply(multiply(entry(grammar.chart, *first), factor), weight)


@walker.split.register(PartGrammar)
def _split(grammar, item, row, place):
    kind, i, j, above = item[0], item[1], item[2], item[3]
    head, step = i if grammar.by_grandparent else 0, 1 if i < j else -1
    k = i + step * place
    if kind == PAIR:
        return (COMPLETE, i, k, above), (COMPLETE, j, k + 1, above), NONE, NONE
    if kind == COMPLETE:
        return (COMPLETE, k, j, head), (ARC, i, k, above), k - 1, i
    if row == 0:
        return (COMPLETE, i, i, above), (COMPLETE, j, i + step, head), NONE, NONE
    return (ARC, i, k, above), (PAIR, min(j, k), max(j, k), head), k - 1, i


# What pinned arcs, which every tree is to contain, leave of a chart of projective trees.
#
# A node strictly inside an item's span has its head and its dependents there too, so that a span is pruned that a
# pinned arc crosses, with one end strictly inside and the other one outside of it. Complete items are whole sides of
# their heads: they are also pruned where a pinned arc leads from the head beyond their end, or out of them from their
# end.


@kernel
def keep_items(pinned, first, last, heads, kept):
    """Fill which complete items and pairs are kept; all are to begin with.

    Args:
        pinned; first, last: its `reach_of`.
        heads: (n+1, 2), the first head that every node may have, and the one behind the last.
        kept: `ArcMask`.
    """
    nodes = len(first)
    for i in range(nodes):
        to_left, to_right = outermost_dependents(pinned, i)
        low, high = nodes, -1
        for j in range(i + 1, nodes):
            start, stop = max(heads[i, 0], heads[j, 0]), min(heads[i, 1], heads[j, 1])
            have_common_head = start < stop and (start < i or stop > j + 1)
            kept.pair[i, j] = low >= i and high <= j and to_right < j and have_common_head
            low, high = min(low, first[j]), max(high, last[j])
            kept.complete[i, j] = low >= i and high <= j and to_right <= j
        low, high = nodes, -1
        for j in range(i - 1, -1, -1):
            kept.pair[j, i] &= to_left > j
            low, high = min(low, first[j]), max(high, last[j])
            kept.complete[i, j] = low >= j and high <= i and to_left >= j


@kernel
def outermost_dependents(pinned, head):
    """Return the first and the last of the nodes that are a head or its pinned dependents."""
    first = last = head
    for dependent in range(len(pinned)):
        if pinned[head, dependent]:
            first, last = min(first, dependent), max(last, dependent)
    return first, last


# The marginals of arcs from the second-order chart, by its sweep backwards; what is pruned is not touched either.


@kernel
def outside(weights, kept, single_root, chart, adjoints, marginals):
    """Fill marginals (n+1, n+1), zeros at first, with those of arcs: `inside` line by line, backwards.

    adjoints: a chart of zeros, which is filled with the derivatives of log Z; those of arc items come out multiplied by
    the weights of their arcs.
    """
    n = length(weights.arcs) - 1
    put(adjoints, (COMPLETE, 0, n, 0), divide(one(chart), get(chart, (COMPLETE, 0, n, 0))))
    for j in range(n, 0, -1):
        if kept.complete[0, j] and (j == n or not single_root):
            return_complete(kept, chart, adjoints, 0, j)
        if kept.arc[0, j]:
            return_arc(weights, kept, chart, adjoints, 0, j, not single_root, marginals)
        for i in range(1, j):
            for head, end in ((j, i), (i, j)):
                if kept.complete[head, end]:
                    return_complete(kept, chart, adjoints, head, end)
            for head, end in ((j, i), (i, j)):
                if kept.arc[head, end]:
                    return_arc(weights, kept, chart, adjoints, head, end, True, marginals)
            if kept.pair[i, j]:
                return_pair(kept, chart, adjoints, i, j)


@kernel
def return_complete(kept, chart, adjoints, head, end):
    """Hand the adjoint of a complete item to those that it was made of."""
    first, count = heads_of(kept, head)
    step = 1 if head < end else -1
    h, e, at = Index(head), Index(end), grandparent_of(chart, head)
    adjoint = part(row(adjoints, (COMPLETE, h, e)), first, first + count)
    for dependent in range(head + step, end + step, step):
        d = Index(dependent)
        if kept.arc[h, d] and kept.complete[d, e]:
            rest = COMPLETE, d, e, at
            add_multiple(adjoints, (ARC, h, d), adjoints, (COMPLETE, h, e), get(chart, rest), first, count)
            total = inner(adjoint, part(row(chart, (ARC, h, d)), first, first + count))
            put(adjoints, rest, add(get(adjoints, rest), total))


@kernel
def return_arc(weights, kept, chart, adjoints, head, dependent, with_siblings, marginals):
    """Hand the adjoint of an arc's item to what it was made of, and fill its marginal."""
    first, count = heads_of(kept, head)
    step = 1 if head < dependent else -1
    h, d, at = Index(head), Index(dependent), grandparent_of(chart, head)
    adjoint = part(row(adjoints, (ARC, h, d)), first, first + count)
    put(marginals, (head, dependent), inner(adjoint, part(row(chart, (ARC, h, d)), first, first + count)))
    total = zero(adjoints)
    for k in range(count):
        place = ARC, h, d, first + k
        put(adjoints, place, multiply(get(adjoints, place), get(weights.arcs, (h, d, first + k))))
        total = add(total, get(adjoints, place))
    nearest = COMPLETE, d, Index(head + step), at
    if kept.complete[d, head + step]:
        put(adjoints, nearest, add(get(adjoints, nearest), multiply(total, get(weights.siblings, (h, d, h)))))
    if with_siblings:
        for sibling in range(head + step, dependent, step):
            s = Index(sibling)
            between = PAIR, min(s, d), max(s, d), at
            if kept.arc[h, s] and kept.pair[between[1], between[2]]:
                weight = get(weights.siblings, (h, d, s))
                factor = multiply(get(chart, between), weight)
                add_multiple(adjoints, (ARC, h, s), adjoints, (ARC, h, d), factor, first, count)
                total = inner(adjoint, part(row(chart, (ARC, h, s)), first, first + count))
                put(adjoints, between, add(get(adjoints, between), multiply(total, weight)))


@kernel
def return_pair(kept, chart, adjoints, i, j):
    """Hand the adjoint of a pair to the complete items that it was made of."""
    first, count = heads_of_both(kept, i, j)
    i, j = Index(i), Index(j)
    for r in range(i, j):
        left, right = (COMPLETE, i, r), (COMPLETE, j, r + Index(1))
        if kept.complete[i, r] and kept.complete[j, r + Index(1)]:
            add_products(adjoints, left, adjoints, (PAIR, i, j), chart, right, first, count)
            add_products(adjoints, right, adjoints, (PAIR, i, j), chart, left, first, count)
