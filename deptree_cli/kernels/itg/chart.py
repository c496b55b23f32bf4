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
    INVERTED_PAIR_BY_END,
    LEFT,
    LEFT_PAIR,
    NORMAL_RIGHT,
    NOT_INVERTED,
    NOT_STRAIGHT_BY_END,
    ORDERS,
    PAIR,
    PAIR_BY_END,
    RIGHT,
    RIGHT_PAIR,
    STRAIGHT,
    STRAIGHT_PAIR,
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
    straight, three, straight_pair = sums_of(STRAIGHT, kept, chart, p, q, s, t, u, v)
    inverted, inverted_three, inverted_pair = sums_of(INVERTED, kept, chart, p, q, s, t, u, v)
    rest = add(terminal(weights, s, t, u, v), add(three, inverted_three))
    if length(chart) == WITH_THREE:
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
def sums_of(order, kept, chart, p, q, s, t, u, v):
    """Return three sums of products of two children in one order, over all divisions of a bispan.

    They are those of A or B, of the rules of D, and of P or Q; 0 where the grammar does not have them. No views of rows
    are made: with so few products in each they would cost more than these.
    """
    tables, with_three = ORDERS[order], length(chart) == WITH_THREE
    left_begin, right_begin = beginnings(order, q, u, v)
    two, three, pair = zero(chart), zero(chart), zero(chart)
    for middle in range(s, t + 1):
        left, right = U64(by_start(p, s, middle)), U64(by_start(p, middle, t))
        first, end = divisions(order, kept, left, right, u, v)
        for place in range(first, end):
            i, j = U64(left_begin + place), U64(right_begin + place)
            x = get(chart, (tables[LEFT], left, i))
            two = add(two, multiply(x, get(chart, (tables[NORMAL_RIGHT], right, j))))
            if with_three:
                y = get(chart, (tables[RIGHT], right, j))
                pair = add(pair, multiply(x, y))
                three = add(three, multiply(get(chart, (tables[LEFT_PAIR], left, i)), y))
                three = add(three, multiply(x, get(chart, (tables[RIGHT_PAIR], right, j))))
    return two, three, pair


@kernel(forceinline=True)
def beginnings(order, q, u, v):
    """Return where in the rows of a rule's two tables the spans with one end at u or v would begin with place 0."""
    if order == INVERTED:
        return by_end(0, v), by_start(q, u, 0)
    return by_start(q, u, 0), by_end(0, v)


@kernel(forceinline=True)
def divisions(order, kept, left, right, u, v):
    """Return the first place at which u..v can be divided between two source spans, and the one behind the last."""
    ends, starts = kept.ends, kept.starts
    if order == INVERTED:
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
    straight_pair = inverted_pair = zero(chart)
    if length(chart) == WITH_THREE:
        pair = add(get(adjoints, (PAIR, source, target)), get(adjoints, (PAIR_BY_END, source, target_by_end)))
        straight_pair = add(pair, get(adjoints, (STRAIGHT_PAIR, source, target)))
        inverted_pair = add(pair, get(adjoints, (INVERTED_PAIR_BY_END, source, target_by_end)))
        if length(weights.pairs):
            weight = get(weights.pairs, (source, target))
            straight_pair, inverted_pair = multiply(straight_pair, weight), multiply(inverted_pair, weight)
    return_sums(STRAIGHT, straight, rest, straight_pair, kept, chart, adjoints, p, q, s, t, u, v)
    return_sums(INVERTED, inverted, rest, inverted_pair, kept, chart, adjoints, p, q, s, t, u, v)


@kernel(forceinline=True)
def return_sums(order, two, three, pair, kept, chart, adjoints, p, q, s, t, u, v):
    """Hand the adjoints of the three sums of an order to the two children of every product in them."""
    if not (is_positive(three) or is_positive(pair)):  # of A or B no adjoint is larger than that of D
        return
    tables, with_three = ORDERS[order], length(chart) == WITH_THREE
    left_begin, right_begin = beginnings(order, q, u, v)
    for middle in range(s, t + 1):
        left, right = U64(by_start(p, s, middle)), U64(by_start(p, middle, t))
        first, end = divisions(order, kept, left, right, u, v)
        for place in range(first, end):
            i, j = U64(left_begin + place), U64(right_begin + place)
            of_left, of_right = (tables[LEFT], left, i), (tables[NORMAL_RIGHT], right, j)
            x = get(chart, of_left)
            to_left = multiply(two, get(chart, of_right))
            put(adjoints, of_right, add(get(adjoints, of_right), multiply(two, x)))
            if with_three:
                right_total, left_pair = (tables[RIGHT], right, j), (tables[LEFT_PAIR], left, i)
                right_pair = tables[RIGHT_PAIR], right, j
                y = get(chart, right_total)
                to_left = add(to_left, add(multiply(pair, y), multiply(three, get(chart, right_pair))))
                to_right = add(multiply(pair, x), multiply(three, get(chart, left_pair)))
                put(adjoints, right_total, add(get(adjoints, right_total), to_right))
                put(adjoints, left_pair, add(get(adjoints, left_pair), multiply(three, y)))
                put(adjoints, right_pair, add(get(adjoints, right_pair), multiply(three, x)))
            put(adjoints, of_left, add(get(adjoints, of_left), to_left))


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
