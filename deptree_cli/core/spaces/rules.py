"""What a tree space asks of its trees: how many arcs leave ROOT, whether arcs may cross, and which arcs there may be.

These are conditions on single arcs and on pairs of arcs, so that a space is data, and membership is decided here alone.
Two arcs cross if, above words in a row and ROOT before the first, one begins below the other and ends outside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, Integers

Arc = tuple[int, int]  # head, dependent


class Rules:
    """The conditions of a tree space.

    Attributes:
        single_root: exactly one arc leaves ROOT; otherwise one or more.
        projective: no two arcs cross, where the words stand in a row behind ROOT.
    """

    single_root: bool
    projective: bool

    def allows(self, heads: Any, words: Any) -> Any:
        """Whether arcs may be in its trees at all, whatever they weigh: nodes and words, arrays or tensors."""
        return (heads >= 0) | (words > 0)

    def contains(self, heads: Integers) -> Bool:
        """Whether each row of heads (k, n) of integers is a tree of this space, (k,); O(k n log n), or k n^2."""
        found = are_trees(heads, self.single_root) & self.allows(heads, np.arange(1, heads.shape[1] + 1)).all(axis=1)
        if self.projective:
            from deptree_cli.kernels.charts.projective_trees import are_projective  # loads kernels: if there is work

            without_crossing = np.empty(int(found.sum()), dtype=np.bool_)
            are_projective(np.ascontiguousarray(heads[found], dtype=np.int32), without_crossing)
            found[found] = without_crossing
        return found

    def compatible_arcs(self, pinned: Bool) -> Bool:
        """Return which arcs may be in a tree that has all pinned ones, (n+1, n+1), ``[head, dependent]``.

        Not: the other heads of a pinned arc's dependent, and its opposite; under the single-root constraint ROOT's
        other arcs if one is pinned; arcs that a pinned one crosses, if trees are projective; arcs that no tree has.
        """
        found: Bool = self.allows(*np.indices(pinned.shape)) & ~(pinned.T | _others(pinned, axis=0))
        if self.single_root:
            found[0] &= ~_others(pinned[0], axis=0)
        if self.projective:
            from deptree_cli.kernels.charts.crossing import prune_crossing

            prune_crossing(*reach_of(pinned), found)
        return found


def are_trees(heads: Integers, single_root: bool = True) -> Bool:
    """Whether each row of heads (k, n), 0 for ROOT, is a tree over the words, with one ROOT arc if `single_root`; (k,).

    Every word climbs 1, 2, 4, ... heads at a time; in a tree all have arrived at ROOT after n.
    """
    k, n = heads.shape
    valid = ((heads >= 0) & (heads <= n)).all(axis=1)
    above = np.zeros((k, n + 1), dtype=np.int64)
    above[:, 1:] = np.where(valid[:, None], heads, 0)
    for _ in range(n.bit_length()):
        above = np.take_along_axis(above, above, axis=1)
    roots = (heads == 0).sum(axis=1)
    return valid & ~above.any(axis=1) & ((roots == 1) if single_root else (roots >= 1))


def reach_of(pinned: Bool) -> tuple[Int, Int]:
    """Return the outermost nodes that every node is linked with by pinned arcs, or is itself, (n+1,) each."""
    from deptree_cli.kernels.charts.crossing import reach

    first, last = np.empty(len(pinned), dtype=np.int64), np.empty(len(pinned), dtype=np.int64)
    reach(pinned, first, last)
    return first, last


def _others(pinned: Bool, axis: int) -> Bool:
    """Return where another one along an axis is pinned."""
    return pinned.sum(axis=axis, keepdims=True) > pinned


def crossed_by(head: int, word: int, nodes: int) -> Bool:
    """The arcs that cross an arc, (nodes, nodes), ``[head, dependent]``."""
    first, last = sorted((head, word))
    inside = np.zeros(nodes, dtype=np.bool_)
    inside[first + 1 : last] = True
    outside = ~inside
    outside[[first, last]] = False
    return np.outer(inside, outside) | np.outer(outside, inside)


def crossing_pairs(arcs: Bool) -> Iterator[tuple[Arc, Arc]]:
    """The pairs of arcs (n+1, n+1), ``[head, dependent]``, that cross each other, each pair once."""
    for head, word in np.argwhere(arcs).tolist():
        first = min(head, word)
        crossing = arcs & crossed_by(head, word, len(arcs))
        crossing[:first] = crossing[:, :first] = False  # those that begin before this one name the pair
        for other in np.argwhere(crossing).tolist():
            yield (head, word), (other[0], other[1])
