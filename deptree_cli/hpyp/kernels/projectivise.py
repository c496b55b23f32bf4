"""Trees made projective: arcs are lifted until none crosses another (Nivre and Nilsson 2005)."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.trees.shapes import has_gap

NONE = -1


@kernel(allocates=True)
def projectivise(heads):
    """Make a tree projective in place and return the number of lifts.

    heads: int32 (n,), 0 = ROOT, a tree. The shortest arc with a gap is lifted to its head's head until
    there is none, that is, until every head is above all words under its arcs; of equally short arcs the
    one with the leftmost dependent comes first.
    """
    n = heads.shape[0]
    with_gap = np.empty(n, np.bool_)
    for i in range(n):
        with_gap[i] = has_gap(heads, i)
    lifts = 0
    while True:
        lifted = shortest(heads, with_gap)
        if lifted == NONE:
            return lifts
        old = heads[lifted]
        heads[lifted] = heads[old - 1]
        lifts += 1
        # Only the old head has lost words, so only its other arcs can have a gap now that had none before.
        for i in range(n):
            if i == lifted or heads[i] == old:
                with_gap[i] = has_gap(heads, i)


@kernel
def shortest(heads, with_gap):
    """Return the dependent (from 0) of the shortest arc with a gap, the leftmost of several, or NONE."""
    found = NONE
    for i in range(heads.shape[0]):
        if with_gap[i] and (found == NONE or abs(heads[i] - i - 1) < abs(heads[found] - found - 1)):
            found = i
    return found
