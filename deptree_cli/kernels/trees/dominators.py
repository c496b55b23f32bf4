"""Which words stand on every way from ROOT to another word: the dominators of a graph, without any weights.

Iteration over immediate dominators in reverse postorder (Cooper, Harvey, Kennedy 2001): a few passes over the arcs,
O(n^2) each; only adversarial graphs need more than a handful.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

NONE = -1


@kernel(allocates=True)
def forbid_dominating(allowed, starts, supported):
    """Clear supported[h, d] for words h and d where every way from ROOT to h leads through d.

    allowed: bool (n+1, n+1), ``[head, dependent]``, arcs between words; starts: bool (n+1,), the words that a way from
    ROOT may enter first, from which every word is reached; supported: bool (n+1, n+1), filled by the caller.
    """
    nodes = allowed.shape[0]
    order, rank = reverse_postorder(allowed, starts)
    above = immediate_dominators(allowed, starts, order, rank)
    for h in range(1, nodes):
        d = h
        while d != 0:
            supported[h, d] = False
            d = above[d]


@kernel(allocates=True)
def reverse_postorder(allowed, starts):
    """Return the nodes by the end of their visit in a depth-first search from node 0, last first; and their ranks."""
    nodes = allowed.shape[0]
    order = np.zeros(nodes, np.int64)
    rank = np.full(nodes, NONE, np.int64)
    seen = np.zeros(nodes, np.bool_)
    path = np.zeros(nodes, np.int64)
    following = np.ones(nodes, np.int64)  # the next word to try from each node of the path
    seen[0] = True
    length, last = 1, nodes
    while length > 0:
        u = path[length - 1]
        v = following[u]
        while v < nodes and (seen[v] or not (starts[v] if u == 0 else allowed[u, v])):
            v += 1
        following[u] = v + 1
        if v < nodes:
            seen[v] = True
            path[length] = v
            length += 1
        else:
            length -= 1
            last -= 1
            order[last] = u
            rank[u] = last
    return order, rank


@kernel(allocates=True)
def immediate_dominators(allowed, starts, order, rank):
    """Return for every word the last node that all ways from node 0 to it pass before it, (n+1,); 0 for node 0."""
    nodes = allowed.shape[0]
    above = np.full(nodes, NONE, np.int64)
    above[0] = 0
    changed = True
    while changed:
        changed = False
        for place in range(1, nodes):
            v = order[place]
            found = np.int64(0 if starts[v] else NONE)
            for u in range(1, nodes):
                if found != 0 and allowed[u, v] and above[u] != NONE:
                    found = u if found == NONE else meet(above, rank, u, found)
            if above[v] != found:
                above[v] = found
                changed = True
    return above


@kernel
def meet(above, rank, u, v):
    """Return the last node that dominates both u and v, as far as dominators are known."""
    while u != v:
        while rank[u] > rank[v]:
            u = above[u]
        while rank[v] > rank[u]:
            v = above[v]
    return u
