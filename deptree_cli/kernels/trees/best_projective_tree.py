"""The projective tree of the largest sum of scores: Eisner's (1996) chart with maxima in the place of sums, O(n^3)."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.trees.eisner import Chart
from deptree_cli.kernels.trees.items import LEFT, RIGHT, all_items, attach, split, splits_of
from deptree_cli.kernels.xoshiro import U64

NONE = -1


@kernel
def are_projective(trees, out):
    """Fill out (k,) with whether no two arcs of a tree (k, n), heads, cross: every word below an arc stays there."""
    n = trees.shape[1]
    for t in range(trees.shape[0]):
        out[t] = True
        for word in range(1, n + 1):
            first, last = min(word, trees[t, word - 1]), max(word, trees[t, word - 1])
            for between in range(first + 1, last):
                if trees[t, between - 1] < first or trees[t, between - 1] > last:
                    out[t] = False


@kernel
def best_projective_tree(scores, single_root, heads):
    """Fill heads (n,) with the best tree of scores (n+1, n+1), ``[head, dependent]``, -inf forbidding; return its sum.

    -inf is no tree. Of equals the first split wins.
    """
    n = heads.shape[0]
    chart = best_items(scores, single_root)
    if chart.right[0, n] > -math.inf:
        follow(chart, single_root, heads)
    return chart.right[0, n]


@kernel
def best_items(scores, single_root):
    """Return the chart of `eisner.inside` with the best sums of scores in the place of sums of weights."""
    n = scores.shape[0] - 1
    right, right_by_end, left, left_by_end = np.zeros((4, n + 1, n + 1))
    right_arc, left_arc, between = np.empty((3, n + 1, n + 1))
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            best = largest_sum(right[i], left_by_end[j], i, 1 if single_root and i == 0 else j, 1)
            between[i, j], right_arc[i, j], left_arc[j, i] = best, best + scores[i, j], best + scores[j, i]
            if i > 0:
                left[i, j] = left_by_end[j, i] = largest_sum(left[i], left_arc[j], i, j, 0)
            if i > 0 or j == n or not single_root:
                right[i, j] = right_by_end[j, i] = largest_sum(right_arc[i], right_by_end[j], i + 1, j + 1, 0)
    return Chart(right, right_by_end, left, left_by_end, right_arc, left_arc, between)


# The largest of several is the same in any order: no branch is needed, nor a check of indices that cannot be negative.
@kernel(fastmath={"nnan", "nsz", "reassoc"})
def largest_sum(x, y, start, stop, shift):
    """Return the largest x[k] + y[k + shift], start <= k < stop."""
    best = -math.inf
    for k in range(U64(start), U64(stop)):
        best = max(best, x[k] + y[k + U64(shift)])
    return best


@kernel
def best_sum(chart, item, i, j):
    """Return the best sum of an item RIGHT, LEFT or BETWEEN from i to j."""
    if item == RIGHT:
        return chart.right[i, j]
    return chart.left[i, j] if item == LEFT else chart.between[i, j]


@kernel
def best_split(chart, single_root, item, i, j):
    """Return where the best of an item RIGHT, LEFT or BETWEEN from i to j is split, of equals the first; or NONE."""
    start, stop = splits_of(single_root, item, i, j)
    total = best_sum(chart, item, i, j)
    if item == RIGHT:
        return place_of(total, chart.right_arc[i], chart.right_by_end[j], start, stop, 0)
    if item == LEFT:
        return place_of(total, chart.left[i], chart.left_arc[j], start, stop, 0)
    return place_of(total, chart.right[i], chart.left_by_end[j], start, stop, 1)


@kernel
def place_of(total, x, y, start, stop, shift):
    """Return the first k, start <= k < stop, at which x[k] + y[k + shift] is the total; NONE for a total of -inf."""
    k = start
    while k < stop and x[k] + y[k + shift] != total:
        k += 1
    return k if total > -math.inf else NONE


@kernel
def follow(chart, single_root, heads):
    """Fill heads (n,) with the tree at the top of a chart of best sums, which there is."""
    n = heads.shape[0]
    todo = np.empty((2 * n + 2, 3), np.int64)
    count = all_items(n, todo)
    while count > 0:
        count -= 1
        item, i, j = todo[count, 0], todo[count, 1], todo[count, 2]
        k = best_split(chart, single_root, item, i, j)
        attach(heads, item, i, j, k)
        count = split(todo, count, item, i, j, k)
