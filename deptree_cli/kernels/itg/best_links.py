"""The alignment of the largest weight, from the top of a chart of tropical numbers down."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.itg.chart import TOTAL, before, leaf
from deptree_cli.kernels.itg.masks import NONE, is_kept
from deptree_cli.kernels.itg.parts import has_order, parts, places, push, split, weight_of
from deptree_cli.kernels.itg.spans import by_start
from deptree_cli.kernels.numbers.operations import get, is_less, length, multiply


@kernel
def follow(weights, kept, chart, targets):
    """Fill targets (p,) with the target word of every source word, -1 for none.

    weights, chart: tropical numbers, the chart as `inside` fills it; there is an alignment. Every item is split anew
    where its sum is largest; of equals the first wins, and unlinked words before links.
    """
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    todo = np.empty((min(p, q) + 1, 5), np.int64)
    targets[:] = NONE
    s, u = best_beginning(weights, kept, chart)
    count = 0 if s == NONE else push(todo, 0, TOTAL, s, p, u, q)
    while count > 0:
        count -= 1
        table, s, t, u, v = todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3], todo[count, 4]
        order, middle, place = best_division(weights, kept, chart, p, q, table, s, t, u, v)
        if middle == s:
            targets[s] = u
        else:
            count = split(todo, count, order, s, t, u, v, middle, place)


@kernel
def best_beginning(weights, kept, chart):
    """Return the first linked words of the best alignment, -1 for none."""
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    best, best_s, best_u = before(weights, p, q), NONE, NONE
    for s in range(p):
        source = by_start(p, s, p)
        for u in range(q):
            if is_kept(kept, source, u, q):
                value = multiply(before(weights, s, u), get(chart, (TOTAL, source, by_start(q, u, q))))
                if is_less(best, value):
                    best, best_s, best_u = value, s, u
    return best_s, best_u


@kernel
def best_division(weights, kept, chart, p, q, table, s, t, u, v):
    """Return in which order an item has its best two parts, and where it is divided; at s if it is a leaf."""
    best, best_order, best_middle, best_place = leaf(weights, s, t, u, v), 0, s, u
    for order in range(2):
        if not has_order(table, order):
            continue
        for middle in range(s + 1, t):
            x_table, x_source, y_table, y_source = parts(p, order, s, t, middle)
            first, end = places(kept, x_source, u, v)
            for place in range(first, end):
                value = weight_of(kept, chart, q, x_table, x_source, y_table, y_source, u, place, v)
                if is_less(best, value):
                    best, best_order, best_middle, best_place = value, order, middle, place
    return best_order, best_middle, best_place
