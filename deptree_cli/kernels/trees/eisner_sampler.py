"""Exact projective trees from the top of Eisner's chart down: every item is split in proportion to what it sums."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import get, is_negative, is_positive, multiply, scale, subtract
from deptree_cli.kernels.trees.items import BETWEEN, LEFT, RIGHT, all_items
from deptree_cli.kernels.xoshiro import TO_UNIT, U64, step


@kernel
def sample_trees(chart, single_root, state, heads):
    """Fill heads (k, n) with independent trees: O(n^2) each at worst, about n log n where arcs are short."""
    n = heads.shape[1]
    todo = np.empty((2 * n + 2, 3), np.int64)
    for t in range(heads.shape[0]):
        split_items(chart, single_root, todo, all_items(n, todo), state, heads[t])


# Inlined: else handing over the chart would take longer than a short sentence's tree.
@kernel(forceinline=True)
def split_items(chart, single_root, todo, count, state, heads):
    """Split the first `count` items of todo (2n+2, 3), and all that they are made of; put their arcs into heads (n,).

    What rounding leaves over goes to the last positive product: none of 0 is ever drawn. Everything happens on
    local variables: calls that hand arrays on would take five times as long.
    """
    right, right_by_end, left, left_by_end = chart.right, chart.right_by_end, chart.left, chart.left_by_end
    right_arc, left_arc, between = chart.right_arc, chart.left_arc, chart.between
    s0, s1, s2, s3 = state
    while count > 0:
        count -= 1
        item, i, j = todo[count, 0], todo[count, 1], todo[count, 2]
        bits, s0, s1, s2, s3 = step(s0, s1, s2, s3)
        uniform = np.float64(bits >> U64(11)) * TO_UNIT
        if item == RIGHT:
            rest, k = scale(get(right, (i, j)), uniform), i + 1
            while k < j:
                rest = subtract(rest, multiply(get(right_arc, (i, k)), get(right_by_end, (j, k))))
                if is_negative(rest):
                    break
                k += 1
            while not is_positive(multiply(get(right_arc, (i, k)), get(right_by_end, (j, k)))):
                k -= 1
            heads[k - 1] = i
            if k < j:
                todo[count, 0], todo[count, 1], todo[count, 2] = RIGHT, k, j
                count += 1
            todo[count, 0], todo[count, 1], todo[count, 2] = BETWEEN, i, k
            count += 1
        elif item == LEFT:
            rest, k = scale(get(left, (i, j)), uniform), i
            while k < j - 1:
                rest = subtract(rest, multiply(get(left, (i, k)), get(left_arc, (j, k))))
                if is_negative(rest):
                    break
                k += 1
            while not is_positive(multiply(get(left, (i, k)), get(left_arc, (j, k)))):
                k -= 1
            heads[k - 1] = j
            if k > i:
                todo[count, 0], todo[count, 1], todo[count, 2] = LEFT, i, k
                count += 1
            todo[count, 0], todo[count, 1], todo[count, 2] = BETWEEN, k, j
            count += 1
        else:
            rest, k = scale(get(between, (i, j)), uniform), i
            last = i if single_root and i == 0 else j - 1
            while k < last:
                rest = subtract(rest, multiply(get(right, (i, k)), get(left_by_end, (j, k + 1))))
                if is_negative(rest):
                    break
                k += 1
            while not is_positive(multiply(get(right, (i, k)), get(left_by_end, (j, k + 1)))):
                k -= 1
            if k > i:
                todo[count, 0], todo[count, 1], todo[count, 2] = RIGHT, i, k
                count += 1
            if k + 1 < j:
                todo[count, 0], todo[count, 1], todo[count, 2] = LEFT, k + 1, j
                count += 1
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
