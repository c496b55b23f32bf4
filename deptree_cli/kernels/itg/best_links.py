"""The links of the derivation of the largest weight, from the top of a chart of tropical numbers down."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.itg.chart import terminal
from deptree_cli.kernels.itg.derivations import TERMINAL, all_derivations, is_rule_of, room_for, rules_in, split
from deptree_cli.kernels.itg.rules import PAIR
from deptree_cli.kernels.itg.sampler import NONE, factors
from deptree_cli.kernels.numbers.operations import get, inner, is_less, length, multiply, zero


@kernel
def follow(weights, kept, chart, targets):
    """Fill targets (p,) with the target word of every source word, -1 for none.

    weights, chart: tropical numbers, the chart as `inside` fills it; there is a derivation. Every item is split anew
    where its sum is largest; of equals the first wins.
    """
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    todo = np.empty((room_for(p, q), 5), np.int64)
    targets[:] = NONE
    count = all_derivations(p, q, todo)
    while count > 0:
        count -= 1
        table, s, t, u, v = todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3], todo[count, 4]
        rule, middle = best_rule(weights, kept, chart, p, q, table, s, t, u, v)
        if rule != TERMINAL:
            first, x, y = factors(rule, kept, chart, p, q, s, t, u, v, middle)
            count = split(todo, count, rule, s, t, u, v, middle, first + best_place(x, y))
        elif t > s and v > u:
            targets[s] = u


@kernel
def best_rule(weights, kept, chart, p, q, table, s, t, u, v):
    """Return the rule of an item's largest product, and where it is divided on the source side."""
    best, best_rule, best_middle = zero(chart), TERMINAL, s
    if table < PAIR:
        best = terminal(weights, s, t, u, v)
    for rule in range(rules_in(chart)):
        if is_rule_of(table, rule):
            for middle in range(s, t + 1):
                _, x, y = factors(rule, kept, chart, p, q, s, t, u, v, middle)
                value = inner(x, y)
                if is_less(best, value):
                    best, best_rule, best_middle = value, rule, middle
    return best_rule, best_middle


@kernel
def best_place(x, y):
    """Return where the product of two rows is largest."""
    best = 0
    for k in range(1, length(x)):
        if is_less(multiply(get(x, best), get(y, best)), multiply(get(x, k), get(y, k))):
            best = k
    return best
