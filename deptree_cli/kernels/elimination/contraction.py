"""A sentence given some heads is a smaller graph: every free word with the tree that hangs on it, and the root's tree.

Its nodes are positions: 0 for the root's tree, 1..m for those of the free words.
"""

from __future__ import annotations

from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, get, put, row, zero

FREE = -1  # the head of a word that has none yet, and of the root
NONE = -1


@kernel
def top_of_tree(u, root, heads):
    """Return the end of the chain of given heads from u: a word without a head, or the root."""
    while u != root and heads[u] != FREE:
        u = heads[u]
    return u


@kernel
def find_tops(root, heads, free, tops):
    """Fill tops (n+1,) with the position of the tree that each node is in; NONE for ROOT if a word is the root.

    heads: (n+1,) by node; free: (m+1,) the free words by position, the first being ignored.
    """
    nodes = heads.shape[0]
    fill(tops, NONE)
    for x in range(1, free.shape[0]):
        tops[free[x]] = x
    tops[root] = 0
    for u in range(1, nodes):
        if heads[u] != FREE:
            tops[u] = tops[top_of_tree(u, root, heads)]


@kernel
def gather_arcs(weights, free, tops, target):
    """Fill target (m+1, m+1) with the total weights of the arcs from each tree to each free word."""
    count = free.shape[0]
    for y in range(count):
        for x in range(count):
            put(target, (y, x), zero(target))
    for h in range(tops.shape[0]):
        y = tops[h]
        if y != NONE:
            arcs, given = row(target, y), row(weights, h)
            for x in range(1, count):
                if x != y:
                    put(arcs, x, add(get(arcs, x), get(given, free[x])))
