"""Elimination of words in panels of four (Grassmann-Taksar-Heyman): the factors behind log Z, marginals and samples.

All arrays hold numbers of one kind (`kernels/numbers`). The arc matrix `A` has shape (n+1, n+1), ``[head, dependent]``;
node 0 is ROOT, column 0 is 0. Words are eliminated from the last to the second. `eliminate` leaves the factors:
in row m, before the diagonal, the arcs from word m as they were when it was eliminated; in column m, before the
diagonal, those into it divided by their sum, its pivot `S[m]`, which leaves out ROOT's arc under the single-root
constraint. Then no pivot is 0 if word 1 reaches every other word along arcs between words; with several roots, if ROOT
does: so there is no search for pivots. Numbers are added, multiplied and divided, never subtracted (except once, in
`eliminate_backward`, where it does no harm). The panels are those of a right-looking LU factorisation (Golub and Van
Loan 2013, section 3.2).

A `workspace` has shape (3, WIDTH, n+1) or more: columns of a panel stand in its rows while they are worked on, as loops
over columns are not vectorised.
"""

from __future__ import annotations

import math

from deptree_cli.kernels.elimination.panels import (
    WIDTH,
    add_and_sum,
    add_detours,
    add_detours_backward,
    add_product,
    clear,
)
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    at_once,
    divide,
    get,
    is_positive,
    length,
    logarithm,
    multiply,
    multiply_add,
    one,
    put,
    reaches,
    row,
    several,
    spread,
    subtract,
    sum_of,
    zero,
)


@kernel
def eliminate(A, S, workspace, single_root):
    """Factorise A (n+1, n+1) in place and fill S (n+1,) from 1 on with the pivots. O(n^3): n^3 / 3 multiply-adds.

    Returns log Z, -inf if a pivot is 0, and whether these numbers held every term: if the negative ones among the
    logarithms that make up log Z add up to far below 0, sums of products may have lost some that underflowed.
    """
    if not eliminate_words(A, S, workspace, single_root):
        return -math.inf, reaches(A, -math.inf)
    log_z, depth = log_of_product(S)
    return log_z, reaches(A, depth)


@kernel
def eliminate_words(A, S, workspace, single_root):
    """Factorise A (n+1, n+1) in place and fill S (n+1,) from 1 on; return whether no pivot but the last can be 0."""
    for stop in range(length(S), 2, -WIDTH):
        start = max(2, stop - WIDTH)
        for m in range(stop - 1, start - 1, -1):
            pivot = take_pivot(A, row(workspace, 0), stop, m, single_root)
            put(S, m, pivot)
            if not is_positive(pivot):
                return False
        add_detours(A, A, A, start, stop)  # what comes to stand on the diagonal is never read
    put(S, 1, get(A, (0, 1)))
    put(A, (0, 1), one(S))
    return True


@kernel
def log_of_product(S):
    """Return the logarithm of the product of pivots (n+1,), and the sum of the negative ones among theirs."""
    log_z = 0.0
    depth = 0.0
    for m in range(length(S) - 1, 0, -1):
        if not is_positive(get(S, m)):
            return -math.inf, -math.inf
        log_pivot = logarithm(get(S, m))
        log_z += log_pivot
        depth += min(0.0, log_pivot)
    return log_z, depth


@kernel
def product(S):
    """Return the partition function from pivots (n+1,), for numbers that have an exponent of their own."""
    total = one(S)
    for m in range(1, length(S)):
        total = multiply(total, get(S, m))
    return total


@kernel
def take_pivot(A, columns, stop, m, single_root):
    """Add to the arcs from and into word m their detours via the panel's words m+1..stop-1; return its pivot.

    The arcs into the word are divided by the pivot, if that is positive. columns (WIDTH, n+1): those of the panel's
    words.
    """
    detours, column, end = row(A, m), row(columns, stop - 1 - m), Index(m)
    for i in range(end):
        put(column, i, get(A, (i, end)))
    for k in range(stop - 1, m, -1):
        add_product(detours, get(detours, k), row(A, k), end)
        add_product(column, get(row(A, k), m), row(columns, stop - 1 - k), end)
    pivot = zero(column)
    for i in range(Index(1 if single_root else 0), end):
        pivot = add(pivot, get(column, i))
    if not is_positive(pivot):
        return pivot
    inverse = divide(one(column), pivot)
    for i in range(end):
        share = multiply(get(column, i), inverse)
        put(column, i, share)
        put(A, (i, end), share)
    return pivot


@kernel
def eliminate_backward(A, S, adjoints, workspace, single_root):
    """Fill adjoints (n+1, n+1) with d log Z / d A[i, j], A being the arc matrix that was eliminated. O(n^3).

    Nothing need be 0 at first. The product of a weight and its adjoint is at most n, so the one subtraction costs an
    absolute error of about n * 1e-16.
    """
    nodes = length(S)
    for i in range(2):
        put(adjoints, (i, 0), zero(S))
        put(adjoints, (i, 1), zero(S))
    put(adjoints, (0, 1), divide(one(S), get(S, 1)))
    for stop in range(nodes - (nodes - 3) // WIDTH * WIDTH, nodes + 1, WIDTH):
        start = max(2, stop - WIDTH)
        for k in range(start, stop):
            clear(row(adjoints, k), start)
            clear(row(row(workspace, 1), k - start), start)
        add_detours_backward(A, adjoints, adjoints, row(workspace, 1), start, stop)
        for m in range(start, stop):
            take_pivot_backward(A, S, adjoints, workspace, start, stop, m, single_root)


@kernel
def take_pivot_backward(A, S, adjoints, workspace, start, stop, m, single_root):
    """Finish the adjoints of word m's row and column; those of all nodes before it are done.

    workspace: the word's column of A, shares of the panel's columns, and the adjoints of those that are done.
    """
    own, end = row(adjoints, m), Index(m)
    column, share, done = row(row(workspace, 0), 0), row(row(workspace, 1), m - start), row(workspace, 2)
    for i in range(end):
        put(column, i, get(A, (i, end)))
    for i in range(start, m):
        put(share, i, add_and_sum(own, get(row(A, i), m), row(adjoints, i), row(A, m), start))
    for j in range(start, m):
        total = add_and_sum(share, get(row(A, m), j), row(done, j - start), column, m)
        put(own, j, total)
        put(row(done, j - start), m, total)
    used = spread(own, zero(own))
    for i in range(0, m, at_once(own)):
        used = multiply_add(used, several(share, i, m), several(column, i, m))
    used = sum_of(own, used)
    inverse = divide(one(own), get(S, m))
    of_pivot = multiply(subtract(one(own), used), inverse)
    found = row(done, m - start)
    for i in range(end):
        put(found, i, multiply_add(of_pivot, get(share, i), inverse))
    if single_root:  # the pivot is without ROOT's arc
        put(found, 0, multiply(get(share, 0), inverse))
    for i in range(end, Index(stop)):
        put(found, i, zero(own))
    for i in range(Index(stop)):
        put(adjoints, (i, end), get(found, i))
