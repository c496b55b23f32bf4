"""What pinned arcs leave of the arcs of a sentence, and of the items of the second-order chart.

A pinned arc is a selected positive one: every tree that is left contains it.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Bool
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.core.spaces.rules import reach_of
from deptree_cli.core.spaces.second_order import possible_heads
from deptree_cli.kernels.trees.second_order import Kept
from deptree_cli.kernels.trees.second_order_masks import keep_items


def kept_arcs(pinned: Bool, forbidden: Bool, space: TreeSpace) -> Bool:
    """Return which arcs are kept, (n+1, n+1), ``[head, dependent]``.

    Pruned are forbidden arcs, and those that no tree of the space has together with the pinned ones. Nothing is kept
    where an arc into ROOT is pinned, for no tree has one.

    Args:
        pinned, forbidden: (n+1, n+1), the selected arcs that are positive, and that are negative.
    """
    if pinned[:, 0].any():
        return np.zeros_like(pinned)
    kept: Bool = ~forbidden & space.compatible_arcs(pinned)
    return kept


def kept_items(pinned: Bool, arcs: Bool, by_grandparent: bool) -> Kept:
    """Return which items of a second-order chart are kept.

    Args:
        pinned: (n+1, n+1), the selected arcs that are positive.
        arcs: (n+1, n+1), what `kept_arcs` leaves.
        by_grandparent: whether the items have grandparents.
    """
    complete, pair = np.ones_like(arcs), np.ones_like(arcs)
    heads = possible_heads(arcs, by_grandparent=True)
    kept = Kept(complete, arcs, pair, heads if by_grandparent else possible_heads(arcs, by_grandparent))
    keep_items(pinned, *reach_of(pinned), heads, kept)
    return kept
