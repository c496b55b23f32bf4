"""Charts of alignments by an inversion transduction grammar."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels import walker
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.operations import add, divide, get, is_less, length, multiply, multiply_add, one, put, zero
from deptree_cli.kernels.walker import NONE, WIDTH, push, walk

# Numbers of spans: a chart over bispans is a table with a row for every source span, a column for every target span.
#
# A span i..j of a sentence of n words begins before word i and ends before word j, 0 <= i < j <= n. Spans that begin in
# the same place stand side by side: target spans are a triangular matrix, a row for where they begin.


@kernel(forceinline=True)
def spans_of(n):
    """Return how many spans there are."""
    return n * (n + 1) // 2


@kernel(forceinline=True)
def by_start(n, i, j):
    """Return the number of the span i..j among those sorted by their beginnings."""
    return beginning(n, i) + j


@kernel(forceinline=True)
def beginning(n, i):
    """Return what, added to j, gives the number of the span i..j."""
    return i * n - i * (i + 1) // 2 - 1


# What of a chart is kept: for every source span, and every place where a target span begins, a range of its ends.


class SpanMask(NamedTuple):
    """The bispans that are kept, for p source and q target words; all others are as if nothing were built over them.

    Attributes:
        ends: (source spans, q, 2): of the target spans that begin in a place the first end, and the one behind the
            last. Where there is none the second is not above the first.
        begins: (source spans, 2): the first place where some begin, and the one behind the last.
    """

    ends: Any
    begins: Any


def new_ranges(p: int, q: int) -> SpanMask:
    """Return ranges that are still to be filled."""
    return SpanMask(np.empty((spans_of(p), q, 2), dtype=np.int32), np.empty((spans_of(p), 2), dtype=np.int32))


@kernel(forceinline=True)
def ends(kept, source, u):
    """Return the first end of the target spans from u on, and the one behind the last."""
    return np.int64(kept.ends[source, u, 0]), np.int64(kept.ends[source, u, 1])


@kernel(forceinline=True)
def begins(kept, source, other):
    """Return the first place where target spans of both source spans may begin, and the one behind the last."""
    first, end = max(kept.begins[source, 0], kept.begins[other, 0]), min(kept.begins[source, 1], kept.begins[other, 1])
    return np.int64(first), np.int64(end)


@kernel(forceinline=True)
def is_kept(kept, source, u, v):
    """Return whether a bispan is within the ranges."""
    return kept.ends[source, u, 0] <= v < kept.ends[source, u, 1]


@kernel
def keep_states(states, kept):
    """Keep ranges that hold all that is marked, (source spans, target spans); what is between is kept as well."""
    q = kept.ends.shape[1]
    for source in range(states.shape[0]):
        kept.begins[source, 0], kept.begins[source, 1] = q, 0
        for u in range(q):
            first, last, begin = q + 1, NONE, beginning(q, u)
            for v in range(u + 1, q + 1):
                if states[source, begin + v]:
                    first, last = min(first, v), v
            keep(kept, source, u, first, last)


@kernel(forceinline=True)
def keep(kept, source, u, first, last):
    """Keep the target spans from u to first..last; places come in order, `begins` is empty before the first."""
    kept.ends[source, u, 0], kept.ends[source, u, 1] = first, last + 1
    if first <= last:
        kept.begins[source, 0] = min(kept.begins[source, 0], u)
        kept.begins[source, 1] = u + 1


@kernel(allocates=True)
def keep_around_links(target_of, source_of, kept):
    """Keep the bispans that no pinned link crosses: those that hold both of its words or neither.

    target_of (p,), source_of (q,): the word that a word is pinned to, -1 for none.

    A source span without a pinned word goes with the target spans without one. One with some goes with the spans that
    begin behind the last pinned word before their targets, and end before the next one behind them, if no other pinned
    target is among these.
    """
    p, q = target_of.shape[0], source_of.shape[0]
    free_from, free_to, pinned_before = gaps(source_of)
    for s in range(p):
        first, last, pinned = q, NONE, 0
        for t in range(s + 1, p + 1):
            if target_of[t - 1] != NONE:
                first, last = min(first, target_of[t - 1]), max(last, target_of[t - 1])
                pinned += 1
            source = by_start(p, s, t)
            kept.begins[source, 0], kept.begins[source, 1] = q, 0
            for u in range(q):
                if not pinned:
                    keep(kept, source, u, u + 1, free_to[u])
                elif free_from[first] <= u <= first and pinned_before[last + 1] - pinned_before[first] == pinned:
                    keep(kept, source, u, last + 1, free_to[last + 1])
                else:
                    keep(kept, source, u, q + 1, NONE)


@kernel(allocates=True)
def gaps(source_of):
    """Return for each place between target words where the gap between pinned words that it is in begins and ends.

    And how many pinned words are before it, (q+1,) each.
    """
    q = source_of.shape[0]
    start, end, before = np.zeros(q + 1, np.int64), np.full(q + 1, q), np.zeros(q + 1, np.int64)
    for j in range(1, q + 1):
        is_pinned = source_of[j - 1] != NONE
        start[j] = j if is_pinned else start[j - 1]
        before[j] = before[j - 1] + is_pinned
    for j in range(q - 1, -1, -1):
        end[j] = j if source_of[j] != NONE else end[j + 1]
    return start, end, before


# Sums over alignments by an inversion transduction grammar that builds each once, and P(link) by the same backwards.
#
# An alignment links words one to one such that neighbouring parts change places, part within part (Wu 1997); any word
# may be unlinked. Unlinked words belong to the linked one before them on their own side:
#
#     root      S -> e* / f*  |  e* / f*  T    unlinked words before the first linked ones, T to both ends
#     straight  A -> [T (B + C)]               the halves keep their order on the target side
#     inverted  B -> <T (A + C)>               the halves change places
#     leaf      C -> e eps* / f eps*           a link, and the unlinked words behind each of its words
#
# and T = A + B + C. So leaves are given by the links, and of the binary trees over them Wu's normal form has one: the
# right child of A is no A, and that of B no B. Every part begins with a linked word on both sides, none is empty on one
# of them, and all that is built over a source span s..t depends on shorter source spans only, by products of strictly
# triangular matrices over places u < n < v on the target side:
#
#     A(u,v) = sum over m, n of T[s,m](u,n) * (B+C)[m,t](n,v)
#     B(u,v) = sum over m, n of (A+C)[m,t](u,n) * T[s,m](n,v)
#
# Numbers of any kind are added and multiplied, and divided once, never subtracted. Only ranges that are kept are looked
# at: what is pruned costs nothing, and nothing outside of them need be there.


# Tables of a chart: T, B + C, and A + C.
TOTAL, NOT_STRAIGHT, NOT_INVERTED = range(3)
TABLES = 3


class LinkWeights(NamedTuple):
    """What an alignment is made of: arrays of numbers for p source and q target words.

    Attributes:
        links: (p, q), of linking a source with a target word.
        source_nulls, target_nulls: (p,) and (q,), of leaving a word unlinked.
        bispans: (source spans, target spans), with which every A, B and C over a bispan is multiplied; without rows
            where there are none.
        source_runs, target_runs: (p+1, p+1) and (q+1, q+1), `fill` makes them: of leaving the words i..j-1 unlinked.
    """

    links: Any
    source_nulls: Any
    target_nulls: Any
    bispans: Any
    source_runs: Any
    target_runs: Any


@kernel
def inside(weights, kept, chart, begin, end):
    """Fill a chart (tables, source spans, target spans) for source spans of begin..end-1 words; return what is summed.

    That is the partition function where the end is p + 1, and then the weight of one alignment at least.
    """
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    if begin == 1:
        fill_runs(weights.source_nulls, weights.source_runs)
        fill_runs(weights.target_nulls, weights.target_runs)
    for size in range(begin, end):
        for s in range(p + 1 - size):
            fill(weights, kept, chart, p, q, s, s + size)
    total = before(weights, p, q)
    if end == p + 1:
        for s in range(p):
            source = by_start(p, s, p)
            for u in range(q):
                if is_kept(kept, source, u, q):
                    rest = get(chart, (TOTAL, source, by_start(q, u, q)))
                    total = add(total, multiply(before(weights, s, u), rest))
    return total


@kernel
def fill_runs(nulls, runs):
    """Fill runs (n+1, n+1) with the weights of leaving the words i..j-1 unlinked."""
    n = length(nulls)
    for i in range(n + 1):
        put(runs, (i, i), one(runs))
        for j in range(i, n):
            put(runs, (i, j + 1), multiply(get(runs, (i, j)), get(nulls, j)))


@kernel(forceinline=True)
def before(weights, s, u):
    """Return the weight of the words before the first linked ones, s and u."""
    return multiply(get(weights.source_runs, (0, s)), get(weights.target_runs, (0, u)))


@kernel(forceinline=True)
def leaf(weights, s, t, u, v):
    """Return the weight of C over a bispan: its first words are linked, all others are not."""
    return multiply(linked(weights, s, t, u), get(weights.target_runs, (u + 1, v)))


@kernel(forceinline=True)
def linked(weights, s, t, u):
    """Return the weight of C but for its unlinked target words."""
    return multiply(get(weights.links, (s, u)), get(weights.source_runs, (s + 1, t)))


@kernel(forceinline=True)
def fill(weights, kept, chart, p, q, s, t):
    """Fill the items over a source span: A stands where A + C will, and B where B + C will."""
    source, nothing = by_start(p, s, t), zero(chart)
    first_u, end_u = begins(kept, source, source)
    for u in range(first_u, end_u):
        (first, end), at = ends(kept, source, u), beginning(q, u)
        for i in range(Index(at + first), Index(at + max(first, end))):
            put(chart, (NOT_INVERTED, source, i), nothing)
            put(chart, (NOT_STRAIGHT, source, i), nothing)
    for middle in range(s + 1, t):
        left, right = by_start(p, s, middle), by_start(p, middle, t)
        add_products(kept, chart, q, (TOTAL, left), (NOT_STRAIGHT, right), (NOT_INVERTED, source))
        add_products(kept, chart, q, (NOT_INVERTED, right), (TOTAL, left), (NOT_STRAIGHT, source))
    for u in range(first_u, end_u):
        finish(weights, kept, chart, q, source, s, t, u)


@kernel(forceinline=True)
def add_products(kept, chart, q, x_at, y_at, sums_at):
    """Add the product of two triangular matrices to a third: each is a table of items over a source span."""
    (x_table, x_source), (y_table, y_source), (table, source) = x_at, y_at, sums_at
    (y_first, y_end), (first_u, end_u) = begins(kept, y_source, y_source), begins(kept, source, x_source)
    for u in range(first_u, end_u):
        (first_v, end_v), (first_n, end_n), at = ends(kept, source, u), ends(kept, x_source, u), beginning(q, u)
        for n in range(max(first_n, y_first), min(end_n, y_end)):
            x = get(chart, (x_table, x_source, at + n))
            if is_less(zero(chart), x):
                first, end = ends(kept, y_source, n)
                first, end = max(first, first_v), min(end, end_v)
                of_sums, of_y = Index(at + first), Index(beginning(q, n) + first)
                for k in range(Index(max(end - first, 0))):
                    y = get(chart, (y_table, y_source, of_y + k))
                    target = table, source, of_sums + k
                    put(chart, target, add(get(chart, target), multiply(x, y)))


@kernel(forceinline=True)
def finish(weights, kept, chart, q, source, s, t, u):
    """Put down what there is over a source span and the target spans from u on, once A and B are summed."""
    first, end = ends(kept, source, u)
    at, behind = beginning(q, u), linked(weights, s, t, u)
    for v in range(first, end):
        target = at + v
        straight, inverted = get(chart, (NOT_INVERTED, source, target)), get(chart, (NOT_STRAIGHT, source, target))
        one_link = multiply(behind, get(weights.target_runs, (u + 1, v)))
        if length(weights.bispans):
            weight = get(weights.bispans, (source, target))
            straight, inverted = multiply(straight, weight), multiply(inverted, weight)
            one_link = multiply(one_link, weight)
        put(chart, (NOT_INVERTED, source, target), add(straight, one_link))
        put(chart, (NOT_STRAIGHT, source, target), add(inverted, one_link))
        put(chart, (TOTAL, source, target), add(add(straight, inverted), one_link))


@kernel
def outside(weights, kept, chart, total, adjoints, marginals, begin, end):
    """Add to marginals (p, q), zeros at first, what source spans of end-1..begin words give: `inside` backwards.

    adjoints: a chart, which is filled with the derivatives of log Z; the longest source spans are the first.
    """
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    if end == p + 1:
        begin_backwards(weights, kept, total, adjoints, p, q)
    for size in range(end - 1, begin - 1, -1):
        for s in range(p + 1 - size):
            fill_backwards(weights, kept, chart, adjoints, p, q, s, s + size, marginals)


@kernel
def begin_backwards(weights, kept, total, adjoints, p, q):
    """Fill adjoints with zeros, and with the derivatives by items that reach the ends of both sentences."""
    nothing = zero(adjoints)
    for s in range(p):
        for t in range(s + 1, p + 1):
            source = by_start(p, s, t)
            first_u, end_u = begins(kept, source, source)
            for u in range(first_u, end_u):
                (first, end), at = ends(kept, source, u), beginning(q, u)
                for table in range(TABLES):
                    for i in range(Index(at + first), Index(at + max(first, end))):
                        put(adjoints, (table, source, i), nothing)
                if t == p and is_kept(kept, source, u, q):
                    put(adjoints, (TOTAL, source, at + q), divide(before(weights, s, u), total))


@kernel(forceinline=True)
def fill_backwards(weights, kept, chart, adjoints, p, q, s, t, marginals):
    """Hand the adjoints of the items over a source span to what they were made of."""
    source = by_start(p, s, t)
    first_u, end_u = begins(kept, source, source)
    for u in range(first_u, end_u):
        finish_backwards(weights, kept, adjoints, q, source, s, t, u, marginals)
    for middle in range(s + 1, t):
        left, right = by_start(p, s, middle), by_start(p, middle, t)
        add_products_backwards(kept, chart, adjoints, q, (TOTAL, left), (NOT_STRAIGHT, right), (NOT_INVERTED, source))
        add_products_backwards(kept, chart, adjoints, q, (NOT_INVERTED, right), (TOTAL, left), (NOT_STRAIGHT, source))


@kernel(forceinline=True)
def finish_backwards(weights, kept, adjoints, q, source, s, t, u, marginals):
    """Make the adjoints of T, B + C and A + C those of A and B, in the places where they were summed."""
    first, end = ends(kept, source, u)
    at, found = beginning(q, u), zero(adjoints)
    for v in range(first, end):
        target = at + v
        total = get(adjoints, (TOTAL, source, target))
        not_straight = get(adjoints, (NOT_STRAIGHT, source, target))
        straight, inverted = add(total, get(adjoints, (NOT_INVERTED, source, target))), add(total, not_straight)
        one_link = add(straight, not_straight)
        if length(weights.bispans):
            weight = get(weights.bispans, (source, target))
            straight, inverted = multiply(straight, weight), multiply(inverted, weight)
            one_link = multiply(one_link, weight)
        put(adjoints, (NOT_INVERTED, source, target), straight)
        put(adjoints, (NOT_STRAIGHT, source, target), inverted)
        found = add(found, multiply(one_link, get(weights.target_runs, (u + 1, v))))
    put(marginals, (s, u), add(get(marginals, (s, u)), multiply(found, linked(weights, s, t, u))))


@kernel(forceinline=True)
def add_products_backwards(kept, chart, adjoints, q, x_at, y_at, sums_at):
    """Hand the adjoints of a product of two triangular matrices to both."""
    (x_table, x_source), (y_table, y_source), (table, source) = x_at, y_at, sums_at
    (y_first, y_end), (first_u, end_u) = begins(kept, y_source, y_source), begins(kept, source, x_source)
    for u in range(first_u, end_u):
        (first_v, end_v), (first_n, end_n), at = ends(kept, source, u), ends(kept, x_source, u), beginning(q, u)
        for n in range(max(first_n, y_first), min(end_n, y_end)):
            first, end = ends(kept, y_source, n)
            first, end = max(first, first_v), min(end, end_v)
            x_place = x_table, x_source, at + n
            x, of_x = get(chart, x_place), zero(chart)
            of_sums, of_y = Index(at + first), Index(beginning(q, n) + first)
            for k in range(Index(max(end - first, 0))):
                place = y_table, y_source, of_y + k
                slope = get(adjoints, (table, source, of_sums + k))
                of_x = multiply_add(of_x, slope, get(chart, place))
                put(adjoints, place, add(get(adjoints, place), multiply(x, slope)))
            put(adjoints, x_place, add(get(adjoints, x_place), of_x))


# Alignments from the top of a chart down: exact samples, and the one of the largest weight.
#
# An item (table, s, t, u, v) is what stands in a table of the chart over a bispan. It is split (`walker.py`) in
# row 0 as a leaf; there is a row for every order and middle of two parts, and a place for where the target side is
# divided. All alignments are the item (WHOLE, 0, p, 0, q): row 0 is the one without links, the others are of the first
# linked source word, with a place for the first linked target word.


WHOLE = 3  # the table of all alignments, which the chart does not have


class Alignments(NamedTuple):
    """The grammar of p source and q target words, with the chart and what it sums up to.

    The other fields are those of `LinkWeights` and `SpanMask` of these names: of a tuple within a tuple all arrays
    would be counted wherever one is used.
    """

    p: Any
    q: Any
    links: Any
    source_runs: Any
    target_runs: Any
    bispans: Any
    ends: Any
    chart: Any
    total: Any


@kernel(allocates=True)
def sample_links(weights, kept, chart, total, state, targets):
    """Fill targets (k, p) with the target words that source words are linked with in alignments drawn, -1 for none."""
    grammar, todo = grammar_of(weights, kept, chart, total)
    targets[:] = NONE
    for d in range(targets.shape[0]):
        walk(grammar, state, todo, push(todo, 0, (WHOLE, 0, grammar.p, 0, grammar.q)), targets[d])


@kernel(allocates=True)
def follow(weights, kept, chart, targets):
    """Fill targets (p,) with the target word of every source word, -1 for none.

    weights, chart: tropical numbers, the chart as `inside` fills it; there is an alignment. Every item is split anew
    where its sum is largest; of equals the first wins, and unlinked words before links.
    """
    grammar, todo = grammar_of(weights, kept, chart, zero(chart))
    targets[:] = NONE
    walk(grammar, None, todo, push(todo, 0, (WHOLE, 0, grammar.p, 0, grammar.q)), targets)


@kernel(allocates=True)
def grammar_of(weights, kept, chart, total):
    """Return the grammar, and memory for items that are still to be split: each has a link of its own."""
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    given = weights.links, weights.source_runs, weights.target_runs, weights.bispans
    return Alignments(p, q, *given, kept.ends, chart, total), np.empty((min(p, q) + 1, WIDTH), np.int64)


@kernel(forceinline=True)
def entry(grammar, table, source, u, v):
    """Return what stands in the chart."""
    return get(grammar.chart, (Index(table), Index(source), Index(by_start(grammar.q, u, v))))


@kernel(forceinline=True)
def order_in(item, row):
    """Return whether the parts of an item change places, and where it is divided on the source side."""
    table, s, t, _, _ = item
    inverted = table == NOT_STRAIGHT or row >= t - s
    return inverted, s + row - (t - s - 1 if inverted and table == TOTAL else 0)


@walker.total.register(Alignments)
def _total(grammar, item):
    table, s, t, u, v = item
    if table == WHOLE:
        return grammar.total
    source = by_start(grammar.p, s, t)
    found = entry(grammar, table, source, u, v)
    if length(grammar.bispans):
        return divide(found, get(grammar.bispans, (source, by_start(grammar.q, u, v))))
    return found


@walker.rows.register(Alignments)
def _rows(grammar, item):
    table, s, t, _, _ = item
    if table == WHOLE:
        return t + 1
    return 1 + (2 if table == TOTAL else 1) * (t - s - 1)


@walker.places.register(Alignments)
def _places(grammar, item, row):
    table, s, t, u, v = item
    if table == WHOLE and row == 0:
        return v, v + 1, (WHOLE, t, NONE, NONE, u, v)
    if table == WHOLE:
        return 0, v, (WHOLE, row - 1, TOTAL, by_start(t, row - 1, t), u, v)
    if row == 0:
        return u, u + 1, (table, s, NONE, t, u, v)
    inverted, middle = order_in(item, row)
    left, right = by_start(grammar.p, s, middle), by_start(grammar.p, middle, t)
    at = (NOT_INVERTED, right, TOTAL, left, u, v) if inverted else (TOTAL, left, NOT_STRAIGHT, right, u, v)
    first, end = ends(grammar, at[1], u)
    return first, min(end, v), at


@walker.part.register(Alignments)
def _part(grammar, at, place):
    x_table, x_source, y_table, y_source, u, v = at  # a leaf or no links: s, NONE, t
    n = np.int64(place)
    if y_table == NONE:
        return before(grammar, x_source, n) if x_table == WHOLE else leaf(grammar, x_source, y_source, u, v)
    if not is_kept(grammar, y_source, n, v):
        return zero(grammar.chart)
    x = before(grammar, x_source, n) if x_table == WHOLE else entry(grammar, x_table, x_source, u, n)
    return multiply(x, entry(grammar, y_table, y_source, n, v))


@walker.split.register(Alignments)
def _split(grammar, item, row, place):
    table, s, t, u, v = item
    nothing = TOTAL, s, s, u, u
    if table == WHOLE:
        return (TOTAL, row - 1, t, place, v) if row else nothing, nothing, NONE, NONE
    if row == 0:
        return nothing, nothing, s, u
    inverted, middle = order_in(item, row)
    if inverted:
        return (TOTAL, s, middle, place, v), (NOT_INVERTED, middle, t, u, place), NONE, NONE
    return (TOTAL, s, middle, u, place), (NOT_STRAIGHT, middle, t, place, v), NONE, NONE
