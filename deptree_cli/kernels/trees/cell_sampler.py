"""Trees of one cell by elimination: exact draws where walks take too long, given a root and some words' heads.

A word with a given head is merged into the tree above it, so that a cell is a smaller graph: its nodes are the words
without a head, each with the tree that hangs on it, and the root's tree. One factorisation of that graph, m^3 / 3
multiply-adds for m free words, serves all draws from the cell. With no heads given it is the sentence's own, in which a
root costs O(n^2).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, get, length, put, row, zero
from deptree_cli.kernels.trees.elimination import eliminate
from deptree_cli.kernels.trees.elimination_sampler import normalise, sample_tree
from deptree_cli.kernels.trees.head_distribution import FREE, top_of_tree

NONE = -1


class Factors(NamedTuple):
    """The factors of a cell with m free words, in arrays of numbers with room for n, as of `elimination_sampler.py`.

    A, W: (n+1, n); S: (n,); B: (n, n+1). order: (n,) int64.
    """

    A: object
    S: object
    B: object
    W: object
    order: object


class Cell(NamedTuple):
    """The nodes of a cell's graph; all int64 but the last.

    size: (1,) how many words are free; free: (n,) these words by position. first (n+1,), next (n+1,): the nodes of
    each tree as lists, the root's last. places (4, n) and drawn (n,), int32: to compute in.
    """

    size: object
    free: object
    first: object
    next: object
    places: object
    drawn: object


@kernel
def merge(cell, root, fixed):
    """Fill `cell` for a root and the heads (n+1,) given by node; return the number of free words."""
    nodes = fixed.shape[0]
    count = 0
    for u in range(1, nodes):
        if u != root and fixed[u] == FREE:
            cell.free[count] = u
            count += 1
    locate(cell, root, fixed, count)
    return count


@kernel
def locate(cell, root, fixed, count):
    """Fill cell.first and cell.next by the order of the words in cell.free."""
    nodes = fixed.shape[0]
    position = np.full(nodes, NONE, np.int64)
    for x in range(count):
        position[cell.free[x]] = x
    cell.first[: count + 1] = NONE
    for u in range(nodes - 1, -1, -1):
        if u == 0 and root > 0:
            continue
        top = position[top_of_tree(u, root, fixed)]
        cell.next[u] = cell.first[top if top >= 0 else count]
        cell.first[top if top >= 0 else count] = u


@kernel
def gather_arcs(weights, cell, count, target):
    """Fill target (count+1, count), dependents in columns, with the weights of arcs from each tree to free words."""
    for y in range(count + 1):
        arcs = row(target, y)
        for x in range(count):
            put(arcs, x, zero(target))
        h = cell.first[y]
        while h != NONE:
            given = row(weights, h)
            for x in range(count):
                if x != y:
                    put(arcs, x, add(get(arcs, x), get(given, cell.free[x])))
            h = cell.next[h]


@kernel
def factorise_cell(weights, root, fixed, cell, factors):
    """Factorise the cell with the given root and heads (n+1,), FREE where not given; fill `cell` and `factors`.

    Returns the second result of `eliminate`: if it is below SAFE_LOG, float64 does not do.
    """
    count = merge(cell, root, fixed)
    cell.size[0] = count
    order = factors.order[:count]
    for x in range(count):
        order[x] = x
    gather_arcs(weights, cell, count, factors.A)
    _, depth = eliminate(factors.A, factors.S, order, False)
    words = cell.free[:count].copy()
    for x in range(count):
        cell.free[x] = words[order[x]]
    locate(cell, root, fixed, count)
    gather_arcs(weights, cell, count, factors.W)
    for x in range(count):
        order[x] = x
    if depth > -math.inf:
        normalise(factors.A, factors.S, order, factors.B)
    return depth


@kernel
def draw_from(weights, root, fixed, cell, factors, state, out):
    """Fill out (n,), int32, with a tree of a cell from its factors, given its root and heads as before."""
    count = cell.size[0]
    tree = cell.drawn[:count]
    sample_tree(factors.A, factors.B, factors.W, factors.order[:count], False, state, cell.places, tree)
    for u in range(1, fixed.shape[0]):
        out[u - 1] = 0 if u == root else fixed[u]
    pick = row(factors.B, length(factors.S) - 1)  # not in use: fewer words than that are free
    for x in range(count):
        y = tree[x] - 1 if tree[x] > 0 else count
        word = cell.free[x]
        h = cell.first[y]
        heads = 0
        total = zero(factors.S)
        while h != NONE:
            put(pick, heads, get(row(weights, h), word))
            total = add(total, get(pick, heads))
            heads += 1
            h = cell.next[h]
        chosen = draw_categorical(pick, 0, heads, total, state) if heads > 1 else np.int64(0)
        h = cell.first[y]
        for _ in range(chosen):
            h = cell.next[h]
        out[word - 1] = h
