"""The tree of the largest sum of scores: Chu-Liu-Edmonds in Tarjan's manner on a dense matrix, O(n^2).

Every word takes its best head. A cycle of such choices is contracted into one node, whose arcs from outside are scored
by what they gain over the cycle's own arc into the same word, and the search goes on. In the end the cycles are opened
again where an arc enters them.

Under the single-root constraint every optimum must use as few ROOT arcs as possible; Stanojevic and Cohen 2021 subtract
a large constant from the scores of ROOT arcs. Here a node takes ROOT only if it has no other head left. That amounts to
the same, as a cycle never contains ROOT, so that all arcs from one head into a node contain the constant equally often;
and there is no constant beside which scores are rounded.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.flags import kernel

NONE = -1


@kernel(allocates=True)
def best_tree(scores, single_root, heads):
    """Fill heads (n,) with a tree of the largest sum of scores (n+1, n+1), ``[head, dependent]``; return that sum.

    A score of -inf forbids an arc. Returns -inf if there is no tree (or none with a single root, if that is required).
    """
    nodes = scores.shape[0]
    # By slot, which holds a node or what was contracted into it: the best arc from slot h into slot d, its gain over
    # the arc that it replaces (-inf if h is no longer in use) and its ends.
    gain = scores.copy()
    for h in range(nodes):
        gain[0, h] = -math.inf
    ends = np.empty((nodes, nodes), np.int32)  # head * nodes + word
    for d in range(1, nodes):
        for h in range(nodes):
            ends[d, h] = h * nodes + d
        for h in range(nodes):
            gain[d, h] = scores[h, d] if h != d else -math.inf
    # By name, nodes first, then cycles in the order of contraction: the cycle that it became part of, and the arc into
    # it.
    within = np.full(2 * nodes, NONE, np.int64)
    arcs = np.empty(2 * nodes, np.int32)
    name = np.arange(nodes)  # of what is in a slot
    names = nodes
    live = np.ones(nodes, np.bool_)
    done = np.zeros(nodes, np.bool_)  # whether a slot's path to ROOT is settled
    done[0] = True
    place = np.full(nodes, NONE, np.int64)  # of a slot on the path, which leads from dependent to head
    path = np.empty(nodes, np.int64)
    chosen = np.empty(nodes, np.int64)
    for start in range(1, nodes):
        if not live[start] or done[start]:
            continue
        steps = 0
        slot = start
        while not done[slot]:
            if place[slot] == NONE:
                path[steps] = slot
                place[slot] = steps
                steps += 1
            else:
                first = place[slot]
                contract(path[first:steps], chosen, gain, ends, live)
                for cycled in path[first:steps]:
                    within[name[cycled]] = names
                name[slot] = names
                names += 1
                steps = first + 1
            head = best_head(gain[slot], 1 if single_root else 0)
            if head == NONE:
                return -math.inf
            arcs[name[slot]] = ends[slot, head]
            chosen[slot] = head
            slot = head
        for settled in path[:steps]:
            done[settled] = True
    open_cycles(names, within, arcs, nodes)
    return total_of(scores, single_root, arcs, heads)


@kernel
def best_head(gain, first):
    """Return the slot from `first` on whose arc gains most; if there is none, ROOT's slot 0, or NONE."""
    best, most = NONE, -math.inf
    for h in range(first, gain.shape[0]):
        if gain[h] > most:
            best, most = h, gain[h]
    return 0 if best == NONE and gain[0] > -math.inf else best


@kernel
def contract(cycle, chosen, gain, ends, live):
    """Contract a cycle of slots into one node, in its first slot; arcs into it replace the cycle's arc into their word.

    cycle: the slots; chosen: the head of each slot; gain, ends, live: as in `best_tree`, updated in place.
    """
    rep = cycle[0]
    for member in cycle:
        live[member] = False
    for other in range(gain.shape[0]):
        if live[other]:
            into, most = rep, -math.inf
            out = rep
            for member in cycle:
                x = gain[member, other] - gain[member, chosen[member]]
                if x > most:
                    into, most = member, x
                if gain[other, member] > gain[other, out]:
                    out = member
            gain[rep, other] = most
            ends[rep, other] = ends[into, other]
            best, end = gain[other, out], ends[other, out]
            for member in cycle:
                gain[other, member] = -math.inf
            gain[other, rep] = best
            ends[other, rep] = end
    for member in cycle:
        gain[rep, member] = -math.inf
    live[rep] = True


@kernel
def open_cycles(names, within, arcs, nodes):
    """Give the arc into each cycle to the member that it enters, in place of its own; the outermost cycle first."""
    for cycle in range(names - 1, nodes - 1, -1):
        member = arcs[cycle] % nodes
        while within[member] != cycle:
            member = within[member]
        arcs[member] = arcs[cycle]


@kernel
def total_of(scores, single_root, arcs, heads):
    """Fill heads (n,) from the words' arcs; return the tree's score, -inf if it has too many roots."""
    total, nodes = 0.0, scores.shape[0]
    root_arcs = 0
    for word in range(1, nodes):
        head = arcs[word] // nodes
        heads[word - 1] = head
        total += scores[head, word]
        root_arcs += head == 0
    return -math.inf if single_root and root_arcs > 1 else total


@kernel(allocates=True)
def best_trees_below(scores, single_root, tree, first, banned, heads, totals):
    """Fill heads (n, n) and totals (n,) with the best tree of each part of a cell, and its score; -inf for no tree.

    The parts are Lawler's (1972) partition of all trees of the cell except `tree` (n,), its best. The cell: trees that
    agree with `tree` on the words before `first`, and whose word `first` has none of the heads at which banned (n+1,)
    is true. Part i, in row i - 1, for i = first..n: those that agree with `tree` on the words before i and differ from
    it on word i.
    """
    n = tree.shape[0]
    given = scores.copy()
    for word in range(1, first):
        fix(given, word, tree[word - 1])
    for h in range(n + 1):
        if banned[h]:
            given[h, first] = -math.inf
    for word in range(first, n + 1):
        own = given[tree[word - 1], word]
        given[tree[word - 1], word] = -math.inf
        totals[word - 1] = best_tree(given, single_root, heads[word - 1])
        given[tree[word - 1], word] = own
        fix(given, word, tree[word - 1])


@kernel
def fix(scores, word, head):
    """Forbid all heads of a word but `head`, in place."""
    for h in range(scores.shape[0]):
        if h != head:
            scores[h, word] = -math.inf
