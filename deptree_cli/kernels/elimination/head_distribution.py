"""The head of one word given some other words' heads: eliminate every free word but that one (docs/how_it_works.md).

Nothing is subtracted, so each probability has a small relative error, however small it is. m^3 / 3 multiply-adds for m
words without a head.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.elimination.contraction import FREE, find_tops, gather_arcs
from deptree_cli.kernels.elimination.sweeps import eliminate
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    get,
    is_less,
    is_positive,
    logarithm,
    multiply,
    multiply_add,
    one,
    part,
    put,
    row,
    scale,
    zero,
)

# Products of positive float64 numbers above this have all their digits.
SMALLEST = 1e-290


@kernel
def log_head_probs_of_each(weights, roots, heads, words, A, S, workspace, probs, out, accurate):
    """Fill out (b, n+1), float64, with log P(head -> words[i] | heads[i]) in row i; roots, words (b,), heads (b, n+1).

    accurate: (b,) which rows are wanted; unset where float64 lost digits of one. The others as of `head_probs`.
    """
    for i in range(heads.shape[0]):
        if accurate[i]:
            accurate[i] = head_probs(weights, roots[i], heads[i], words[i], A, S, workspace, probs)
            take_logarithms(probs, out[i])


@kernel
def take_logarithms(probs, out):
    """Fill out (n+1,), float64, with the logarithms of numbers, -inf for 0."""
    for h in range(out.shape[0]):
        x = get(probs, h)
        out[h] = logarithm(x) if is_positive(x) else -math.inf


@kernel(allocates=True)
def head_probs(weights, root, heads, word, A, S, workspace, out):
    """Fill out (n+1,) with P(head -> word | heads) for arborescences rooted at node `root`; 0 where impossible.

    weights: numbers (n+1, n+1), ``[head, dependent]``, all there; heads: (n+1,) by node, FREE where not given, as of
    `word` and `root`; A (n+1, n+1), S (n+1,) and workspace: to compute in, as of `sweeps.py`; all of one kind, as
    is out.

    Returns whether all results are accurate: no product was too small for float64 to keep its digits.
    """
    nodes = heads.shape[0]
    free, tops = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    free[1] = word
    count = 2
    for u in range(1, nodes):
        if u != word and u != root and heads[u] == FREE:
            free[count] = u
            count += 1
    find_tops(root, heads, free[:count], tops)
    gather_arcs(weights, free[:count], tops, A)
    possible = eliminate(A, part(S, 0, count), workspace, False)[0] > -math.inf
    reach, tiny, total = row(row(workspace, 0), 0), scale(one(S), SMALLEST), zero(S)
    accurate = find_reach(A, count, tiny, reach) and keeps_digits(A, count, tiny)
    for h in range(nodes):
        x = zero(S)
        if possible and tops[h] >= 0 and tops[h] != 1:
            weight, y = get(row(weights, h), word), get(reach, tops[h])
            x = multiply(weight, y)
            accurate = accurate and not (is_positive(weight) and is_positive(y) and is_less(x, tiny))
        put(out, h, x)
        total = add(total, x)
    if not is_positive(total):
        return False
    for h in range(nodes):
        put(out, h, divide(get(out, h), total))
    return accurate


@kernel
def keeps_digits(A, count, tiny):
    """Return whether no detour via an eliminated word is a product below `tiny`, given the factors of `count` nodes."""
    for m in range(2, count):
        into, onward = zero(A), zero(A)
        for i in range(m):
            into = least(into, get(A, (i, m)))
            onward = least(onward, get(A, (m, i)))
        if is_positive(onward) and is_less(multiply(into, onward), tiny):
            return False
    return True


@kernel
def least(x, y):
    """Return the least of two numbers that is not 0, or 0."""
    return y if is_positive(y) and (is_less(y, x) or not is_positive(x)) else x


@kernel
def find_reach(A, count, tiny, reach):
    """Fill reach with the probability to come to position 0 before 1 on the way from head to head, given the factors.

    Returns whether no product was positive but below `tiny`.
    """
    accurate = True
    put(reach, 0, one(reach))
    put(reach, 1, zero(reach))
    for m in range(2, count):
        total = get(A, (0, m))
        for i in range(2, m):
            share, y = get(A, (i, m)), get(reach, i)
            if is_positive(share) and is_positive(y):
                accurate = accurate and not is_less(multiply(share, y), tiny)
                total = multiply_add(total, share, y)
        put(reach, m, total)
    return accurate
