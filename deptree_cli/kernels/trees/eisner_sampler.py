"""Exact projective trees from the top of Eisner's chart down: every item is split in proportion to what it sums."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import get, is_negative, is_positive, multiply, scale, subtract
from deptree_cli.kernels.trees.items import LEFT, RIGHT, all_items, attach, split, splits_of
from deptree_cli.kernels.xoshiro import TO_UNIT, U64, step


@kernel
def sample_trees(chart, single_root, state, heads):
    """Fill heads (k, n) with independent trees: O(n^2) each at worst, about n log n where arcs are short."""
    n = heads.shape[1]
    todo = np.empty((2 * n + 2, 3), np.int64)
    for t in range(heads.shape[0]):
        split_items(chart, single_root, todo, all_items(n, todo), state, heads[t])


# Inlined, and the state in local variables: else handing over arrays would take longer than a short sentence's tree.
@kernel(forceinline=True)
def split_items(chart, single_root, todo, count, state, heads):
    """Split the first `count` items of todo (2n+2, 3) and all that they are made of; put their arcs into heads (n,)."""
    right, right_by_end, left, left_by_end = chart.right, chart.right_by_end, chart.left, chart.left_by_end
    right_arc, left_arc, between = chart.right_arc, chart.left_arc, chart.between
    s0, s1, s2, s3 = state
    while count > 0:
        count -= 1
        item, i, j = todo[count, 0], todo[count, 1], todo[count, 2]
        bits, s0, s1, s2, s3 = step(s0, s1, s2, s3)
        uniform = np.float64(bits >> U64(11)) * TO_UNIT
        start, stop = splits_of(single_root, item, i, j)
        if item == RIGHT:
            total = scale(get(right, (i, j)), uniform)
            k = place_in(total, right_arc, i, right_by_end, j, start, stop, 0)
        elif item == LEFT:
            total = scale(get(left, (i, j)), uniform)
            k = place_in(total, left, i, left_arc, j, start, stop, 0)
        else:
            total = scale(get(between, (i, j)), uniform)
            k = place_in(total, right, i, left_by_end, j, start, stop, 1)
        attach(heads, item, i, j, k)
        count = split(todo, count, item, i, j, k)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel(forceinline=True)
def place_in(rest, x, i, y, j, start, stop, shift):
    """Return k, start <= k < stop, at which the sum of the products x[i, k] * y[j, k + shift] first exceeds `rest`.

    What rounding leaves over goes to the last positive product: none of 0 is ever taken.
    """
    k = start
    while k < stop - 1:
        rest = subtract(rest, multiply(get(x, (i, k)), get(y, (j, k + shift))))
        if is_negative(rest):
            break
        k += 1
    while not is_positive(multiply(get(x, (i, k)), get(y, (j, k + shift)))):
        k -= 1
    return k
