"""Exact projective trees from the second-order chart's top down: items are split in proportion to what they sum."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import get, is_negative, is_positive, multiply, scale, subtract
from deptree_cli.kernels.trees.second_order import grandparents
from deptree_cli.kernels.trees.second_order_items import ARC, COMPLETE, all_items, split
from deptree_cli.kernels.xoshiro import TO_UNIT, U64, step


@kernel
def sample_trees(weights, chart, single_root, state, heads):
    """Fill heads (k, n) with independent trees: O(n^2) each at worst.

    Of what a step could choose, what rounding leaves over goes to the last positive product: none of 0 is ever drawn.
    Arrays and the state are local variables and the steps inlined, as in `eisner_sampler`.
    """
    arcs, siblings = weights.arcs, weights.siblings
    complete, arc, pair = chart.complete, chart.arc, chart.pair
    by_grandparent = grandparents(complete) > 1
    s0, s1, s2, s3 = state
    n = heads.shape[1]
    todo = np.empty((2 * n + 2, 4), np.int64)
    for t in range(heads.shape[0]):
        count = all_items(n, todo)
        while count > 0:
            count -= 1
            item, i, j, above = todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3]
            at = i if by_grandparent else 0
            bits, s0, s1, s2, s3 = step(s0, s1, s2, s3)
            uniform = np.float64(bits >> U64(11)) * TO_UNIT
            if item == COMPLETE:
                k = last_dependent_in(scale(get(complete, (i, j, above)), uniform), complete, arc, i, j, above, at)
            elif item == ARC:
                rest = scale(get(arc, (i, j, above)), uniform)
                farthest = i if single_root and i == 0 else j - (1 if i < j else -1)
                k = sibling_in(rest, arcs, siblings, complete, arc, pair, i, j, above, at, farthest)
            else:
                k = division_in(scale(get(pair, (i, j, above)), uniform), complete, i, j, above)
            count = split(todo, count, item, i, j, above, at, k, heads[t])
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel(forceinline=True)
def last_dependent_in(rest, complete, arc, head, end, above, at):
    """Return the last dependent of a complete item at which the sum of its parts first exceeds `rest`."""
    to = 1 if head < end else -1
    k = head + to
    while k != end:
        rest = subtract(rest, multiply(get(arc, (head, k, above)), get(complete, (k, end, at))))
        if is_negative(rest):
            break
        k += to
    while not is_positive(multiply(get(arc, (head, k, above)), get(complete, (k, end, at)))):
        k -= to
    return k


@kernel(forceinline=True)
def sibling_in(rest, arcs, siblings, complete, arc, pair, head, dependent, above, at, farthest):
    """Return the sibling before an arc's dependent at which the sum of the item's parts first exceeds `rest`.

    The head itself stands for none and comes first; farthest: the last node that may be the sibling.
    """
    to = 1 if head < dependent else -1
    weight = get(arcs, (head, dependent, above))
    first = multiply(get(siblings, (head, dependent, head)), get(complete, (dependent, head + to, at)))
    rest = subtract(rest, multiply(first, weight))
    k = head
    while k != farthest and not is_negative(rest):
        k += to
        rest = subtract(rest, with_sibling(siblings, arc, pair, head, dependent, above, at, k, weight))
    while k != head and not is_positive(with_sibling(siblings, arc, pair, head, dependent, above, at, k, weight)):
        k -= to
    return k


@kernel(forceinline=True)
def with_sibling(siblings, arc, pair, head, dependent, above, at, s, weight):
    """Return the part of an arc's item in which the sibling s comes before the dependent."""
    between = get(pair, (min(dependent, s), max(dependent, s), at))
    factor = multiply(get(siblings, (head, dependent, s)), between)
    return multiply(multiply(get(arc, (head, s, above)), factor), weight)


@kernel(forceinline=True)
def division_in(rest, complete, first, last, above):
    """Return the node behind which a pair is divided, at which the sum of its parts first exceeds `rest`."""
    k = first
    while k < last - 1:
        rest = subtract(rest, multiply(get(complete, (first, k, above)), get(complete, (last, k + 1, above))))
        if is_negative(rest):
            break
        k += 1
    while not is_positive(multiply(get(complete, (first, k, above)), get(complete, (last, k + 1, above)))):
        k -= 1
    return k
