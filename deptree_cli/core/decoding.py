"""Best trees of a tree space: the most probable one, and the k most probable."""

from __future__ import annotations

from operator import methodcaller

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.register import NamedFunction, Register
from deptree_cli.core.shifted import is_large


def maximum_tree(distribution: ArcFactored) -> Heads:
    """The most probable tree, (n,) heads."""
    space = distribution.space
    if not is_large(distribution.log_scores):
        return space.maximum_tree(distribution.log_scores)[0]
    high, low, _ = distribution.factorisation.shifted
    tree = space.maximum_tree(high)[0]
    return space.maximum_tree_of_pairs(high, low)[0] if _uses_masks(tree[None], high) else tree


def best_trees(distribution: ArcFactored, size: int) -> Heads:
    """The `size` most probable trees, (k, n), k <= size, the best first."""
    space, size = distribution.space, distribution.room_for(size)
    if not is_large(distribution.log_scores):
        return space.best_trees(distribution.log_scores, size)
    from deptree_cli.core.spaces import lawler  # loads kernels: when there is work

    high, low, _ = distribution.factorisation.shifted
    trees = space.best_trees(high, size)
    if not _uses_masks(trees, high):
        return trees
    return lawler.best_trees_by_search(space.maximum_tree_of_pairs, high, low, size)


def _uses_masks(trees: Heads, scores: Float) -> bool:
    """Whether one of some trees has a shifted score that float64 does not tell from the next."""
    return is_large(scores[trees, np.arange(1, trees.shape[1] + 1)])


# Ways to one tree of a `TreeDistribution` or `SecondOrder`, (n,) heads.
METHODS = Register(
    "decoding method",
    (
        NamedFunction("mst", methodcaller("argmax"), "the most probable tree"),
        NamedFunction("mbr", methodcaller("mbr"), "the one with the highest expected attachment score"),
    ),
    "deptree.decoding",
)
