"""Elimination of words one by one (Grassmann-Taksar-Heyman): the factors behind log Z, marginals and exact samples.

All arrays hold float64 or wide numbers (`wide.py`). The arc matrix `A` has shape (n+1, n): rows are heads, the words
first and ROOT last; columns are dependents; the diagonal is 0. `eliminate` reorders it in place so that the m-th
eliminated word sits at position m; row m and column m keep the values they had when m left, and `S[m]` its pivot: these
are the factors. Numbers are added, multiplied and divided, never subtracted (but once, in `reverse`, where it does no
harm).
"""

from __future__ import annotations

import math

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.wide import (
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
    subtract,
    zero,
)


@kernel
def in_weights(A, S, order, single_root):
    """S[j] = total weight of the arcs into word j; ROOT's arc counts for spanning trees only."""
    n = order.shape[0]
    for j in range(n):
        put(S, j, zero(S))
    for i in range(n if single_root else n + 1):
        Ai = row(A, i)
        for j in range(n):
            put(S, j, add(get(S, j), get(Ai, j)))


@kernel
def swap(array, a, b):
    x = get(array, a)
    put(array, a, get(array, b))
    put(array, b, x)


@kernel
def move_largest_pivot(A, S, order, m):
    """Bring the word of positions m.. with the largest in-weight to position m."""
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
def add_detours(Ai, Am, S, factor, start, stop):
    """Give head i the arcs that led through m, to dependents start..stop-1; add up their in-weights."""
    for j in range(start, stop):
        x = add(get(Ai, j), multiply(factor, get(Am, j)))
        put(Ai, j, x)
        put(S, j, add(get(S, j), x))


@kernel
def add_root_detours(root, Am, factor, start, stop):
    """The same for ROOT under the single-root constraint, where its arcs enter no pivot."""
    for j in range(start, stop):
        put(root, j, add(get(root, j), multiply(factor, get(Am, j))))


@kernel
def eliminate(A, S, order, single_root):
    """Factorise A in place; `order` receives the word at each position (start with 0..n-1).

    Returns log Z and the sum of the negative parts of its terms, both -inf when a pivot is 0. Where that second number
    is far below 0, sums of products of float64 weights may have lost what underflowed. O(n^3).
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
        for j in range(m + 1, n):
            put(S, j, zero(S))
        Am = row(A, m)
        for i in range(m + 1, n):
            Ai = row(A, i)
            factor = divide(get(Ai, m), pivot)
            add_detours(Ai, Am, S, factor, m + 1, i)
            add_detours(Ai, Am, S, factor, i + 1, n)
        root = row(A, n)
        factor = divide(get(root, m), pivot)
        if single_root:
            add_root_detours(root, Am, factor, m + 1, n)
        else:
            add_detours(root, Am, S, factor, m + 1, n)
    last = get(row(A, n), n - 1)
    if not is_positive(last):
        return -math.inf, -math.inf
    return log_z + logarithm(last), depth + min(0.0, logarithm(last))


@kernel
def sweep_root(A, S, order):
    """Carry new ROOT weights (row n of A, positions as in `order`) through the single-root factors; returns log Z.
    O(n^2).

    The pivots do not depend on ROOT's weights, so the rest of the factorisation stands. Returns -inf if there is no
    tree.
    """
    n = order.shape[0]
    root = row(A, n)
    log_z = 0.0
    for m in range(n - 1):
        log_z += logarithm(get(S, m))
        add_root_detours(root, row(A, m), divide(get(root, m), get(S, m)), m + 1, n)
    last = get(root, n - 1)
    return log_z + logarithm(last) if is_positive(last) else -math.inf


@kernel
def root_adjoints(A, S, order, out):
    """out[j] = d log Z / d W[ROOT, j] under the single-root constraint, by position; nothing is subtracted. O(n^2)."""
    n = order.shape[0]
    put(out, n - 1, divide(one(out), get(row(A, n), n - 1)))
    for m in range(n - 2, -1, -1):
        Am = row(A, m)
        total = zero(out)
        for j in range(m + 1, n):
            total = add(total, multiply(get(out, j), get(Am, j)))
        put(out, m, divide(total, get(S, m)))


@kernel
def reverse(A, S, order, adjoints, single_root):
    """adjoints[i, j] = d log Z / d W[i, j], shape (n+1, n) by position: the sweep backwards. Start from zeros. O(n^3).

    Every product of a weight and its adjoint is at most n, so the one subtraction costs an absolute error of about n *
    1e-16.
    """
    n = order.shape[0]
    put(row(adjoints, n), n - 1, divide(one(S), get(row(A, n), n - 1)))
    for m in range(n - 2, -1, -1):
        Am, adjoint_m, pivot = row(A, m), row(adjoints, m), get(S, m)
        used = zero(S)
        for i in range(m + 1, n + 1):
            Aim, adjoint_i = get(row(A, i), m), row(adjoints, i)
            factor = divide(Aim, pivot)
            c = zero(S)
            for j in range(m + 1, n):
                c = add(c, multiply(get(adjoint_i, j), get(Am, j)))
            for j in range(m + 1, n):
                put(adjoint_m, j, add(get(adjoint_m, j), multiply(get(adjoint_i, j), factor)))
            used = add(used, multiply(c, Aim))
            put(adjoint_i, m, divide(c, pivot))
        adjoint_pivot = divide(subtract(one(S), divide(used, pivot)), pivot)
        for i in range(m + 1, n if single_root else n + 1):
            adjoint_i = row(adjoints, i)
            put(adjoint_i, m, add(get(adjoint_i, m), adjoint_pivot))
