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
    from_wide,
    get,
    is_positive,
    logarithm,
    multiply,
    put,
    row,
    zero,
)
from deptree_cli.kernels.numbers.wide import SAFE_LOG

FREE = -1


class Workspace(NamedTuple):
    """Arrays to compute in: Q (n, n) and R (n,) of one kind; wide_q, wide_r alike and wide_probs (n+1,), wide."""

    Q: object
    R: object
    wide_q: object
    wide_r: object
    wide_probs: object


@kernel
def sound_head_probs(weights, wide_weights, root, heads, word, workspace, out):
    """Fill out (n+1,) with P(head -> word | heads) as `head_probs` does, in wide numbers if others may underflow."""
    depth = head_probs(weights, root, heads, word, workspace.Q, workspace.R, out)
    if depth < SAFE_LOG:
        head_probs(wide_weights, root, heads, word, workspace.wide_q, workspace.wide_r, workspace.wide_probs)
        for h in range(heads.shape[0]):
            put(out, h, from_wide(out, get(workspace.wide_probs, h)))


@kernel
def log_head_probs_of_each(weights, wide_weights, roots, heads, words, workspace, probs, out):
    """Fill out (b, n+1), float64, with log P(head -> words[i] | heads[i]) in row i; roots, words (b,), heads (b, n+1).

    weights: numbers (n+1, n+1), ``[head, dependent]``; wide_weights: the same as wide numbers; probs: (n+1,) to compute
    in, of the kind of weights.
    """
    for i in range(heads.shape[0]):
        sound_head_probs(weights, wide_weights, roots[i], heads[i], words[i], workspace, probs)
        for h in range(out.shape[1]):
            x = get(probs, h)
            out[i, h] = logarithm(x) if is_positive(x) else -math.inf


@kernel
def head_probs(weights, root, heads, word, Q, R, out):
    """Fill out (n+1,) with P(head -> word | heads) for arborescences rooted at node `root`; 0 where impossible.

    weights: numbers (n+1, n+1), ``[head, dependent]``; heads: (n+1,) by node, FREE where not given, as of `word` and
    `root`; Q (n, n) and R (n,): to compute in; all of one kind, as is out.

    Returns the sum of the negative ones among the logarithms of the pivots and of the total: if it is far below 0,
    float64 may have lost terms that underflowed.
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
    depth = leave_out_all_but_first(Q, R, count)
    first_head = 1 if root > 0 else 0
    total = zero(R)
    for h in range(nodes):
        x = zero(R)
        if h >= first_head and tops[h] != 0:
            x = get(row(weights, h), word)
            if tops[h] > 0:
                x = multiply(x, get(R, tops[h]))
        put(out, h, x)
        total = add(total, x)
    if not is_positive(total):
        return -math.inf
    for h in range(nodes):
        put(out, h, divide(get(out, h), total))
    return depth + min(0.0, logarithm(total))


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

    Returns the sum of the negative ones among the logarithms of pivots, -inf if a pivot is 0.
    """
    depth = 0.0
    for x in range(count - 1, 0, -1):
        Qx = row(Q, x)
        pivot = get(R, x)
        for y in range(x):
            pivot = add(pivot, get(Qx, y))
        if not is_positive(pivot):
            return -math.inf
        depth += min(0.0, logarithm(pivot))
        put(R, x, divide(get(R, x), pivot))
        for y in range(x):
            put(Qx, y, divide(get(Qx, y), pivot))
        for u in range(1, x):
            Qu = row(Q, u)
            factor = get(Qu, x)
            if is_positive(factor):
                for y in range(x):
                    if y != u:
                        put(Qu, y, add(get(Qu, y), multiply(factor, get(Qx, y))))
                put(R, u, add(get(R, u), multiply(factor, get(R, x))))
    for x in range(1, count):
        Qx = row(Q, x)
        for y in range(1, x):
            put(R, x, add(get(R, x), multiply(get(Qx, y), get(R, y))))
    return depth
