"""Which heads are trees, which arcs of a tree cross, and which have a gap: the three questions about a tree's shape.

Heads are (k, n), those of k trees over n words, which stand in a row behind ROOT, node 0.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel


@kernel(allocates=True)
def are_trees(heads):
    """Return whether heads are arborescences, (k,): ROOT is above every word, and there is one. O(n) each."""
    k, n = heads.shape
    found, seen_from = np.empty(k, np.bool_), np.empty(n + 1, np.int64)
    for t in range(k):
        found[t] = n > 0 and is_tree(heads[t], seen_from)
    return found


@kernel
def is_tree(heads, seen_from):
    """Return whether every word of heads (n,) climbs to ROOT; seen_from (n+1,) is room for one mark for each node."""
    n = heads.shape[0]
    for i in range(n):
        if heads[i] < 0 or heads[i] > n:
            return False
    seen_from[:] = 0
    for word in range(1, n + 1):
        node = word
        while node != 0 and seen_from[node] == 0:
            seen_from[node] = word
            node = heads[node - 1]
        if node != 0 and seen_from[node] == word:
            return False
    return True


@kernel(allocates=True)
def crossings(heads):
    """Return for each word the first between the ends of its arc whose own arc crosses that, (k, n).

    If there is none, the first beyond the ends; 0 if no arc crosses. Heads need be no trees, but in range.
    O(sum of the lengths of arcs), and O(n) for each arc that only arcs from beyond cross.
    """
    k, n = heads.shape
    found = np.empty((k, n), np.int64)
    lowest, highest = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    for t in range(k):
        outermost_dependents(heads[t], lowest, highest)
        for i in range(n):
            found[t, i] = first_crossing(heads[t], lowest, highest, i)
    return found


@kernel
def outermost_dependents(heads, lowest, highest):
    """Fill in the first and the last dependent of each node, (n+1,) each; itself if that is farther out."""
    for node in range(lowest.shape[0]):
        lowest[node] = highest[node] = node
    for i in range(heads.shape[0]):
        lowest[heads[i]] = min(lowest[heads[i]], i + 1)
        highest[heads[i]] = max(highest[heads[i]], i + 1)


@kernel
def first_crossing(heads, lowest, highest, i):
    """Return the first word whose arc crosses that of word i (from 0), one between its ends if possible; 0 for none."""
    first, last = min(i + 1, heads[i]), max(i + 1, heads[i])
    some_enter = False
    for node in range(first + 1, last):
        if heads[node - 1] < first or heads[node - 1] > last:
            return node
        some_enter = some_enter or lowest[node] < first or highest[node] > last
    if some_enter:
        for word in range(1, heads.shape[0] + 1):
            if first < heads[word - 1] < last and not first <= word <= last:
                return word
    return 0


@kernel(allocates=True)
def gaps(heads):
    """Return whether each arc of trees has a gap, (k, n): a word between its ends that does not descend from its head.

    A tree is projective if none has (Kuhlmann and Nivre 2006); but of two arcs that cross one may have none.
    """
    found = np.empty(heads.shape, np.bool_)
    for t in range(heads.shape[0]):
        for i in range(heads.shape[1]):
            found[t, i] = has_gap(heads[t], i)
    return found


@kernel
def has_gap(heads, i):
    """Return whether some word between word i (from 0) of a tree and its head does not descend from that head."""
    head = heads[i]
    first, last = min(head, i + 1), max(head, i + 1)
    for between in range(first + 1, last):
        above = heads[between - 1]
        if above < first or above > last:  # ways up from other words lead to the two, or pass such a word
            while above != 0 and above != head:
                above = heads[above - 1]
            if above != head:
                return True
    return False
