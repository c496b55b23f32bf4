"""The head of one word given some other words' heads: eliminate every free word but that one (README, "How it works").

Nothing is subtracted, so each probability has a small relative error, however small it is. m^3 / 3 multiply-adds for m
words without a head.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    get,
    is_less,
    is_positive,
    logarithm,
    multiply,
    one,
    put,
    row,
    scale,
    zero,
)

FREE = -1

# Products of positive float64 numbers above this have all their digits.
SMALLEST = 1e-290


class Workspace(NamedTuple):
    """Arrays to compute in: Q (n, n), R (n,) and probs (n+1,) of float64; wide_q, wide_r and wide_probs alike, wide."""

    Q: object
    R: object
    probs: object
    wide_q: object
    wide_r: object
    wide_probs: object


@kernel
def log_head_probs_of_each(weights, wide_weights, lossless, roots, heads, words, workspace, out):
    """Fill out (b, n+1), float64, with log P(head -> words[i] | heads[i]) in row i; roots, words (b,), heads (b, n+1).

    weights: (n+1, n+1), ``[head, dependent]``; wide_weights: the same as wide numbers, for rows in which others
    underflow; lossless: whether weights are all there, and none of those that are positive lost digits.
    """
    wide, probs = workspace.wide_probs, workspace.probs
    for i in range(heads.shape[0]):
        if lossless and head_probs(weights, roots[i], heads[i], words[i], workspace.Q, workspace.R, probs):
            take_logarithms(probs, out[i])
        else:
            head_probs(wide_weights, roots[i], heads[i], words[i], workspace.wide_q, workspace.wide_r, wide)
            take_logarithms(wide, out[i])


@kernel
def take_logarithms(probs, out):
    """Fill out (n+1,), float64, with the logarithms of numbers, -inf for 0."""
    for h in range(out.shape[0]):
        x = get(probs, h)
        out[h] = logarithm(x) if is_positive(x) else -math.inf


@kernel
def head_probs(weights, root, heads, word, Q, R, out):
    """Fill out (n+1,) with P(head -> word | heads) for arborescences rooted at node `root`; 0 where impossible.

    weights: numbers (n+1, n+1), ``[head, dependent]``; heads: (n+1,) by node, FREE where not given, as of `word` and
    `root`; Q (n, n) and R (n,): to compute in; all of one kind, as is out.

    Returns whether all results are accurate: no product was too small for float64 to keep its digits.
    """
    nodes = heads.shape[0]
    free = np.empty(nodes, np.int64)
    position = np.full(nodes, -1, np.int64)
    free[0] = word
    count = 1
    for u in range(1, nodes):
        if u != word and u != root and heads[u] == FREE:
            free[count] = u
            count += 1
    for x in range(count):
        position[free[x]] = x
    tops = np.empty(nodes, np.int64)
    for u in range(nodes):
        tops[u] = position[top_of_tree(u, root, heads)]
    gather(weights, root, free[:count], tops, Q, R)
    accurate = leave_out_all_but_first(Q, R, count)
    tiny = scale(one(R), SMALLEST)
    first_head = 1 if root > 0 else 0
    total = zero(R)
    for h in range(nodes):
        x = zero(R)
        if h >= first_head and tops[h] != 0:
            x = get(row(weights, h), word)
            if tops[h] > 0 and is_positive(x):
                reach = get(R, tops[h])
                x = multiply(x, reach)
                accurate = accurate and not (is_positive(reach) and is_less(x, tiny))
        put(out, h, x)
        total = add(total, x)
    if not is_positive(total):
        return False
    for h in range(nodes):
        put(out, h, divide(get(out, h), total))
    return accurate


@kernel
def top_of_tree(u, root, heads):
    """Return the end of the chain of given heads from u: a word without a head, or the root."""
    while u != root and heads[u] != FREE:
        u = heads[u]
    return u


@kernel
def gather(weights, root, free, tops, Q, R):
    """Fill Q and R from position 1 on with the weights of the heads that free words may choose, by tree.

    Q[x, y]: the total weight of the arcs to free word x from the tree below free word y; R[x]: from the root's tree.
    free: the words without a head, by position; tops: (n+1,) the position of each node's `top_of_tree`, -1 for the
    root.
    """
    nodes = tops.shape[0]
    for x in range(1, free.shape[0]):
        Qx = row(Q, x)
        for y in range(free.shape[0]):
            put(Qx, y, zero(R))
        put(R, x, zero(R))
        for h in range(1 if root > 0 else 0, nodes):
            weight = get(row(weights, h), free[x])
            if tops[h] < 0:
                put(R, x, add(get(R, x), weight))
            elif tops[h] != x:
                put(Qx, tops[h], add(get(Qx, tops[h]), weight))


@kernel
def leave_out_all_but_first(Q, R, count):
    """Turn R[x] into the probability of reaching the root from x before position 0, by eliminating Q in place.

    Returns whether all products of positive numbers kept their digits; False if a pivot is 0.
    """
    accurate, tiny = True, scale(one(R), SMALLEST)
    for x in range(count - 1, 0, -1):
        Qx = row(Q, x)
        pivot = least = get(R, x)
        for y in range(x):
            weight = get(Qx, y)
            pivot = add(pivot, weight)
            if is_positive(weight) and (is_less(weight, least) or not is_positive(least)):
                least = weight
        if not is_positive(pivot):
            return False
        put(R, x, divide(get(R, x), pivot))
        for y in range(x):
            put(Qx, y, divide(get(Qx, y), pivot))
        least = divide(least, pivot)
        for u in range(1, x):
            Qu = row(Q, u)
            factor = get(Qu, x)
            if is_positive(factor):
                for y in range(x):
                    if y != u:
                        put(Qu, y, add(get(Qu, y), multiply(factor, get(Qx, y))))
                put(R, u, add(get(R, u), multiply(factor, get(R, x))))
                accurate = accurate and not is_less(multiply(factor, least), tiny)
    for x in range(1, count):
        Qx = row(Q, x)
        for y in range(1, x):
            if is_positive(get(Qx, y)) and is_positive(get(R, y)):
                product = multiply(get(Qx, y), get(R, y))
                put(R, x, add(get(R, x), product))
                accurate = accurate and not is_less(product, tiny)
    return accurate
