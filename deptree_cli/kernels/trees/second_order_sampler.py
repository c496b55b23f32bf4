"""Exact projective trees from the second-order chart's top down: items are split in proportion to what they sum."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import get, is_negative, is_positive, multiply, scale, subtract
from deptree_cli.kernels.trees.second_order import grandparents
from deptree_cli.kernels.xoshiro import TO_UNIT, U64, step

COMPLETE, ARC, PAIR = 0, 1, 2


@kernel
def sample_trees(weights, chart, single_root, state, heads):
    """Fill heads (k, n) with independent trees: O(n^2) each at worst.

    What rounding leaves over goes to the last positive product: none of 0 is ever drawn. Everything happens in one
    function, on local variables, as in `eisner_sampler`.
    """
    arcs, siblings = weights.arcs, weights.siblings
    complete, arc, pair = chart.complete, chart.arc, chart.pair
    by_grandparent = grandparents(complete) > 1
    s0, s1, s2, s3 = state
    n = heads.shape[1]
    todo = np.empty((2 * n + 2, 4), np.int64)
    for t in range(heads.shape[0]):
        todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = COMPLETE, 0, n, 0
        count = 1
        while count > 0:
            count -= 1
            item, i, j, above = todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3]
            to = 1 if i < j else -1
            at = i if by_grandparent else 0
            bits, s0, s1, s2, s3 = step(s0, s1, s2, s3)
            uniform = np.float64(bits >> U64(11)) * TO_UNIT
            if item == COMPLETE:
                rest, k = scale(get(complete, (i, j, above)), uniform), i + to
                while k != j:
                    rest = subtract(rest, multiply(get(arc, (i, k, above)), get(complete, (k, j, at))))
                    if is_negative(rest):
                        break
                    k += to
                while not is_positive(multiply(get(arc, (i, k, above)), get(complete, (k, j, at)))):
                    k -= to
                heads[t, k - 1] = i
                if k != j:
                    todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3] = COMPLETE, k, j, at
                    count += 1
                todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3] = ARC, i, k, above
                count += 1
            elif item == ARC:
                weight, rest = get(arcs, (i, j, above)), scale(get(arc, (i, j, above)), uniform)
                first = multiply(get(siblings, (i, j, i)), get(complete, (j, i + to, at)))
                k, last = i, i if single_root and i == 0 else j - to
                rest = subtract(rest, multiply(first, weight))
                while k != last and not is_negative(rest):
                    k += to
                    factor = multiply(get(siblings, (i, j, k)), get(pair, (min(j, k), max(j, k), at)))
                    rest = subtract(rest, multiply(multiply(get(arc, (i, k, above)), factor), weight))
                while k != i:
                    factor = multiply(get(siblings, (i, j, k)), get(pair, (min(j, k), max(j, k), at)))
                    if is_positive(multiply(multiply(get(arc, (i, k, above)), factor), weight)):
                        break
                    k -= to
                if k == i:
                    if j != i + to:
                        todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3] = COMPLETE, j, i + to, at
                        count += 1
                else:
                    heads[t, k - 1] = i
                    todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3] = ARC, i, k, above
                    todo[count + 1, 0], todo[count + 1, 1], todo[count + 1, 2] = PAIR, min(j, k), max(j, k)
                    todo[count + 1, 3] = at
                    count += 2
            else:
                rest, k = scale(get(pair, (i, j, above)), uniform), i
                while k < j - 1:
                    rest = subtract(rest, multiply(get(complete, (i, k, above)), get(complete, (j, k + 1, above))))
                    if is_negative(rest):
                        break
                    k += 1
                while not is_positive(multiply(get(complete, (i, k, above)), get(complete, (j, k + 1, above)))):
                    k -= 1
                if k > i:
                    todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3] = COMPLETE, i, k, above
                    count += 1
                if k + 1 < j:
                    todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3] = COMPLETE, j, k + 1, above
                    count += 1
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
