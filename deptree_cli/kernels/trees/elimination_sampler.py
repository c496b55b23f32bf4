"""The elimination sampler: words come back in reverse order of elimination (algorithm and proof: README, "How it
works").

Positions are those of `elimination.py`: heads 0..n-1 are words, n is ROOT. An arc i -> j of the partial tree has the
weight that it had when the earlier-eliminated of its ends was eliminated: the sum of the direct arc's and of those of
detours via words eliminated earlier still. Drawing which of them it is (the arc's `via`, or DIRECT) is the whole
algorithm.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    divide,
    get,
    is_less,
    is_negative,
    is_positive,
    length,
    multiply,
    one,
    part,
    put,
    row,
    scale,
    subtract,
    zero,
)
from deptree_cli.kernels.trees.elimination import add_multiple
from deptree_cli.kernels.xoshiro import uniform

DIRECT = -1
NONE = -1


@kernel
def normalise(A, S, order, B):
    """Fill B (n, n+1) with A[q, j] / S[q] at [j, q] for q < j, and with A[i, m] / S[m] at [m, i] for i > m."""
    n = order.shape[0]
    for m in range(n):
        Bm = row(B, m)
        for q in range(m):
            put(Bm, q, divide(get(row(A, q), m), get(S, q)))
        for i in range(m + 1, n + 1):
            if m < n - 1:
                put(Bm, i, divide(get(row(A, i), m), get(S, m)))


@kernel
def draw_via(Ai, Bj, direct, j, m, state):
    """Draw which word at a position before m the arc i -> j leads through; return its position, DIRECT if none.

    Ai: row i of A, of which A[i, j] is the arc's weight; Bj: row j of B; direct: the weight of the direct arc. The scan
    starts at the latest position, so that a word's successive draws walk down the order once: O(n) per word and tree.
    What rounding leaves over goes to the last possible detour, never to one of weight 0.
    """
    rest = subtract(scale(get(Ai, j), uniform(state)), direct)
    if is_negative(rest):
        return DIRECT
    last = DIRECT
    for q in range(m - 1, -1, -1):
        detour = multiply(get(Ai, q), get(Bj, q))
        if is_positive(detour):
            last = q
            if is_less(rest, detour):
                break
            rest = subtract(rest, detour)
    return last


@kernel
def sample_trees(A, B, W, order, single_root, state, heads):
    """Fill heads (k, n) with k independent trees, exact whatever the weights; O(n^2) per tree at worst.

    A, order: the factors from `elimination.eliminate`; B: (n, n+1) from `normalise`; W: (n+1, n), the arc matrix before
    elimination, permuted like A; state: of `xoshiro.py`.
    """
    places = np.empty((4, order.shape[0]), np.int64)
    for tree in range(heads.shape[0]):
        sample_tree(A, B, W, order, single_root, state, places, heads[tree])


@kernel
def sample_trees_of_roots(A, S, B, W, order, roots, state, heads):
    """Fill heads (k, n) with independent trees of which tree i has the root roots[i], a word; single-root factors.

    As `sample_trees`, with the pivots S. Row n of A and of W is overwritten: see `hang_on`.
    """
    n = order.shape[0]
    places = np.empty((4, n), np.int64)
    position = np.empty(n, np.int64)
    for m in range(n):
        position[order[m]] = m
    for tree in range(heads.shape[0]):
        if tree == 0 or roots[tree] != roots[tree - 1]:
            hang_on(A, S, W, position[roots[tree] - 1])
        sample_tree(A, B, W, order, True, state, places, heads[tree])


@kernel
def hang_on(A, S, W, place):
    """Leave ROOT the one arc to the word at a position: rewrite row n of single-root factors A and of W. O(n^2).

    No pivot depends on ROOT's arcs, and neither does what `sample_tree` reads of B.
    """
    n = length(S)
    direct, swept = row(W, n), row(A, n)
    for j in range(n):
        put(direct, j, zero(S))
        put(swept, j, zero(S))
    put(direct, place, one(S))
    put(swept, place, one(S))
    for m in range(place, n - 1):
        factor = divide(get(swept, m), get(S, m))
        if is_positive(factor):
            add_multiple(part(swept, m + 1, n), factor, part(row(A, m), m + 1, n), n - m - 1)


@kernel
def sample_tree(A, B, W, order, single_root, state, places, heads):
    """Fill heads (n,) with one tree; places (4, n), int64: to compute in. The rest as of `sample_trees`."""
    n = order.shape[0]
    head, via = places[0], places[1]
    first, following = places[2], places[3]  # first[m]: a word whose arc leads via m; following[j]: the next after j
    first[:] = NONE
    for m in range(n - 1, -1, -1):
        j = first[m]
        if m == n - 1:
            new_head = n
        elif j == NONE:
            new_head = draw_categorical(row(B, m), m + 1, n if single_root else n + 1, one(B), state)
        else:
            new_head = head[nearest_root(lowest(j, following), m, head, via, n)]
        while j != NONE:
            next_j = following[j]
            head[j] = m
            attach(j, draw_via(row(A, m), row(B, j), get(row(W, m), j), j, m, state), via, first, following)
            j = next_j
        head[m] = new_head
        Ai, Wi = row(A, new_head), row(W, new_head)
        attach(m, draw_via(Ai, row(B, m), get(Wi, m), m, m, state), via, first, following)
    for m in range(n):
        heads[order[m]] = 0 if head[m] == n else order[head[m]] + 1


@kernel
def lowest(j, following):
    """Return the lowest position in the list that begins with j.

    As a start for `nearest_root` it does not depend on where the words' arcs lead. The list's own order does: a word is
    attached anew whenever its head comes back.
    """
    best = j
    while j != NONE:
        best = min(best, j)
        j = following[j]
    return best


@kernel
def nearest_root(j, m, head, via, root):
    """Return the last word with an arc via m on the path from j up to ROOT; that arc leads into ROOT's component."""
    nearest = j
    while j != root:
        if via[j] == m:
            nearest = j
        j = head[j]
    return nearest


@kernel
def attach(j, q, via, first, following):
    """Record that the arc into j leads via q, and put j on q's list."""
    via[j] = q
    if q != DIRECT:
        following[j] = first[q]
        first[q] = j
