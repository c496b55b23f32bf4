"""Of pairs of words, that of which the first does not descend from the second for the fewest reasons.

The reasons are the words on the ways from both up to a node above both; where the way up to ROOT has no more, that is
enough. Heads are (n+1,), those of nodes, ROOT its own. Of a cycle, which no tree has, each word counts once.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

NOWHERE = -1


@kernel
def fill_line(heads, node, places):
    """Fill places (n+1,) with how many arcs each node is above a node, `NOWHERE` if it is not; return that of ROOT."""
    places[:] = NOWHERE
    steps = 0
    while node != 0 and places[node] == NOWHERE:
        places[node] = steps
        steps += 1
        node = heads[node]
    places[0] = steps
    return steps


@kernel
def reasons(heads, word, other, own, beside):
    """Return how many arcs keep a word from descending from another, 0 if it does; and the node where their ways meet.

    beside: the other's line; own (n+1,) becomes the word's.
    """
    depth = fill_line(heads, word, own)
    if own[other] != NOWHERE:
        return 0, 0
    top = word
    for _ in range(depth):
        if beside[top] == NOWHERE:
            top = heads[top]
    if beside[top] == NOWHERE:  # in a cycle
        top = 0
    both = own[top] + beside[top]
    if depth <= both:
        return depth, 0
    return both, top


@kernel
def fill_way(heads, node, steps, path, start):
    """Fill in path the first words of the way up from a node, from `start` on; return where they end."""
    for step in range(steps):
        path[start + step] = node
        node = heads[node]
    return start + steps


@kernel
def fill_ways(heads, word, other, top, own, beside, path):
    """Fill path with the words from one up to a node, and from the other unless that is ROOT; return both ends."""
    fill_line(heads, word, own)
    lower = fill_way(heads, word, own[top], path, 0)
    if top == 0:
        return lower, lower
    fill_line(heads, other, beside)
    return lower, fill_way(heads, other, beside[top], path, lower)


@kernel(allocates=True)
def apart_in_gap(heads, word, path):
    """Return a word in the gap of a word's arc, 0 if there is none; where the ways of it and of the head meet; and
    where in path (2n+2,) these end.

    Words are looked at whose arcs leave the gap, and the first above the head that is in it.
    """
    head = heads[word]
    first, last = min(word, head), max(word, head)
    own, beside = np.empty(heads.shape[0], np.int64), np.empty(heads.shape[0], np.int64)
    fill_line(heads, head, beside)
    fewest, found, meeting = 0, 0, 0
    for each in range(first + 1, last):
        if head != 0 and (heads[each] < first or heads[each] > last):
            count, top = reasons(heads, each, head, own, beside)
            if count > 0 and (found == 0 or count < fewest):
                fewest, found, meeting = count, each, top
    above, steps = head, 0
    while above != 0 and steps <= heads.shape[0] and not first < above < last:
        above = heads[above]
        steps += 1
    if first < above < last:
        count, top = reasons(heads, above, head, own, beside)
        if count > 0 and (found == 0 or count < fewest):
            fewest, found, meeting = count, above, top
    lower, upper = fill_ways(heads, found, head, meeting, own, beside, path)
    return found, meeting, lower, upper


@kernel(allocates=True)
def apart_under(heads, word, path):
    """Return the head of an arc over a word that passes over it, to beyond its own head, and from which the word does
    not descend, 0 if there is none; the arc's other end; where the ways meet; and where in path (2n+2,) these end.
    """
    head = heads[word]
    own, beside = np.empty(heads.shape[0], np.int64), np.empty(heads.shape[0], np.int64)
    fewest, found, end, meeting = 0, 0, 0, 0
    for each in range(1, heads.shape[0]):
        above = heads[each]
        first, last = min(each, above), max(each, above)
        if above == 0 or not first < word < last or (first <= head if head < word else last >= head):
            continue
        if above == found:
            end = each
            continue
        fill_line(heads, above, beside)
        count, top = reasons(heads, word, above, own, beside)
        if count > 0 and (found == 0 or count < fewest):
            fewest, found, end, meeting = count, above, each, top
    lower, upper = fill_ways(heads, word, found, meeting, own, beside, path)
    return found, end, meeting, lower, upper
