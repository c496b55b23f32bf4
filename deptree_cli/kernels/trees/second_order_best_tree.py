"""The projective tree of the largest sum of scores of arcs, grandparents and siblings, from its chart's top down."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.trees.second_order_items import ARC, COMPLETE, all_items, split


@kernel
def follow(weights, chart, single_root, heads):
    """Fill heads (n,) with the tree at the top of a chart, which there is: O(n^2) at worst.

    weights, chart: logarithms, float64, the chart as `second_order.inside` fills it with tropical numbers. Every item
    is split anew where its sum is largest; of equals the first split wins.
    """
    n = heads.shape[0]
    by_grandparent = chart.complete.shape[2] > 1
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
        score = chart.arc[head, d, above] + chart.complete[d, end, at]
        if score > chart.arc[head, best, above] + chart.complete[best, end, at]:
            best = d
    return best


@kernel
def sibling_before(weights, chart, head, dependent, above, at):
    """Return the best sibling before the dependent of an arc, the head itself for none."""
    step = 1 if head < dependent else -1
    best, highest = head, weights.siblings[head, dependent, head] + chart.complete[dependent, head + step, at]
    for s in range(head + step, dependent, step):
        between = weights.siblings[head, dependent, s] + chart.pair[min(s, dependent), max(s, dependent), at]
        if chart.arc[head, s, above] + between > highest:
            best, highest = s, chart.arc[head, s, above] + between
    return best


@kernel
def division(chart, first, last, above):
    """Return the best place to divide what stands between two siblings."""
    best = first
    for r in range(first, last):
        score = chart.complete[first, r, above] + chart.complete[last, r + 1, above]
        if score > chart.complete[first, best, above] + chart.complete[last, best + 1, above]:
            best = r
    return best
