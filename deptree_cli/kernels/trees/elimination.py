"""Elimination of words one by one (Grassmann-Taksar-Heyman): the factors behind log Z, marginals and exact samples.

All arrays hold numbers of one kind (`kernels/numbers`). The arc matrix `A` has shape (n+1, n): rows are heads, the
words first and ROOT last; columns are dependents; the diagonal is 0. `eliminate` reorders it in place so that the m-th
eliminated word is at position m; row m and column m keep the values they had when that word was eliminated, and `S[m]`
is its pivot: these are the factors. Numbers are added, multiplied and divided, never subtracted (except once, in
`reverse`, where it does no harm).
"""

from __future__ import annotations

import math

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    as_float,
    divide,
    get,
    inner,
    is_less,
    is_positive,
    length,
    logarithm,
    lowest,
    multiply,
    one,
    part,
    put,
    row,
    subtract,
    zero,
)
from deptree_cli.kernels.numbers.pairs import pair_add


@kernel
def shift_columns(scores, single_root, shifted):
    """Fill shifted (n+1, n+1) with scores less each column's maximum; both are pairs (`numbers/paired.py`).

    Under the single-root constraint the maximum is over the arcs from words, and ROOT's row is then shifted as a whole:
    every tree has exactly one of its arcs. Returns the sum of what was subtracted, a pair.
    """
    nodes, none = length(scores), lowest(scores)
    constant, of_root = zero(scores), none
    for j in range(nodes):
        peak = none
        for i in range(1 if single_root else 0, nodes):
            peak = get(scores, (i, j)) if is_less(peak, get(scores, (i, j))) else peak
        if not is_less(none, peak):  # a word that only ROOT may govern
            peak = get(scores, (0, j))
        constant = add(constant, peak) if j > 0 else constant
        for i in range(nodes):
            put(shifted, (i, j), subtract(get(scores, (i, j)), peak) if j > 0 else none)
        of_root = get(shifted, (0, j)) if is_less(of_root, get(shifted, (0, j))) else of_root
    if single_root:
        for j in range(nodes):
            put(shifted, (0, j), subtract(get(shifted, (0, j)), of_root))
        constant = add(constant, of_root)
    return constant.high, constant.low


@kernel
def in_weights(A, S, order, single_root):
    """Fill S (n,) with the total weight of the arcs into each word, ROOT's included for spanning trees only."""
    n = order.shape[0]
    for j in range(n):
        put(S, j, zero(S))
    for i in range(n if single_root else n + 1):
        Ai = row(A, i)
        for j in range(n):
            put(S, j, add(get(S, j), get(Ai, j)))


@kernel
def swap(array, a, b):
    """Exchange the numbers at positions a and b of a row."""
    x = get(array, a)
    put(array, a, get(array, b))
    put(array, b, x)


@kernel
def move_largest_pivot(A, S, order, m):
    """Move the word with the largest total weight of arcs into it, among positions m..n-1, to position m."""
    n = order.shape[0]
    best = m
    for j in range(m + 1, n):
        if is_less(get(S, best), get(S, j)):
            best = j
    if best == m:
        return
    swap(S, m, best)
    order[m], order[best] = order[best], order[m]
    first, second = row(A, m), row(A, best)
    for j in range(n):
        x = get(first, j)
        put(first, j, get(second, j))
        put(second, j, x)
    for i in range(n + 1):
        Ai = row(A, i)
        swap(Ai, m, best)


@kernel
def add_multiple(target, factor, source, count):
    """Add factor * source to target, `count` numbers each: the arcs that led through an eliminated word."""
    for j in range(count):
        put(target, j, add(get(target, j), multiply(factor, get(source, j))))


@kernel
def add_multiple_and_sum(target, factor, source, sums, count):
    """Add factor * source to target, and the new values of target to sums, `count` numbers each."""
    for j in range(count):
        x = add(get(target, j), multiply(factor, get(source, j)))
        put(target, j, x)
        put(sums, j, add(get(sums, j), x))


@kernel
def eliminate(A, S, order, single_root):
    """Factorise A (n+1, n) in place; fill S (n,) with pivots and permute order (n,), 0..n-1 at first, alike. O(n^3).

    Returns log Z and the sum of the negative ones among the logarithms that make it up; both are -inf if a pivot is 0.
    If that sum is far below 0, sums of products of float64 weights may have lost terms that underflowed.
    """
    n = order.shape[0]
    log_z = 0.0
    depth = 0.0
    in_weights(A, S, order, single_root)
    for m in range(n - 1):
        move_largest_pivot(A, S, order, m)
        pivot = get(S, m)
        if not is_positive(pivot):
            return -math.inf, -math.inf
        log_z += logarithm(pivot)
        depth += min(0.0, logarithm(pivot))
        count = n - m - 1
        detours = part(row(A, m), m + 1, n)
        sums = part(S, m + 1, n)
        for j in range(count):
            put(sums, j, zero(S))
        for i in range(m + 1, n):
            own, kept = i - m - 1, get(S, i)
            arcs = part(row(A, i), m + 1, n)
            add_multiple_and_sum(arcs, divide(get(row(A, i), m), pivot), detours, sums, count)
            put(arcs, own, zero(S))  # a detour back to the word itself is not an arc
            put(sums, own, kept)
        factor = divide(get(row(A, n), m), pivot)
        if single_root:
            add_multiple(part(row(A, n), m + 1, n), factor, detours, count)
        else:
            add_multiple_and_sum(part(row(A, n), m + 1, n), factor, detours, sums, count)
    last = get(row(A, n), n - 1)
    if not is_positive(last):
        return -math.inf, -math.inf
    return log_z + logarithm(last), depth + min(0.0, logarithm(last))


@kernel
def sweep_root(A, S, order, weights):
    """Give the single-root factors A, S new weights of ROOT's arcs, row n of `weights`; return log Z. O(n^2).

    The pivots do not depend on ROOT's arcs, so only row n of A changes. Returns -inf if there is no tree.
    """
    n = order.shape[0]
    root = row(A, n)
    for j in range(n):
        put(root, j, get(row(weights, n), order[j]))
    log_z = 0.0
    for m in range(n - 1):
        log_z += logarithm(get(S, m))
        factor = divide(get(root, m), get(S, m))
        add_multiple(part(root, m + 1, n), factor, part(row(A, m), m + 1, n), n - m - 1)
    last = get(root, n - 1)
    return log_z + logarithm(last) if is_positive(last) else -math.inf


@kernel
def root_adjoints(A, S, order, out):
    """Fill out (n,) with d log Z / d W[ROOT, j] by position j, given single-root factors. O(n^2), no subtraction."""
    n = order.shape[0]
    put(out, n - 1, divide(one(out), get(row(A, n), n - 1)))
    for m in range(n - 2, -1, -1):
        total = inner(part(out, m + 1, n), part(row(A, m), m + 1, n))
        put(out, m, divide(total, get(S, m)))


@kernel
def root_marginals(weights, adjoints, order, out):
    """Fill out (n+1,), float64, with P(ROOT -> word) by node: row n of `weights` times its `root_adjoints` (n,)."""
    n = order.shape[0]
    root = row(weights, n)
    for j in range(n):
        out[order[j] + 1] = as_float(multiply(get(root, order[j]), get(adjoints, j)))


@kernel
def reverse(A, S, order, adjoints, single_root):
    """Fill adjoints (n+1, n), zeros at first, with d log Z / d W[i, j] by position: the sweep backwards. O(n^3).

    Every product of a weight and its adjoint is at most n, so the one subtraction costs an absolute error of about
    n * 1e-16.
    """
    n = order.shape[0]
    put(row(adjoints, n), n - 1, divide(one(S), get(row(A, n), n - 1)))
    for m in range(n - 2, -1, -1):
        detours, adjoint_m, pivot = part(row(A, m), m + 1, n), part(row(adjoints, m), m + 1, n), get(S, m)
        used = zero(S)
        for i in range(m + 1, n + 1):
            Aim, adjoint_i = get(row(A, i), m), part(row(adjoints, i), m + 1, n)
            c = inner(adjoint_i, detours)
            add_multiple(adjoint_m, divide(Aim, pivot), adjoint_i, n - m - 1)
            used = add(used, multiply(c, Aim))
            put(row(adjoints, i), m, divide(c, pivot))
        adjoint_pivot = divide(subtract(one(S), divide(used, pivot)), pivot)
        for i in range(m + 1, n if single_root else n + 1):
            adjoint_i = row(adjoints, i)
            put(adjoint_i, m, add(get(adjoint_i, m), adjoint_pivot))


@kernel
def arc_products(weights, adjoints, order, out):
    """Fill out (n+1, n+1), zeros at first, with weights times adjoints by node: of float64 the marginals of arcs.

    weights: (n+1, n) as `eliminate` was given them; adjoints: (n+1, n) from `reverse`; all of one kind. An arc of
    weight 0 keeps 0 whatever its adjoint, which may be too large for a float64. Tangents of dual numbers are
    covariances.
    """
    n = order.shape[0]
    for a in range(n + 1):
        head = order[a] if a < n else n
        target = row(out, head + 1 if head < n else 0)
        for b in range(n):
            weight = get(row(weights, head), order[b])
            if is_positive(weight):
                put(target, order[b] + 1, multiply(weight, get(row(adjoints, a), b)))


@kernel
def product_of_pivots(A, S):
    """Return the partition function from factors, for numbers that have an exponent of their own."""
    n = length(S)
    total = get(row(A, n), n - 1)
    for m in range(n - 1):
        total = multiply(total, get(S, m))
    return total


@kernel
def tree_log_probs(high, low, log_z, trees, out):
    """Fill out (k,) with log-probabilities of trees (k, n), int32 heads: scores high + low (n+1, n+1), log_z a pair.

    -inf where an arc is forbidden. Scores may be much larger than the result: nothing is rounded before the end.
    """
    for t in range(trees.shape[0]):
        total = -log_z[0], -log_z[1]
        possible = True
        for word in range(1, high.shape[0]):
            head = trees[t, word - 1]
            possible = possible and high[head, word] > -math.inf
            if possible:
                total = pair_add(total, (high[head, word], low[head, word]))
        out[t] = total[0] if possible else -math.inf
