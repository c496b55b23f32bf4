"""Sums over alignments by an inversion transduction grammar that builds each once, and P(link) by the same backwards.

An alignment links words one to one such that neighbouring parts change places, part within part (Wu 1997); any word may
be unlinked. Unlinked words belong to the linked one before them on their own side:

    root      S -> e* / f*  |  e* / f*  T    unlinked words before the first linked ones, T to both ends
    straight  A -> [T (B + C)]               the halves keep their order on the target side
    inverted  B -> <T (A + C)>               the halves change places
    leaf      C -> e eps* / f eps*           a link, and the unlinked words behind each of its words

and T = A + B + C. So leaves are given by the links, and of the binary trees over them Wu's normal form has one: the
right child of A is no A, and that of B no B. Every part begins with a linked word on both sides, none is empty on one
of them, and all that is built over a source span s..t depends on shorter source spans only, by products of strictly
triangular matrices over places u < n < v on the target side:

    A(u,v) = sum over m, n of T[s,m](u,n) * (B+C)[m,t](n,v)
    B(u,v) = sum over m, n of (A+C)[m,t](u,n) * T[s,m](n,v)

Numbers of any kind are added and multiplied, and divided once, never subtracted. Only ranges that are kept are looked
at (`masks.py`): what is pruned costs nothing, and nothing outside of them need be there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.bitext.kernels.masks import begins, ends, is_kept
from deptree_cli.bitext.kernels.spans import beginning, by_start
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    get,
    is_less,
    length,
    multiply,
    multiply_add,
    one,
    put,
    zero,
)

# Tables of a chart: T, B + C, and A + C.
TOTAL, NOT_STRAIGHT, NOT_INVERTED = range(3)
TABLES = 3


class Weights(NamedTuple):
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
    first_u, end_u = begins(kept, source)
    for u in range(first_u, end_u):
        first, end = ends(kept, source, u)
        at = beginning(q, u)
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
    (x_first, x_end), (y_first, y_end), (first_u, end_u) = (
        begins(kept, x_source),
        begins(kept, y_source),
        begins(kept, source),
    )
    for u in range(max(first_u, x_first), min(end_u, x_end)):
        first_v, end_v = ends(kept, source, u)
        first_n, end_n = ends(kept, x_source, u)
        at = beginning(q, u)
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
            first_u, end_u = begins(kept, source)
            for u in range(first_u, end_u):
                first, end = ends(kept, source, u)
                at = beginning(q, u)
                for table in range(TABLES):
                    for i in range(Index(at + first), Index(at + max(first, end))):
                        put(adjoints, (table, source, i), nothing)
                if t == p and is_kept(kept, source, u, q):
                    put(adjoints, (TOTAL, source, at + q), divide(before(weights, s, u), total))


@kernel(forceinline=True)
def fill_backwards(weights, kept, chart, adjoints, p, q, s, t, marginals):
    """Hand the adjoints of the items over a source span to what they were made of."""
    source = by_start(p, s, t)
    first_u, end_u = begins(kept, source)
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
        not_straight, not_inverted = (
            get(adjoints, (NOT_STRAIGHT, source, target)),
            get(adjoints, (NOT_INVERTED, source, target)),
        )
        straight, inverted = add(total, not_inverted), add(total, not_straight)
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
    (x_first, x_end), (y_first, y_end), (first_u, end_u) = (
        begins(kept, x_source),
        begins(kept, y_source),
        begins(kept, source),
    )
    for u in range(max(first_u, x_first), min(end_u, x_end)):
        first_v, end_v = ends(kept, source, u)
        first_n, end_n = ends(kept, x_source, u)
        at = beginning(q, u)
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
