"""The elimination sampler: words come back in reverse order of elimination (algorithm and proof: README, "How it
works").

Positions are those of `elimination.py`: heads 0..n-1 are words, n is ROOT. An arc i -> j of the partial tree has the
    weight that was left when the earlier-eliminated of its ends came back; it was made of the direct arc and of detours
    via words eliminated earlier still, and the draw of which of them it is (the arc's `via`, or DIRECT) is the whole
    algorithm.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.arithmetic import (
    divide,
    get,
    is_less,
    is_negative,
    is_positive,
    multiply,
    one,
    put,
    row,
    scale,
    subtract,
)
from deptree_cli.kernels.choosing import choose
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform

DIRECT = -1
NONE = -1


@kernel
def normalise(A, S, order, B):
    """Fill B, shape (n, n+1), with A[q, j] / S[q] at [j, q] for q < j and with A[i, m] / S[m] at [m, i] for i > m."""
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
    """Which word at a position before m the arc i -> j, of weight A[i, j], leads through; DIRECT if none.

    Scans from the latest position down, so that a word's successive draws walk down the order once: O(n) per word and
    tree. What rounding leaves over goes to the last possible detour, never to a zero weight.
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
def put_back(A, B, W, order, single_root, state, heads):
    """Fill heads, shape (k, n), with k independent trees.

    A, order: the factors of `elimination.eliminate`; B: their `normalise`; W: the arc matrix before elimination,
        reordered alike. Exact whatever the weights; O(n^2) per tree at worst.
    """
    n = order.shape[0]
    head = np.empty(n, np.int64)
    via = np.empty(n, np.int64)
    first = np.empty(n, np.int64)  # first[m]: a word whose arc leads via m; following[j]: the next such word after j
    following = np.empty(n, np.int64)
    for tree in range(heads.shape[0]):
        first[:] = NONE
        for m in range(n - 1, -1, -1):
            j = first[m]
            if m == n - 1:
                new_head = n
            elif j == NONE:
                new_head = choose(row(B, m), m + 1, n if single_root else n + 1, one(B), state)
            else:
                new_head = head[nearest_root(lowest(j, following), m, head, via, n)]
            while j != NONE:
                next_j = following[j]
                head[j] = m
                hang(j, draw_via(row(A, m), row(B, j), get(row(W, m), j), j, m, state), via, first, following)
                j = next_j
            head[m] = new_head
            Ai, Wi = row(A, new_head), row(W, new_head)
            hang(m, draw_via(Ai, row(B, m), get(Wi, m), m, m, state), via, first, following)
        for m in range(n):
            heads[tree, order[m]] = 0 if head[m] == n else order[head[m]] + 1


@kernel
def lowest(j, following):
    """The word at the lowest position in a list: a start for `nearest_root` that does not tell where the words' arcs
    lead.

    (The list's own order does: a word is hung anew whenever its head comes back.)
    """
    best = j
    while j != NONE:
        best = min(best, j)
        j = following[j]
    return best


@kernel
def nearest_root(j, m, head, via, root):
    """The last word with an arc via m on the way from j up to ROOT: its arrow leads on into ROOT's component."""
    nearest = j
    while j != root:
        if via[j] == m:
            nearest = j
        j = head[j]
    return nearest


@kernel
def hang(j, q, via, first, following):
    """Note that j's arc leads via q."""
    via[j] = q
    if q != DIRECT:
        following[j] = first[q]
        first[q] = j
