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
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, get, part, put, row, zero
from deptree_cli.kernels.trees.contraction import FREE, NONE, find_tops, gather_arcs
from deptree_cli.kernels.trees.elimination import eliminate
from deptree_cli.kernels.trees.elimination_sampler import sample_tree, transpose


class Factors(NamedTuple):
    """The factors of a cell with m free words, in arrays of numbers that hold n, as of `elimination_sampler.py`.

    A, across, W: (n+1, n+1); S: (n+1,); workspace: (3, WIDTH, n+1).
    """

    A: object
    S: object
    across: object
    W: object
    workspace: object


class Cell(NamedTuple):
    """The nodes of a cell's graph; all int64.

    size: (1,) how many words are free; free: (n+1,) these words by position, from 1 on. first (n+1,), next (n+1,): the
    nodes of each tree as lists, the root's first. places (3, n+1) and drawn (n+1,): to compute in.
    """

    size: object
    free: object
    first: object
    next: object
    places: object
    drawn: object


@kernel
def merge(cell, root, fixed):
    """Fill `cell` for a root and the heads (n+1,) given by node."""
    nodes = fixed.shape[0]
    count = 0
    for u in range(1, nodes):
        if u != root and fixed[u] == FREE:
            count += 1
            cell.free[count] = u
    cell.size[0] = count
    tops = cell.drawn  # not in use before a tree is drawn
    find_tops(root, fixed, cell.free[: count + 1], tops)
    cell.first[: count + 1] = NONE
    for u in range(nodes - 1, -1, -1):
        if tops[u] != NONE:
            cell.next[u] = cell.first[tops[u]]
            cell.first[tops[u]] = u


@kernel
def factorise_cell(weights, root, fixed, cell, factors):
    """Factorise the cell with the given root and heads (n+1,), FREE where not given; fill `cell` and `factors`.

    Returns the second result of `eliminate`: if it is below SAFE_LOG, float64 does not do.
    """
    merge(cell, root, fixed)
    nodes = cell.size[0] + 1
    gather_arcs(weights, cell.free[:nodes], cell.drawn, factors.A)
    for i in range(nodes):
        for j in range(nodes):
            put(factors.W, (i, j), get(factors.A, (i, j)))
    depth = eliminate(factors.A, part(factors.S, 0, nodes), factors.workspace, False)[1]
    transpose(factors.A, factors.across, nodes)
    return depth


@kernel
def draw_from(weights, root, fixed, cell, factors, state, out):
    """Fill out (n,), int32, with a tree of a cell from its factors, given its root and heads as before."""
    nodes, tree = cell.size[0] + 1, cell.drawn
    sample_tree(factors.A, part(factors.S, 0, nodes), factors.across, factors.W, False, state, cell.places, tree)
    for u in range(1, fixed.shape[0]):
        out[u - 1] = 0 if u == root else fixed[u]
    pick = row(row(factors.workspace, 0), 0)
    for x in range(1, nodes):
        word = cell.free[x]
        h = cell.first[tree[x]]
        heads = 0
        total = zero(factors.S)
        while h != NONE:
            put(pick, heads, get(row(weights, h), word))
            total = add(total, get(pick, heads))
            heads += 1
            h = cell.next[h]
        chosen = draw_categorical(pick, 0, heads, total, state) if heads > 1 else np.int64(0)
        h = cell.first[tree[x]]
        for _ in range(chosen):
            h = cell.next[h]
        out[word - 1] = h
