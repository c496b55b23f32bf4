"""The projective tree of the largest sum of scores: Eisner's (1996) chart with maxima in the place of sums, O(n^3)."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.trees.eisner_sampler import BETWEEN, LEFT, RIGHT

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
    right, right_by_end, left, left_by_end = np.zeros((4, n + 1, n + 1))  # as in `eisner.Chart`
    right_arc, left_arc = np.empty((2, n + 1, n + 1))
    splits = np.full((3, n + 1, n + 1), NONE)
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            stop = 1 if single_root and i == 0 else j
            best, splits[BETWEEN, i, j] = best_sum(right[i], left_by_end[j], i, stop, 1)
            right_arc[i, j], left_arc[j, i] = best + scores[i, j], best + scores[j, i]
            if i > 0 or j == n or not single_root:
                best, splits[RIGHT, i, j] = best_sum(right_arc[i], right_by_end[j], i + 1, j + 1, 0)
                right[i, j] = right_by_end[j, i] = best
            if i > 0:
                best, splits[LEFT, i, j] = best_sum(left[i], left_arc[j], i, j, 0)
                left[i, j] = left_by_end[j, i] = best
    if right[0, n] > -math.inf:
        follow(splits, heads)
    return right[0, n]


@kernel
def best_sum(x, y, start, stop, shift):
    """Return the largest x[k] + y[k + shift], start <= k < stop, and its k."""
    best, at = -math.inf, NONE
    for k in range(start, stop):
        if x[k] + y[k + shift] > best:
            best, at = x[k] + y[k + shift], k
    return best, at


@kernel
def follow(splits, heads):
    """Fill heads (n,) by the splits (3, n+1, n+1) of the items RIGHT, LEFT and BETWEEN, from the top."""
    n = heads.shape[0]
    todo = np.empty((2 * n + 2, 3), np.int64)
    count = push(todo, 0, RIGHT, 0, n)
    while count > 0:
        count -= 1
        item, i, j = todo[count, 0], todo[count, 1], todo[count, 2]
        k = splits[item, i, j]
        if item == RIGHT:
            heads[k - 1] = i
            count = push(todo, count, RIGHT, k, j)
            count = push(todo, count, BETWEEN, i, k)
        elif item == LEFT:
            heads[k - 1] = j
            count = push(todo, count, LEFT, i, k)
            count = push(todo, count, BETWEEN, k, j)
        else:
            count = push(todo, count, RIGHT, i, k)
            count = push(todo, count, LEFT, k + 1, j)


@kernel
def push(todo, count, item, i, j):
    """Add an item to those still to be split, unless there is nothing in it; return their number."""
    if i == j:
        return count
    todo[count, 0], todo[count, 1], todo[count, 2] = item, i, j
    return count + 1
