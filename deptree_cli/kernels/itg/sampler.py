"""Exact derivations from the chart's top down: items are split in proportion to what they sum."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.itg.chart import beginnings, divisions, terminal
from deptree_cli.kernels.itg.derivations import (
    TERMINAL,
    all_derivations,
    is_rule_of,
    room_for,
    rules_in,
    split,
    value_of,
)
from deptree_cli.kernels.itg.rules import PAIR, RULES
from deptree_cli.kernels.itg.spans import by_start
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    get,
    inner,
    is_negative,
    is_positive,
    length,
    multiply,
    part,
    row,
    scale,
    subtract,
)
from deptree_cli.kernels.xoshiro import uniform

NONE = -1


@kernel
def sample_links(weights, kept, chart, state, targets):
    """Fill targets (k, p) with the target words that source words are linked with in derivations drawn, -1 for none."""
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    todo = np.empty((room_for(p, q), 5), np.int64)
    for d in range(targets.shape[0]):
        targets[d] = NONE
        count = all_derivations(p, q, todo)
        while count > 0:
            count -= 1
            table, s, t, u, v = todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3], todo[count, 4]
            rule, middle, place = drawn(weights, kept, chart, state, p, q, table, s, t, u, v)
            if rule != TERMINAL:
                count = split(todo, count, rule, s, t, u, v, middle, place)
            elif t > s and v > u:
                targets[d, s] = u


@kernel
def drawn(weights, kept, chart, state, p, q, table, s, t, u, v):
    """Draw by which rule an item is made, and where it is divided on the source and on the target side.

    Of what rounding leaves over the last positive product gets it: none of 0 is ever drawn.
    """
    rest = scale(value_of(chart, p, q, table, s, t, u, v), uniform(state))
    last_rule, last_middle = TERMINAL, s
    factor = weights.bispans if table < PAIR else weights.pairs
    if length(factor):
        rest = divide(rest, get(factor, (by_start(p, s, t), by_start(q, u, v))))
    if table < PAIR:
        rest = subtract(rest, terminal(weights, s, t, u, v))
        if is_negative(rest):
            return TERMINAL, s, u
    for rule in range(rules_in(chart)):
        if not is_rule_of(table, rule):
            continue
        for middle in range(s, t + 1):
            first, x, y = factors(rule, kept, chart, p, q, s, t, u, v, middle)
            total = inner(x, y)
            if is_positive(total):
                last_rule, last_middle = rule, middle
                rest = subtract(rest, total)
                if is_negative(rest):
                    return rule, middle, first + place_in(add(rest, total), x, y)
    if last_rule == TERMINAL:
        return TERMINAL, s, u
    first, x, y = factors(last_rule, kept, chart, p, q, s, t, u, v, last_middle)
    return last_rule, last_middle, first + place_in(inner(x, y), x, y)


@kernel
def factors(rule, kept, chart, p, q, s, t, u, v, middle):
    """Return the first place of division, and for all from there on the values of a rule's two children."""
    order = RULES[rule, 0]
    left, right = by_start(p, s, middle), by_start(p, middle, t)
    first, end = divisions(order, kept, left, right, u, v)
    left_begin, right_begin = beginnings(order, q, u, v)
    end = max(first, end)
    x = part(row(row(chart, RULES[rule, 1]), left), left_begin + first, left_begin + end)
    y = part(row(row(chart, RULES[rule, 2]), right), right_begin + first, right_begin + end)
    return first, x, y


@kernel
def place_in(rest, x, y):
    """Return k at which the sum of x[j] * y[j] up to k first exceeds `rest`; else the last of the positive ones."""
    last = 0
    for k in range(length(x)):
        product = multiply(get(x, k), get(y, k))
        if is_positive(product):
            last = k
            rest = subtract(rest, product)
            if is_negative(rest):
                break
    return last
