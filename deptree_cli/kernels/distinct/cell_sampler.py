"""Trees of one cell by elimination: exact draws where walks take too long, given a root and some words' heads.

A word with a given head is merged into the tree above it, so that a cell is a smaller graph: its nodes are the words
without a head, each with the tree that hangs on it, and the root's tree. One factorisation of that graph, m^3 / 3
multiply-adds for m free words, serves all draws from the cell. With no heads given it is the sentence's own, in which a
root costs O(n^2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.elimination.contraction import FREE, NONE, find_tops, gather_arcs
from deptree_cli.kernels.elimination.sampler import sample_tree, transpose
from deptree_cli.kernels.elimination.sweeps import eliminate
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, get, part, put, row, zero


class Factors(NamedTuple):
    """The factors of a cell with m free words, in arrays of numbers that hold n, as of `elimination/sampler.py`.

    A, across, W: (n+1, n+1); S: (n+1,); workspace: (3, WIDTH, n+1).
    """

    A: object
    S: object
    across: object
    W: object
    workspace: object


# Rows of a cell, an int64 array (ROWS, n+1): how many words are free, and these by position from 1 on; the nodes of
# each tree as lists, by position and by node; and what draws compute in.
WORDS, FIRST, NEXT, TREE, PLACES, ROWS = 0, 1, 2, 3, 4, 7


@kernel
def merge(cell, root, fixed):
    """Fill a cell for a root and the heads (n+1,) given by node; return how many nodes its graph has."""
    nodes, free, first, tops = fixed.shape[0], cell[WORDS], cell[FIRST], cell[TREE]
    count = 0
    for u in range(1, nodes):
        if u != root and fixed[u] == FREE:
            count += 1
            free[count] = u
    free[0] = count
    find_tops(root, fixed, free[: count + 1], tops)
    fill(first[: count + 1], NONE)
    for u in range(nodes - 1, -1, -1):
        if tops[u] != NONE:
            cell[NEXT, u] = first[tops[u]]
            first[tops[u]] = u
    return count + 1


@kernel
def factorise_cell(weights, root, fixed, cell, factors):
    """Factorise the cell with the given root and heads (n+1,), FREE where not given; fill `cell` and `factors`.

    Returns whether their numbers held every term.
    """
    nodes = merge(cell, root, fixed)
    gather_arcs(weights, cell[WORDS, :nodes], cell[TREE], factors.A)
    for i in range(nodes):
        for j in range(nodes):
            put(factors.W, (i, j), get(factors.A, (i, j)))
    _, is_in_range = eliminate(factors.A, part(factors.S, 0, nodes), factors.workspace, False)
    transpose(factors.A, factors.across, nodes)
    return is_in_range


@kernel
def draw_from(weights, root, fixed, cell, factors, state, out):
    """Fill out (n,), int32, with a tree of a cell from its factors, given its root and heads as before."""
    nodes, tree = cell[WORDS, 0] + 1, cell[TREE]
    S = part(factors.S, 0, nodes)
    sample_tree(factors.A, S, factors.across, factors.W, False, state, cell[PLACES:], tree)
    for u in range(1, fixed.shape[0]):
        out[u - 1] = 0 if u == root else fixed[u]
    pick = row(row(factors.workspace, 0), 0)
    for x in range(1, nodes):
        word = cell[WORDS, x]
        h = cell[FIRST, tree[x]]
        heads = 0
        total = zero(S)
        while h != NONE:
            put(pick, heads, get(row(weights, h), word))
            total = add(total, get(pick, heads))
            heads += 1
            h = cell[NEXT, h]
        chosen = draw_categorical(pick, 0, heads, total, state) if heads > 1 else np.int64(0)
        h = cell[FIRST, tree[x]]
        for _ in range(chosen):
            h = cell[NEXT, h]
        out[word - 1] = h
