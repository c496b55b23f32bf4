"""The elimination sampler: words come back in reverse order of elimination (algorithm and proof: docs/how_it_works.md).

Positions are those of `sweeps.py`: 0 is ROOT, and the words come back from the first on. An arc i -> j of the
partial tree has the weight that it had when the earlier-eliminated of its ends was eliminated: the sum of the direct
arc's and of those of detours via words eliminated earlier still. Drawing which of them it is (the arc's `via`, or
DIRECT) is the whole algorithm.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elimination.root_arcs import eliminate_root, fix_root
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    get,
    is_less,
    is_negative,
    is_positive,
    length,
    multiply,
    one,
    put,
    row,
    scale,
    subtract,
)
from deptree_cli.kernels.xoshiro import uniform

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

    A, S: the factors from `sweeps.eliminate`; across: from `transpose`; W: (n+1, n+1), the arc matrix before
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
            head[m] = head[nearest_root(lowest(j, following), m, head, via)]
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
def nearest_root(j, m, head, via):
    """Return the last word with an arc via m on the path from j up to ROOT; that arc leads into ROOT's component."""
    nearest = j
    while j != 0:
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
