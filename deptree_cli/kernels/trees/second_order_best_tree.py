"""The projective tree of the largest sum of scores of arcs, grandparents and siblings, from its chart's top down."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import get, is_less, multiply
from deptree_cli.kernels.trees.second_order import grandparents
from deptree_cli.kernels.trees.second_order_items import ARC, COMPLETE, all_items, split


@kernel
def follow(weights, chart, single_root, heads):
    """Fill heads (n,) with the tree at the top of a chart, which there is: O(n^2) at worst.

    weights, chart: tropical numbers, the chart as `second_order.inside` fills it. Every item is split anew where its
    sum is largest; of equals the first split wins.
    """
    n = heads.shape[0]
    by_grandparent = grandparents(chart.complete) > 1
    todo = np.empty((2 * n + 2, 4), np.int64)
    count = all_items(n, todo)
    while count > 0:
        count -= 1
        item, i, j, above = todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3]
        at = i if by_grandparent else 0
        if item == COMPLETE:
            k = last_dependent(chart, i, j, above, at)
        elif item == ARC:
            k = i if single_root and i == 0 else sibling_before(weights, chart, i, j, above, at)
        else:
            k = division(chart, i, j, above)
        count = split(todo, count, item, i, j, above, at, k, heads)


@kernel
def last_dependent(chart, head, end, above, at):
    """Return the best last dependent of a complete item."""
    step = 1 if head < end else -1
    best = head + step
    for d in range(head + step, end + step, step):
        score = multiply(get(chart.arc, (head, d, above)), get(chart.complete, (d, end, at)))
        if is_less(multiply(get(chart.arc, (head, best, above)), get(chart.complete, (best, end, at))), score):
            best = d
    return best


@kernel
def sibling_before(weights, chart, head, dependent, above, at):
    """Return the best sibling before the dependent of an arc, the head itself for none."""
    step = 1 if head < dependent else -1
    siblings, pair = weights.siblings, chart.pair
    highest = multiply(get(siblings, (head, dependent, head)), get(chart.complete, (dependent, head + step, at)))
    best = head
    for s in range(head + step, dependent, step):
        between = multiply(get(siblings, (head, dependent, s)), get(pair, (min(s, dependent), max(s, dependent), at)))
        score = multiply(get(chart.arc, (head, s, above)), between)
        if is_less(highest, score):
            best, highest = s, score
    return best


@kernel
def division(chart, first, last, above):
    """Return the best place to divide what stands between two siblings."""
    complete, best = chart.complete, first
    for r in range(first, last):
        score = multiply(get(complete, (first, r, above)), get(complete, (last, r + 1, above)))
        if is_less(multiply(get(complete, (first, best, above)), get(complete, (last, best + 1, above))), score):
            best = r
    return best
