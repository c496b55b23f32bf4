"""What a tree space asks of its trees: how many arcs leave ROOT, whether arcs may cross, and which arcs there may be.

These are conditions on single arcs and on pairs of arcs, so that a space is data, and membership is decided here alone.
Two arcs cross if, above words in a row and ROOT before the first, one begins below the other and ends outside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Int, Integers
from deptree_cli.kernels.budget import foresee

Arc = tuple[int, int]  # head, dependent


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The conditions of a tree space.

    Attributes:
        single_root: exactly one arc leaves ROOT; otherwise one or more.
        projective: no two arcs cross, where the words stand in a row behind ROOT.
    """

    single_root: bool
    projective: bool = False

    def allows(self, heads: Any, words: Any) -> Any:
        """Whether arcs may be in its trees at all, whatever they weigh: nodes and words, arrays or tensors."""
        return (heads >= 0) | (words > 0)

    def contains(self, heads: Integers) -> Bool:
        """Whether each row of heads (k, n) of integers is a tree of this space, (k,); O(k n), or k n^2."""
        found = are_trees(heads) & self.allows(heads, np.arange(1, heads.shape[1] + 1)).all(axis=1)
        if self.single_root:
            found &= (heads == 0).sum(axis=1) == 1
        if self.projective:
            found[found] = ~crossings(heads[found]).any(axis=1)
        return found

    def compatible_arcs(self, pinned: Bool) -> Bool:
        """Return which arcs may be in a tree that has all pinned ones, (..., n+1, n+1), ``[head, dependent]``.

        Not: the other heads of a pinned arc's dependent, and its opposite; under the single-root constraint ROOT's
        other arcs if one is pinned; arcs that a pinned one crosses, if trees are projective; arcs that no tree has.
        """
        heads, words = np.ix_(*map(np.arange, pinned.shape[-2:]))
        found: Bool = self.allows(heads, words) & ~(np.swapaxes(pinned, -1, -2) | _others(pinned, axis=-2))
        if self.single_root:
            found[..., 0, :] &= ~_others(pinned[..., 0, :], axis=-1)
        if self.projective:
            from deptree_cli.kernels.charts.crossing import prune_crossing

            for place in np.ndindex(pinned.shape[:-2]):
                prune_crossing(*reach_of(pinned[place]), found[place])
        return found


def are_trees(heads: Integers) -> Bool:
    """Whether each row of heads (k, n), 0 for ROOT, is a tree over the words, with one ROOT arc or more, (k,)."""
    from deptree_cli.kernels.trees import shapes  # loads kernels: if there is work

    found: Bool = shapes.are_trees(np.array(heads, dtype=np.int64, order="C"))
    return found


def crossings(heads: Integers) -> Int:
    """The first word whose arc crosses each word's, (k, n); 0 where none does. Those between the arc's ends are first.

    heads: (k, n), which need be no trees.
    """
    from deptree_cli.kernels.trees import shapes

    foresee(float(np.abs(heads - np.arange(1, heads.shape[1] + 1)).sum()))
    found: Int = shapes.crossings(np.array(heads, dtype=np.int64, order="C"))
    return found


def reach_of(pinned: Bool) -> tuple[Int, Int]:
    """Return the outermost nodes that every node is linked with by pinned arcs, or is itself, (n+1,) each."""
    from deptree_cli.kernels.charts.crossing import reach

    first, last = np.empty(len(pinned), dtype=np.int64), np.empty(len(pinned), dtype=np.int64)
    reach(pinned, first, last)
    return first, last


def _others(pinned: Bool, axis: int) -> Bool:
    """Return where another one along an axis is pinned."""
    return pinned.sum(axis=axis, keepdims=True) > pinned


def crossing_pairs(arcs: Bool) -> Iterator[tuple[Arc, Arc]]:
    """The pairs of arcs (n+1, n+1), ``[head, dependent]``, that cross, the one that begins first before the other."""
    heads, words = np.nonzero(arcs)
    first, last = np.minimum(heads, words), np.maximum(heads, words)
    named = list(zip(heads.tolist(), words.tolist(), strict=True))
    for i, arc in enumerate(named):
        crossing = (first[i] < first) & (first < last[i]) & (last[i] < last)
        yield from ((arc, named[other]) for other in np.flatnonzero(crossing).tolist())
