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
    """Fill places (n+1,) with how many arcs each node is above a node, `NOWHERE` if it is not; return its way's end.

    That is ROOT, whose place is the number of words on the way; or of a cycle the word that it comes to first.
    """
    places[:] = NOWHERE
    steps = 0
    while node != 0 and places[node] == NOWHERE:
        places[node] = steps
        steps += 1
        node = heads[node]
    places[0] = steps
    return node


@kernel
def reasons_of_word(heads, word, beside, end, own, most):
    """Return how many words on the ways from a word, and from another one, keep the first from descending from that.

    And the node where the ways meet. Both numbers are 0 if it descends; a sum of `most` may be any that is not less.

    beside, end: the other's line; own: room, (n+1,), for the word from which each was last reached.
    """
    steps, top = 0, word
    while beside[top] == NOWHERE and own[top] != word and steps < most:
        own[top] = word
        steps += 1
        top = heads[top]
    if top == 0 or beside[top] == NOWHERE:  # or in a cycle, or too many
        return steps, 0, 0
    if beside[top] == 0 or beside[end] == 0:
        return 0, 0, 0
    depth = steps + beside[0] - min(beside[top], beside[end])
    if depth <= steps + beside[top]:
        return depth, 0, 0
    return steps, beside[top], top


@kernel
def reasons_of_other(heads, other, own, end, most):
    """Return the same for a word with the line own, which ends in `end`, and another one."""
    steps, top = 0, other
    while own[top] == NOWHERE and steps < min(most, own[0]):
        steps += 1
        top = heads[top]
    if steps == 0:
        return 0, 0, 0
    if top != 0 and own[top] > own[end]:  # both end in a cycle: from there on to where the word comes to it
        steps, top = steps + own[0] - own[top], end
    if own[top] == NOWHERE or own[0] <= own[top] + steps:
        return min(most, own[0]), 0, 0
    return own[top], steps, top


@kernel
def fill_way(heads, node, steps, path, start):
    """Fill in path the first words of the way up from a node, from `start` on; return where they end."""
    for step in range(steps):
        path[start + step] = node
        node = heads[node]
    return start + steps


@kernel(allocates=True)
def apart_in_gap(heads, word, path):
    """Return a word in the gap of a word's arc, 0 if there is none; where the ways of it and of the head meet; and
    where in path (2n+2,) these end.

    Words are looked at whose arcs leave the gap, and the first above the head that is in it.
    """
    head = heads[word]
    first, last = min(word, head), max(word, head)
    own, beside = np.zeros(heads.shape[0], np.int64), np.empty(heads.shape[0], np.int64)
    end = fill_line(heads, head, beside)
    fewest, best = np.int64(heads.shape[0]), (0, 0, 0, 0)
    above, steps = head, 0
    while above != 0 and steps <= heads.shape[0] and not first < above < last:
        above = heads[above]
        steps += 1
    for place in range(first + 1, last + 1):
        each = place if place < last else above
        if head != 0 and first < each < last and (place == last or heads[each] < first or heads[each] > last):
            lower, upper, top = reasons_of_word(heads, each, beside, end, own, fewest)
            if 0 < lower + upper < fewest:
                fewest, best = lower + upper, (each, lower, upper, top)
    found, lower, upper, meeting = best
    lower = fill_way(heads, found, lower, path, 0)
    return found, meeting, lower, fill_way(heads, head, upper, path, lower)


@kernel(allocates=True)
def apart_under(heads, word, path):
    """Return the head of an arc over a word that passes over it, to beyond its own head, and from which the word does
    not descend, 0 if there is none; the arc's other end; where the ways meet; and where in path (2n+2,) these end.
    """
    head = heads[word]
    own = np.empty(heads.shape[0], np.int64)
    end = fill_line(heads, word, own)
    fewest, best, far = np.int64(heads.shape[0]), (0, 0, 0, 0), 0
    for each in range(1, heads.shape[0]):
        above = heads[each]
        first, last = min(each, above), max(each, above)
        if above == 0 or not first < word < last or (first <= head if head < word else last >= head):
            continue
        if above == best[0]:
            far = each
            continue
        lower, upper, top = reasons_of_other(heads, above, own, end, fewest)
        if 0 < lower + upper < fewest:
            fewest, best, far = lower + upper, (above, lower, upper, top), each
    found, lower, upper, meeting = best
    lower = fill_way(heads, word, lower, path, 0)
    return found, far, meeting, lower, fill_way(heads, found, upper, path, lower)
