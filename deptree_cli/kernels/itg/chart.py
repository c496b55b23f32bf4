"""Sums over the derivations of an inversion transduction grammar (Wu 1997), and the marginals of links backwards.

Numbers of any kind are added and multiplied, and divided once, never subtracted. Only bispans that are kept are looked
at (`masks.py`), and within the sums over places of division only ranges of kept ones: what is pruned costs nothing.
Functions are inlined, because handing over arrays would take longer than a short sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.itg.masks import cell
from deptree_cli.kernels.itg.rules import (
    INVERTED,
    INVERTED_OF_TWO,
    INVERTED_PAIR_BY_END,
    NOT_INVERTED,
    NOT_STRAIGHT_BY_END,
    PAIR,
    PAIR_BY_END,
    RULES,
    STRAIGHT,
    STRAIGHT_OF_TWO,
    STRAIGHT_PAIR,
    THREE,
    TOTAL,
    TOTAL_BY_END,
    WITH_THREE,
)
from deptree_cli.kernels.itg.spans import by_end, by_start
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    get,
    is_positive,
    length,
    multiply,
    one,
    put,
    zero,
)
from deptree_cli.kernels.xoshiro import U64


class Weights(NamedTuple):
    """What the parts of a derivation weigh: arrays of numbers for p source and q target words.

    Attributes:
        links: (p, q), of linking a source with a target word.
        source_nulls, target_nulls: (p,) and (q,), of leaving a word unlinked.
        bispans: (source spans, target spans by their starts), with which every A, B, C and D over a bispan is
            multiplied; without rows where there are none.
        pairs: the same, with which every P and Q is multiplied.
    """

    links: Any
    source_nulls: Any
    target_nulls: Any
    bispans: Any
    pairs: Any


@kernel
def inside(weights, kept, chart):
    """Fill a chart (tables, source spans, target spans), zeros at first; return the partition function."""
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    for k in range(kept.count[0]):
        s, t, u, v = cell(kept, k)
        fill(weights, kept, chart, p, q, s, t, u, v)
    return get(chart, (TOTAL, by_start(p, 0, p), by_start(q, 0, q)))


@kernel(forceinline=True)
def fill(weights, kept, chart, p, q, s, t, u, v):
    """Fill the items of a bispan."""
    source, target, target_by_end = by_start(p, s, t), by_start(q, u, v), by_end(u, v)
    straight = sum_of(STRAIGHT, kept, chart, p, q, s, t, u, v)
    inverted = sum_of(INVERTED, kept, chart, p, q, s, t, u, v)
    rest = terminal(weights, s, t, u, v)
    if length(chart) == WITH_THREE:
        for rule in range(THREE, STRAIGHT_OF_TWO):
            rest = add(rest, sum_of(rule, kept, chart, p, q, s, t, u, v))
        straight_pair = sum_of(STRAIGHT_OF_TWO, kept, chart, p, q, s, t, u, v)
        inverted_pair = sum_of(INVERTED_OF_TWO, kept, chart, p, q, s, t, u, v)
        if length(weights.pairs):
            weight = get(weights.pairs, (source, target))
            straight_pair, inverted_pair = multiply(straight_pair, weight), multiply(inverted_pair, weight)
        put(chart, (PAIR, source, target), add(straight_pair, inverted_pair))
        put(chart, (PAIR_BY_END, source, target_by_end), add(straight_pair, inverted_pair))
        put(chart, (STRAIGHT_PAIR, source, target), straight_pair)
        put(chart, (INVERTED_PAIR_BY_END, source, target_by_end), inverted_pair)
    if length(weights.bispans):
        weight = get(weights.bispans, (source, target))
        straight, inverted, rest = multiply(straight, weight), multiply(inverted, weight), multiply(rest, weight)
    total = add(add(rest, straight), inverted)
    put(chart, (TOTAL, source, target), total)
    put(chart, (TOTAL_BY_END, source, target_by_end), total)
    put(chart, (NOT_STRAIGHT_BY_END, source, target_by_end), add(rest, inverted))
    put(chart, (NOT_INVERTED, source, target), add(rest, straight))


@kernel(forceinline=True)
def terminal(weights, s, t, u, v):
    """Return the weight of C over a bispan."""
    if t - s == 1 and v - u == 1:
        return get(weights.links, (s, u))
    if t - s == 1 and v == u:
        return get(weights.source_nulls, s)
    if t == s and v - u == 1:
        return get(weights.target_nulls, u)
    return zero(weights.links)


@kernel(forceinline=True)
def sum_of(rule, kept, chart, p, q, s, t, u, v):
    """Return the sum of the products of a rule's two children over a bispan, wherever it is divided.

    No views of rows are made: with so few products in each they would cost more than these.
    """
    inverted, x, y = RULES[rule, 0] == 1, U64(RULES[rule, 1]), U64(RULES[rule, 2])
    left_begin, right_begin = beginnings(inverted, q, u, v)
    total = zero(chart)
    for middle in range(s, t + 1):
        left, right = U64(by_start(p, s, middle)), U64(by_start(p, middle, t))
        first, end = divisions(inverted, kept, left, right, u, v)
        for place in range(first, end):
            of_left, of_right = (x, left, U64(left_begin + place)), (y, right, U64(right_begin + place))
            total = add(total, multiply(get(chart, of_left), get(chart, of_right)))
    return total


@kernel(forceinline=True)
def beginnings(inverted, q, u, v):
    """Return where in the rows of a rule's two tables the spans with one end at u or v would begin with place 0."""
    if inverted:
        return by_end(0, v), by_start(q, u, 0)
    return by_start(q, u, 0), by_end(0, v)


@kernel(forceinline=True)
def divisions(inverted, kept, left, right, u, v):
    """Return the first place at which u..v can be divided between two source spans, and the one behind the last."""
    ends, starts = kept.ends, kept.starts
    if inverted:
        first = max(starts[left, v, 0], ends[right, u, 0], u)
        return first, min(starts[left, v, 1], ends[right, u, 1], v) + 1
    first = max(ends[left, u, 0], starts[right, v, 0], u)
    return first, min(ends[left, u, 1], starts[right, v, 1], v) + 1


@kernel
def outside(weights, kept, chart, adjoints, marginals):
    """Fill marginals (p, q), zeros at first, with those of links: `inside` line by line, backwards.

    adjoints: a chart of zeros, which is filled with the derivatives of log Z.
    """
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    top = TOTAL, by_start(p, 0, p), by_start(q, 0, q)
    put(adjoints, top, divide(one(chart), get(chart, top)))
    for k in range(kept.count[0] - 1, -1, -1):
        s, t, u, v = cell(kept, k)
        hand_down(weights, kept, chart, adjoints, p, q, s, t, u, v, marginals)


@kernel(forceinline=True)
def hand_down(weights, kept, chart, adjoints, p, q, s, t, u, v, marginals):
    """Hand the adjoints of a bispan's items to what they were made of."""
    source, target, target_by_end = by_start(p, s, t), by_start(q, u, v), by_end(u, v)
    not_straight = get(adjoints, (NOT_STRAIGHT_BY_END, source, target_by_end))
    not_inverted = get(adjoints, (NOT_INVERTED, source, target))
    total = add(get(adjoints, (TOTAL, source, target)), get(adjoints, (TOTAL_BY_END, source, target_by_end)))
    straight, inverted = add(total, not_inverted), add(total, not_straight)
    rest = add(straight, not_straight)
    if length(weights.bispans):
        weight = get(weights.bispans, (source, target))
        straight, inverted, rest = multiply(straight, weight), multiply(inverted, weight), multiply(rest, weight)
    if t - s == 1 and v - u == 1:
        put(marginals, (s, u), multiply(rest, get(weights.links, (s, u))))
    return_sum(STRAIGHT, straight, kept, chart, adjoints, p, q, s, t, u, v)
    return_sum(INVERTED, inverted, kept, chart, adjoints, p, q, s, t, u, v)
    if length(chart) == WITH_THREE:
        for rule in range(THREE, STRAIGHT_OF_TWO):
            return_sum(rule, rest, kept, chart, adjoints, p, q, s, t, u, v)
        pair = add(get(adjoints, (PAIR, source, target)), get(adjoints, (PAIR_BY_END, source, target_by_end)))
        straight = add(pair, get(adjoints, (STRAIGHT_PAIR, source, target)))
        inverted = add(pair, get(adjoints, (INVERTED_PAIR_BY_END, source, target_by_end)))
        if length(weights.pairs):
            weight = get(weights.pairs, (source, target))
            straight, inverted = multiply(straight, weight), multiply(inverted, weight)
        return_sum(STRAIGHT_OF_TWO, straight, kept, chart, adjoints, p, q, s, t, u, v)
        return_sum(INVERTED_OF_TWO, inverted, kept, chart, adjoints, p, q, s, t, u, v)


@kernel(forceinline=True)
def return_sum(rule, adjoint, kept, chart, adjoints, p, q, s, t, u, v):
    """Hand the adjoint of a rule's sum to the two children of every product in it."""
    if not is_positive(adjoint):
        return
    inverted, x, y = RULES[rule, 0] == 1, U64(RULES[rule, 1]), U64(RULES[rule, 2])
    left_begin, right_begin = beginnings(inverted, q, u, v)
    for middle in range(s, t + 1):
        left, right = U64(by_start(p, s, middle)), U64(by_start(p, middle, t))
        first, end = divisions(inverted, kept, left, right, u, v)
        for place in range(first, end):
            of_left, of_right = (x, left, U64(left_begin + place)), (y, right, U64(right_begin + place))
            put(adjoints, of_left, add(get(adjoints, of_left), multiply(adjoint, get(chart, of_right))))
            put(adjoints, of_right, add(get(adjoints, of_right), multiply(adjoint, get(chart, of_left))))


@kernel
def clear(kept, p, q, tables):
    """Put zeros wherever a chart or its adjoints may hold something: in the ranges between kept bispans."""
    for k in range(kept.count[0]):
        s, t, u, v = cell(kept, k)
        source, nothing = by_start(p, s, t), zero(tables)
        if v == kept.ends[source, u, 0]:
            begin = by_start(q, u, 0)
            for i in range(begin + v, begin + kept.ends[source, u, 1] + 1):
                for table in range(length(tables)):
                    put(tables, (table, source, i), nothing)
        if u == kept.starts[source, v, 0]:
            begin = by_end(0, v)
            for i in range(begin + u, begin + kept.starts[source, v, 1] + 1):
                for table in range(length(tables)):
                    put(tables, (table, source, i), nothing)
