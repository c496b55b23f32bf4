"""A projective tree as a sequence of choices: how the items of Eisner's chart are split, from the top down.

In the order of `items.py` that makes 2 n choices for a tree of n words, and every tree is made by one sequence only. A
choice is the node k at which an item is split: there are so many even where an item can be split at one place only.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    get,
    is_less,
    is_positive,
    length,
    logarithm,
    multiply,
    put,
    scale,
    subtract,
    zero,
)
from deptree_cli.kernels.trees.items import BETWEEN, LEFT, RIGHT, all_items, attach, split, splits_of

NONE = -1


# The helpers are inlined: handing over arrays would take longer than what they do.


class Sums(NamedTuple):
    """What the items of a chart sum, numbers (3, n+1, n+1).

    total[item, i, j] is the sum of x[item, i, k] * y[item, j, k] over the nodes k at which the item can be split.
    """

    total: Any
    x: Any
    y: Any


@kernel
def fill_sums(chart, sums):
    """Fill sums, zeros at first, from a `Chart`."""
    nodes = length(chart.right)
    for i in range(nodes):
        for k in range(nodes):
            put(sums.total, (RIGHT, i, k), get(chart.right, (i, k)))
            put(sums.total, (LEFT, i, k), get(chart.left, (i, k)))
            put(sums.total, (BETWEEN, i, k), get(chart.between, (i, k)))
            put(sums.x, (RIGHT, i, k), get(chart.right_arc, (i, k)))
            put(sums.x, (LEFT, i, k), get(chart.left, (i, k)))
            put(sums.x, (BETWEEN, i, k), get(chart.right, (i, k)))
            put(sums.y, (RIGHT, i, k), get(chart.right_by_end, (i, k)))
            put(sums.y, (LEFT, i, k), get(chart.left_arc, (i, k)))
            if k + 1 < nodes:
                put(sums.y, (BETWEEN, i, k), get(chart.left_by_end, (i, k + 1)))


@kernel(forceinline=True)
def product(sums, item, i, j, k):
    """Return the part of an item's sum that is split at k."""
    return multiply(get(sums.x, (item, i, k)), get(sums.y, (item, j, k)))


@kernel(forceinline=True)
def share(sums, item, i, j, k):
    """Return the probability that an item is split at k."""
    return divide(product(sums, item, i, j, k), get(sums.total, (item, i, j)))


@kernel(forceinline=True)
def all_but(sums, item, i, j, start, k, stop):
    """Return the sum of the parts split at start..stop-1, but not at k."""
    total = zero(sums.x)
    for before in range(start, k):
        total = add(total, product(sums, item, i, j, before))
    for behind in range(k + 1, stop):
        total = add(total, product(sums, item, i, j, behind))
    return total


@kernel
def draw_split(sums, item, i, j, start, but, stop, total, uniform):
    """Return where an item is split, start..stop-1 but not `but`, in proportion to the parts; never at one of 0.

    total: the sum of the parts in question. What rounding leaves over goes to the last of them that is positive.
    """
    rest, last = scale(total, uniform), NONE
    for k in range(start, stop):
        x = product(sums, item, i, j, k)
        if k != but and is_positive(x):
            last = k
            if is_less(rest, x):
                break
            rest = subtract(rest, x)
    return last


@kernel
def follow_choices(choices, todo, heads):
    """Split items from the top by the first choices of a tree, (length,); return how many items are still on the stack.

    Their arcs are put into heads (n,).
    """
    count = all_items(heads.shape[0], todo)
    for k in choices:
        count -= 1
        item, i, j = todo[count, 0], todo[count, 1], todo[count, 2]
        attach(heads, item, i, j, k)
        count = split(todo, count, item, i, j, k)
    return count


@kernel
def fill_log_shares(sums, item, i, j, start, stop, out):
    """Fill out (n+1,) with the log-probability of each split of an item, -inf where there is none."""
    out[:] = -math.inf
    for k in range(start, stop):
        x = share(sums, item, i, j, k)
        if is_positive(x):
            out[k] = logarithm(x)


@kernel
def log_choice_probs_of_each(sums, single_root, prefixes, out):
    """Fill out (b, n+1) with the log-probabilities of the choice that comes after each prefix (b, length)."""
    n = out.shape[1] - 1
    todo, heads = np.empty((2 * n + 2, 3), np.int64), np.empty(n, np.int32)
    for b in range(prefixes.shape[0]):
        top = follow_choices(prefixes[b], todo, heads) - 1
        item, i, j = todo[top, 0], todo[top, 1], todo[top, 2]
        start, stop = splits_of(single_root, item, i, j)
        fill_log_shares(sums, item, i, j, start, stop, out[b])


@kernel
def log_choice_probs_along(sums, single_root, prefix, uniforms, chosen, out):
    """Draw all choices after a prefix, chosen (m,), by uniform numbers (m,), and fill out (m, n+1) as above."""
    n = out.shape[1] - 1
    todo, heads = np.empty((2 * n + 2, 3), np.int64), np.empty(n, np.int32)
    count = follow_choices(prefix, todo, heads)
    for choice in range(chosen.shape[0]):
        count -= 1
        item, i, j = todo[count, 0], todo[count, 1], todo[count, 2]
        start, stop = splits_of(single_root, item, i, j)
        fill_log_shares(sums, item, i, j, start, stop, out[choice])
        total = get(sums.total, (item, i, j))
        chosen[choice] = k = draw_split(sums, item, i, j, start, NONE, stop, total, uniforms[choice])
        count = split(todo, count, item, i, j, k)


@kernel
def heads_of_each(sequences, heads):
    """Fill heads (b, n) with the trees of sequences of all choices, (b, 2n)."""
    todo = np.empty((2 * heads.shape[1] + 2, 3), np.int64)
    for b in range(heads.shape[0]):
        follow_choices(sequences[b], todo, heads[b])
