"""Trees that may cross: sums by the elimination of words, marginals and samples."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers import Dual, Lanes
from deptree_cli.kernels.operations import (
    add,
    as_float,
    at_once,
    divide,
    get,
    inner,
    is_less,
    is_negative,
    is_positive,
    length,
    logarithm,
    multiply,
    multiply_add,
    one,
    operation,
    part,
    put,
    put_rounded,
    put_several,
    reaches,
    row,
    scale,
    several,
    spread,
    subtract,
    sum_of,
    tolerance,
    zero,
)
from deptree_cli.kernels.xoshiro import uniform

# What the words of a panel add to the arcs among all nodes before them, and the same backwards, for any numbers.
#
# These are products of matrices, where nearly all of elimination's time goes. float64 has four words at once in every
# pass over memory. Dual numbers take three products of their parts. Other kinds take the words one by one: their
# arithmetic costs more than memory does, and four copies of it would take long to compile.
#
# A panel is of the words start..stop-1, at most WIDTH; the nodes before it are 0..start-1.


WIDTH = 4  # `add_four` and `add_four_backward` name them one by one


@operation
def add_detours(target, factors, detours, start, stop):
    """Add to the arcs target[i, j] among the nodes before a panel factors[i, k] * detours[k, j] for each of its words.

    All are (n+1, n+1).
    """
    if stop - start == WIDTH:
        add_four(target, factors, detours, start)
    else:
        add_each(target, factors, detours, start, stop)


@operation
def add_detours_backward(A, given, target, shares, start, stop):
    """Add to the adjoints of `add_detours`' factors and detours, both of them A, what those of its target are worth.

    given, target: (n+1, n+1), adjoints by node, of which target's are those of detours; shares: (WIDTH, n+1), those of
    the factors, a row for each word.
    """
    if stop - start == WIDTH:
        add_four_backward(A, given, target, shares, start)
    else:
        add_each_backward(A, given, target, shares, start, stop)


@add_detours.register(tuple)
def _add_detours(target, factors, detours, start, stop):
    add_each(target, factors, detours, start, stop)


@add_detours_backward.register(tuple)
def _add_detours_backward(A, given, target, shares, start, stop):
    add_each_backward(A, given, target, shares, start, stop)


# As in float64, not as other tuples.
add_detours.register(Lanes, add_detours.dispatch(float))
add_detours_backward.register(Lanes, add_detours_backward.dispatch(float))


@add_detours.register(Dual)
def _add_dual_detours(target, factors, detours, start, stop):
    add_detours(target.tangent, factors.tangent, detours.value, start, stop)
    add_detours(target.tangent, factors.value, detours.tangent, start, stop)
    add_detours(target.value, factors.value, detours.value, start, stop)


@add_detours_backward.register(Dual)
def _add_dual_detours_backward(A, given, target, shares, start, stop):
    add_detours_backward(A.tangent, given.value, target.tangent, shares.tangent, start, stop)
    add_detours_backward(A.value, given.tangent, target.tangent, shares.tangent, start, stop)
    add_detours_backward(A.value, given.value, target.value, shares.value, start, stop)


@kernel
def clear(target, stop):
    """Fill the first `stop` numbers with 0."""
    for j in range(Index(stop)):
        put(target, j, zero(target))


@kernel
def add_product(target, factor, source, stop):
    """Add factor * source to target, the first `stop` numbers of each."""
    for j in range(Index(stop)):
        put(target, j, multiply_add(get(target, j), factor, get(source, j)))


@kernel
def add_each(target, factors, detours, start, stop):
    """Do what `add_detours` does, a word after another."""
    for k in range(stop - 1, start - 1, -1):
        for i in range(start):
            add_product(row(target, i), get(row(factors, i), k), row(detours, k), start)


@kernel
def add_four(target, factors, detours, start):
    """Do what `add_detours` does, for a full panel."""
    first, second = row(detours, start + 3), row(detours, start + 2)
    third, fourth = row(detours, start + 1), row(detours, start)
    for i in range(start):
        given, into = row(factors, i), row(target, i)
        a, b, c, d = get(given, start + 3), get(given, start + 2), get(given, start + 1), get(given, start)
        for j in range(Index(start)):
            early = multiply_add(multiply_add(get(into, j), a, get(first, j)), b, get(second, j))
            put(into, j, multiply_add(multiply_add(early, c, get(third, j)), d, get(fourth, j)))


@kernel
def add_and_sum(target, factor, source, detours, stop):
    """Add factor * source to target, the first `stop` numbers of each; return their sum of source * detours."""
    factors = spread(source, factor)
    sums = spread(source, zero(source))
    for j in range(0, stop, at_once(source)):
        adjoint = several(source, j, stop)
        sums = multiply_add(sums, adjoint, several(detours, j, stop))
        put_several(target, j, stop, multiply_add(several(target, j, stop), factors, adjoint))
    return sum_of(source, sums)


@kernel
def add_each_backward(A, given, target, shares, start, stop):
    """Do what `add_detours_backward` does, a word after another."""
    for k in range(start, stop):
        share = row(shares, k - start)
        for i in range(start):
            found = add_and_sum(row(target, k), get(row(A, i), k), row(given, i), row(A, k), start)
            put(share, i, add(get(share, i), found))


@kernel
def add_four_backward(A, given, target, shares, start):
    """Do what `add_detours_backward` does, for a full panel."""
    A0, A1, A2, A3 = row(A, start), row(A, start + 1), row(A, start + 2), row(A, start + 3)
    J0, J1, J2, J3 = row(target, start), row(target, start + 1), row(target, start + 2), row(target, start + 3)
    of_0, of_1, of_2, of_3 = row(shares, 0), row(shares, 1), row(shares, 2), row(shares, 3)
    for i in range(start):
        source, factors = row(given, i), row(A, i)
        a, b, c, d = get(factors, start), get(factors, start + 1), get(factors, start + 2), get(factors, start + 3)
        a, b, c, d = spread(source, a), spread(source, b), spread(source, c), spread(source, d)
        of_a = of_b = of_c = of_d = spread(source, zero(source))
        for j in range(0, start, at_once(source)):
            adjoint = several(source, j, start)
            of_a = multiply_add(of_a, adjoint, several(A0, j, start))
            of_b = multiply_add(of_b, adjoint, several(A1, j, start))
            of_c = multiply_add(of_c, adjoint, several(A2, j, start))
            of_d = multiply_add(of_d, adjoint, several(A3, j, start))
            put_several(J0, j, start, multiply_add(several(J0, j, start), a, adjoint))
            put_several(J1, j, start, multiply_add(several(J1, j, start), b, adjoint))
            put_several(J2, j, start, multiply_add(several(J2, j, start), c, adjoint))
            put_several(J3, j, start, multiply_add(several(J3, j, start), d, adjoint))
        put(of_0, i, add(get(of_0, i), sum_of(source, of_a)))
        put(of_1, i, add(get(of_1, i), sum_of(source, of_b)))
        put(of_2, i, add(get(of_2, i), sum_of(source, of_c)))
        put(of_3, i, add(get(of_3, i), sum_of(source, of_d)))


# Elimination of words in panels of four (Grassmann-Taksar-Heyman): the factors behind log Z, marginals and samples.
#
# All arrays hold numbers of one kind (`kernels/numbers.py`). The arc matrix `A` has shape (n+1, n+1), ``[head,
# dependent]``; node 0 is ROOT, column 0 is 0. Words are eliminated from the last to the second. `eliminate` leaves
# the factors: in row m, before the diagonal, the arcs from word m as they were when it was eliminated; in column m,
# before the diagonal, those into it divided by their sum, its pivot `S[m]`, which leaves out ROOT's arc under the
# single-root constraint. Then no pivot is 0 if word 1 reaches every other word along arcs between words; with several
# roots, if ROOT does: so there is no search for pivots. Numbers are added, multiplied and divided, never subtracted
# (except once, in `eliminate_backward`, where it does no harm). The panels are those of a right-looking LU
# factorisation (Golub and Van Loan 2013, section 3.2).
#
# A `workspace` has shape (3, WIDTH, n+1) or more: columns of a panel stand in its rows while they are worked on, as
# loops over columns are not vectorised.


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


# Both sweeps of elimination for one sentence whose words stand in their own order: log Z and marginals of arcs.
#
# Elimination wants a word first that reaches all others: that word and word 1 change places in the factors. Weights `W`
# and results (n+1, n+1) are by node.


@kernel
def swap_words(arcs, a, b):
    """Exchange the rows a and b of a matrix and its columns a and b."""
    if a == b:
        return
    first, second = row(arcs, a), row(arcs, b)
    for j in range(length(first)):
        x = get(first, j)
        put(first, j, get(second, j))
        put(second, j, x)
    for i in range(length(arcs)):
        x = get(arcs, (i, a))
        put(arcs, (i, a), get(arcs, (i, b)))
        put(arcs, (i, b), x)


@kernel
def factorise(W, final_word, A, S, workspace, single_root):
    """Fill A with the factors of an arc matrix and S with its pivots, the final word first; see `eliminate`."""
    for i in range(length(S)):
        target, given = row(A, i), row(W, i)
        for j in range(Index(length(S))):
            put(target, j, get(given, j))
    swap_words(A, final_word, 1)
    return eliminate(A, S, workspace, single_root)


@kernel
def arc_marginals(W, final_word, A, S, adjoints, workspace, single_root, out):
    """Fill out (n+1, n+1) with the marginals of arcs from factors: weights times adjoints.

    Tangents of dual numbers are covariances. adjoints (n+1, n+1): to compute in. Returns whether the probabilities of
    each word's heads sum to 1, in numbers that an array of their kind holds: row 0 of the workspace has the sums.
    """
    eliminate_backward(A, S, adjoints, workspace, single_root)
    swap_words(adjoints, final_word, 1)
    return put_products(W, adjoints, row(row(workspace, 0), 0), out)


@kernel
def put_products(W, adjoints, totals, out):
    """Fill out (n+1, n+1) with products and totals (n+1,) with their sums; return whether the sums are near 1.

    An arc of weight 0 keeps 0 whatever its adjoint, which may be too large for a float64; and so does one whose product
    is -1e-17, because the sweep rounded where it subtracted.
    """
    nodes = length(W)
    clear(totals, nodes)
    for i in range(nodes):
        weights, given, found, none = row(W, i), row(adjoints, i), row(out, i), zero(totals)
        for j in range(Index(nodes)):
            weight = get(weights, j)
            x = multiply(weight, get(given, j)) if is_positive(weight) else none
            put(totals, j, add(get(totals, j), x))
            put_rounded(found, j, x if is_positive(x) else none)
    in_range = True
    for j in range(1, nodes):
        in_range = in_range and abs(as_float(get(totals, j)) - 1.0) < tolerance(totals)
    return in_range


# Other arcs from ROOT in the factors of a sentence with a single root: no pivot depends on them, so each costs O(n^2).
#
# Nothing is subtracted here either.


@kernel
def fix_root(W, place):
    """Leave ROOT the one arc to the word at a place, with weight 1: rewrite row 0 of an arc matrix or of factors."""
    clear(row(W, 0), length(W))
    put(W, (0, place), one(row(W, 0)))


@kernel
def eliminate_root(A, S):
    """Factorise row 0 of A anew, where other weights stand; S[1] becomes what has come to the last word."""
    root = row(A, 0)
    for m in range(length(S) - 1, 1, -1):
        share = divide(get(root, m), get(S, m))
        put(root, m, share)
        if is_positive(share):
            add_product(root, share, row(A, m), m)
    put(S, 1, get(root, 1))
    put(root, 1, one(S))


@kernel
def root_products(W, final_word, A, S, out):
    """Fill out (n+1,), zeros at first, with P(ROOT -> word): weights (n+1, n+1) by node times d log Z / d W[0, j]."""
    put(out, 1, divide(one(S), get(S, 1)))
    for m in range(2, length(S)):
        put(out, m, divide(inner(part(out, 1, m), part(row(A, m), 1, m)), get(S, m)))
    first = get(out, 1)
    put(out, 1, get(out, final_word))
    put(out, final_word, first)
    for j in range(1, length(S)):
        put(out, j, multiply(get(row(W, 0), j), get(out, j)))


# The elimination sampler: words come back in reverse order of elimination (algorithm and proof: docs/how_it_works.md).
#
# Positions are those of the factors: 0 is ROOT, and the words come back from the first on. An arc i -> j of the
# partial tree has the weight that it had when the earlier-eliminated of its ends was eliminated: the sum of the direct
# arc's and of those of detours via words eliminated earlier still. Drawing which of them it is (the arc's `via`, or
# DIRECT) is the whole algorithm.


DIRECT = -1
NONE = -1


@kernel
def transpose(A, across, nodes):
    """Fill `across` with A[i, j] at [j, i], both of `nodes` rows: a draw goes down columns of factors."""
    for i in range(nodes):
        given = row(A, i)
        for j in range(nodes):
            put(across, (j, i), get(given, j))


@kernel
def draw_via(Ai, across_j, total, direct, m, nodes, state):
    """Draw which word at a position behind m the arc i -> j leads through; return its position, DIRECT if none.

    Ai: row i of the factors; across_j: column j; total: the arc's weight; direct: that of the direct arc. The scan
    starts at the nearest position, so that a word's successive draws walk along the order once: O(n) per word and tree.
    What rounding leaves over goes to the last possible detour, never to one of weight 0.
    """
    rest = subtract(scale(total, uniform(state)), direct)
    if is_negative(rest):
        return DIRECT
    last = DIRECT
    for q in range(m + 1, nodes):
        detour = multiply(get(Ai, q), get(across_j, q))
        if is_positive(detour):
            last = q
            if is_less(rest, detour):
                break
            rest = subtract(rest, detour)
    return last


@kernel(allocates=True)
def sample_trees(A, S, across, W, final_word, single_root, roots, state, heads):
    """Fill heads (k, n) with k independent trees, exact whatever the weights; O(n^2) per tree at worst.

    A, S: the factors from `eliminate`; across: from `transpose`; W: (n+1, n+1), the arc matrix before
    elimination; in all of them the final word and word 1 have changed places. roots (k,): 0, or the word that is the
    root, for which row 0 of A and of W is overwritten; state: of `xoshiro.py`.
    """
    nodes = length(S)
    places = np.empty((3, nodes), np.int64)
    names = np.arange(nodes)
    names[1], names[final_word] = final_word, 1
    tree = np.empty(nodes, np.int64)
    for i in range(heads.shape[0]):
        if roots[i] > 0 and (i == 0 or roots[i] != roots[i - 1]):
            fix_root(W, names[roots[i]])
            fix_root(A, names[roots[i]])
            eliminate_root(A, S)
        sample_tree(A, S, across, W, single_root, state, places, tree)
        for m in range(1, nodes):
            heads[i, names[m] - 1] = names[tree[m]]


@kernel
def sample_tree(A, S, across, W, single_root, state, places, head):
    """Fill head (n+1,) from 1 on with one tree by position; places (3, n+1), int64: to compute in."""
    nodes = length(S)
    via, first, following = places[0], places[1], places[2]
    first[:nodes] = NONE  # first[m]: a word whose arc leads via m; following[j]: the next after j
    head[1] = 0
    for m in range(1, nodes):
        j = first[m]
        if m > 1 and j == NONE:
            head[m] = draw_categorical(row(across, m), 1 if single_root else 0, m, one(S), state)
        elif m > 1:
            # The last word with an arc via m on the way up to ROOT: that arc leads into ROOT's component. From the
            # lowest position of m's list on, which does not depend on where the words' arcs lead. The list's own order
            # does: a word is attached anew whenever its head comes back.
            lowest = other = nearest = j
            while other != NONE:
                lowest, other = min(lowest, other), following[other]
            while lowest != 0:
                if via[lowest] == m:
                    nearest = lowest
                lowest = head[lowest]
            head[m] = head[nearest]
        while j != NONE:
            next_j = following[j]
            head[j] = m
            total, direct = get(row(A, m), j), get(row(W, m), j)
            q = draw_via(row(A, m), row(across, j), total, direct, m, nodes, state)
            attach(j, q, via, first, following)
            j = next_j
        Ai, direct = row(A, head[m]), get(row(W, head[m]), m)
        total = multiply(get(Ai, m), get(S, m))
        attach(m, draw_via(Ai, row(across, m), total, direct, m, nodes, state), via, first, following)


@kernel
def attach(j, q, via, first, following):
    """Record that the arc into j leads via q, and put j on q's list."""
    via[j] = q
    if q != DIRECT:
        following[j] = first[q]
        first[q] = j
