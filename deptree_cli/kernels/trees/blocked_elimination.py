"""Elimination in panels of four words, in their given order: fewer passes over memory than `elimination.py`.

The arc matrix `A` has shape (n+1, n) as there, of any kind of numbers, and is neither searched for pivots nor permuted.
With a single root no pivot is 0 if the last word reaches every other one along arcs between words; with several roots,
if ROOT does. `factorise` leaves in row m, behind the diagonal, the arcs from the m-th word as they were when it was
eliminated, and in column m, below the diagonal, those into it divided by its pivot `S[m]`. Only positive numbers are
added, multiplied and divided; `reverse` subtracts once, as there. Sources: `elimination.py`; the panels are those of a
right-looking LU factorisation (Golub and Van Loan 2013, section 3.2).

`room` (3, WIDTH, n+1 or more) is where columns of a panel stand in a row while they are worked on: loops over columns
are not vectorised, those over rows are.
"""

from __future__ import annotations

import math

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    divide,
    get,
    is_positive,
    length,
    logarithm,
    multiply,
    multiply_add,
    one,
    put,
    row,
    subtract,
    zero,
)
from deptree_cli.kernels.xoshiro import U64

WIDTH = 4  # words in a panel; `add_products` and `share_adjoints` name them one by one


@kernel
def factorise(A, S, room, single_root):
    """Factorise A (n+1, n) in place and fill S (n,) with the pivots. O(n^3): n^3 / 3 multiply-adds.

    Returns log Z and the sum of the negative ones among the logarithms that make it up; both are -inf if a pivot is 0.
    """
    n = length(S)
    log_z = 0.0
    depth = 0.0
    for start in range(0, n - 1, WIDTH):
        stop = min(start + WIDTH, n - 1)
        for m in range(start, stop):
            put(S, m, take_pivot(A, row(room, 0), start, m, n, single_root))
            if not is_positive(get(S, m)):
                return -math.inf, -math.inf
            log_pivot = logarithm(get(S, m))
            log_z += log_pivot
            depth += min(0.0, log_pivot)
        add_detours(A, start, stop, n)
    last = get(A, (n, n - 1))
    if not is_positive(last):
        return -math.inf, -math.inf
    return log_z + logarithm(last), depth + min(0.0, logarithm(last))


@kernel
def take_pivot(A, columns, start, m, n, single_root):
    """Add to the arcs from and into word m their detours via the panel's earlier words; return its pivot.

    The arcs into the word are divided by the pivot, if that is positive. columns (WIDTH, n+1): those of the panel's
    words.
    """
    detours, column, first, end = row(A, m), row(columns, m - start), U64(m + 1), U64(n + 1)
    for i in range(first, end):
        put(column, i, get(A, (i, U64(m))))
    for k in range(start, m):
        add_product(detours, get(detours, k), row(A, k), m + 1, n)
        add_product(column, get(row(A, k), m), row(columns, k - start), m + 1, n + 1)
    pivot = zero(column)
    for i in range(first, U64(n) if single_root else end):
        pivot = add(pivot, get(column, i))
    if not is_positive(pivot):
        return pivot
    inverse = divide(one(column), pivot)
    for i in range(first, end):
        share = multiply(get(column, i), inverse)
        put(column, i, share)
        put(A, (i, U64(m)), share)
    return pivot


@kernel
def add_detours(A, start, stop, n):
    """Add to the arcs among the words behind a panel, and from ROOT, their detours via the words start..stop-1.

    A detour back to the word itself is not an arc: what comes to stand on the diagonal is never read.
    """
    if stop - start == WIDTH:
        add_products(A, start, n)
    else:
        for k in range(start, stop):
            for i in range(stop, n + 1):
                add_product(row(A, i), get(row(A, i), k), row(A, k), stop, n)


@kernel
def add_product(target, factor, source, start, stop):
    """Add factor * source to target, the numbers start..stop-1 of each."""
    for j in range(U64(start), U64(stop)):
        put(target, j, multiply_add(get(target, j), factor, get(source, j)))


@kernel
def add_products(A, start, n):
    """Add to every row behind a full panel what leads through the panel's four words."""
    first, second, third, fourth = row(A, start), row(A, start + 1), row(A, start + 2), row(A, start + 3)
    for i in range(start + WIDTH, n + 1):
        target = row(A, i)
        a, b, c, d = get(target, start), get(target, start + 1), get(target, start + 2), get(target, start + 3)
        for j in range(U64(start + WIDTH), U64(n)):
            early = multiply_add(multiply_add(get(target, j), a, get(first, j)), b, get(second, j))
            put(target, j, multiply_add(multiply_add(early, c, get(third, j)), d, get(fourth, j)))


@kernel
def reverse(A, S, adjoints, room, single_root):
    """Fill adjoints (n+1, n) with d log Z / d W[i, j] by position, from factors: the sweep backwards. O(n^3).

    Nothing need be 0 at first. The product of a weight and its adjoint is at most n, so the one subtraction costs an
    absolute error of about n * 1e-16.
    """
    n = length(S)
    last = n - 1
    for i in range(n):
        put(adjoints, (i, last), zero(S))
    put(adjoints, (n, last), divide(one(S), get(A, (n, last))))
    stop = last
    while stop > 0:
        start = (stop - 1) // WIDTH * WIDTH
        return_detours(A, adjoints, row(room, 1), start, stop, n)
        for m in range(stop - 1, start - 1, -1):
            return_pivot(A, S, adjoints, room, start, stop, m, n, single_root)
        stop = start


@kernel
def return_detours(A, adjoints, shares, start, stop, n):
    """Begin the adjoints of a panel's rows, and the shares (WIDTH, n+1) of its columns, with arcs behind the panel."""
    for k in range(start, stop):
        target = row(adjoints, k)
        for j in range(U64(stop), U64(n)):
            put(target, j, zero(target))
    if stop - start == WIDTH:
        share_adjoints(A, adjoints, shares, start, n)
    else:
        for k in range(start, stop):
            for i in range(stop, n + 1):
                put(row(shares, k - start), i, share_adjoint(A, adjoints, k, i, stop, n))


@kernel
def share_adjoint(A, adjoints, k, i, start, n):
    """Hand the adjoints of the i-th row, from `start` on, to the k-th row; return those of the detours via word k."""
    given, detours, target, factor = row(adjoints, i), row(A, k), row(adjoints, k), get(row(A, i), k)
    total = zero(given)
    for j in range(U64(start), U64(n)):
        adjoint = get(given, j)
        total = multiply_add(total, adjoint, get(detours, j))
        put(target, j, multiply_add(get(target, j), factor, adjoint))
    return total


@kernel
def share_adjoints(A, adjoints, shares, start, n):
    """Do what `share_adjoint` does for every row behind a full panel and the panel's four words."""
    A0, A1, A2, A3 = row(A, start), row(A, start + 1), row(A, start + 2), row(A, start + 3)
    J0, J1, J2, J3 = row(adjoints, start), row(adjoints, start + 1), row(adjoints, start + 2), row(adjoints, start + 3)
    for i in range(start + WIDTH, n + 1):
        given, factors = row(adjoints, i), row(A, i)
        a, b, c, d = get(factors, start), get(factors, start + 1), get(factors, start + 2), get(factors, start + 3)
        of_a, of_b, of_c, of_d = zero(given), zero(given), zero(given), zero(given)
        for j in range(U64(start + WIDTH), U64(n)):
            adjoint = get(given, j)
            of_a = multiply_add(of_a, adjoint, get(A0, j))
            of_b = multiply_add(of_b, adjoint, get(A1, j))
            of_c = multiply_add(of_c, adjoint, get(A2, j))
            of_d = multiply_add(of_d, adjoint, get(A3, j))
            put(J0, j, multiply_add(get(J0, j), a, adjoint))
            put(J1, j, multiply_add(get(J1, j), b, adjoint))
            put(J2, j, multiply_add(get(J2, j), c, adjoint))
            put(J3, j, multiply_add(get(J3, j), d, adjoint))
        put(shares, (0, i), of_a)
        put(shares, (1, i), of_b)
        put(shares, (2, i), of_c)
        put(shares, (3, i), of_d)


@kernel
def return_pivot(A, S, adjoints, room, start, stop, m, n, single_root):
    """Finish the adjoints of word m's row and column; those of all later positions are done.

    room: the word's column of A, shares of the panel's columns, and the adjoints of those that are done.
    """
    own, first, end = row(adjoints, m), U64(m + 1), U64(n + 1)
    column, share, done = row(row(room, 0), 0), row(row(room, 1), m - start), row(room, 2)
    for i in range(first, end):
        put(column, i, get(A, (i, U64(m))))
    for i in range(m + 1, stop):
        put(share, i, share_adjoint(A, adjoints, m, i, stop, n))
    for j in range(m + 1, stop):
        given, detour, total = row(done, j - start), get(row(A, m), j), zero(own)
        for i in range(first, end):
            adjoint = get(given, i)
            total = multiply_add(total, get(column, i), adjoint)
            put(share, i, multiply_add(get(share, i), adjoint, detour))
        put(own, j, total)
        put(given, m, total)
    used = zero(own)
    for i in range(first, end):
        used = multiply_add(used, get(share, i), get(column, i))
    inverse = divide(one(own), get(S, m))
    of_pivot = multiply(subtract(one(own), used), inverse)
    found = row(done, m - start)
    for i in range(U64(start), first):
        put(found, i, zero(own))
    for i in range(first, end):
        put(found, i, multiply_add(of_pivot, get(share, i), inverse))
    if single_root:  # the pivot is without ROOT's arc
        put(found, n, multiply(get(share, n), inverse))
    for i in range(U64(start), end):
        put(adjoints, (i, U64(m)), get(found, i))
