"""Trees made projective: arcs are lifted until none crosses another (Nivre and Nilsson 2005)."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

NONE = -1


@kernel(allocates=True)
def projectivise(heads):
    """Make a tree projective in place and return the number of lifts.

    heads: int32 (n,), 0 = ROOT, a tree. The shortest arc that is not projective is lifted to its head's head until
    every arc is projective, that is, until its head is above every word between its ends; of equally short arcs the
    one with the leftmost dependent comes first. O(n) if there is nothing to lift.
    """
    if is_projective(heads):
        return 0
    n = heads.shape[0]
    crossed = np.empty(n, np.bool_)
    for i in range(n):
        crossed[i] = is_crossed(heads, i)
    lifts = 0
    while True:
        lifted = shortest(heads, crossed)
        if lifted == NONE:
            return lifts
        old = heads[lifted]
        heads[lifted] = heads[old - 1]
        lifts += 1
        # Only the old head has lost words, so only its other arcs can be crossed now that were not before.
        for i in range(n):
            if i == lifted or heads[i] == old:
                crossed[i] = is_crossed(heads, i)


@kernel(allocates=True)
def is_projective(heads):
    """Return whether the words below each word of a tree, heads (n,), are a stretch of the sentence; O(n)."""
    n = heads.shape[0]
    waiting = np.zeros(n + 1, np.int64)
    size, first, last = np.ones(n, np.int64), np.arange(n), np.arange(n)
    for i in range(n):
        waiting[heads[i]] += 1
    for start in range(n):
        # From a word without children up, as long as all children of the next have been seen.
        i = start
        while i >= 0 and waiting[i + 1] == 0:
            if last[i] - first[i] + 1 != size[i]:
                return False
            waiting[i + 1] = NONE
            above = heads[i] - 1
            if above >= 0:
                waiting[above + 1] -= 1
                size[above] += size[i]
                first[above] = min(first[above], first[i])
                last[above] = max(last[above], last[i])
            i = above
    return True


@kernel
def is_crossed(heads, i):
    """Return whether some word between word i (from 0) and its head is not below that head."""
    head = heads[i]
    for between in range(min(head, i + 1) + 1, max(head, i + 1)):
        above = between
        while above != 0 and above != head:
            above = heads[above - 1]
        if above != head:
            return True
    return False


@kernel
def shortest(heads, crossed):
    """Return the dependent (from 0) of the shortest arc that is crossed, the leftmost of several, or NONE."""
    found = NONE
    for i in range(heads.shape[0]):
        if crossed[i] and (found == NONE or abs(heads[i] - i - 1) < abs(heads[found] - found - 1)):
            found = i
    return found
