"""Best trees of a tree space: of scores, of marginals, and the k best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Heads


def maximum_tree(distribution: ArcFactored) -> Heads:
    """The most probable tree, (n,) heads."""
    return distribution.space.maximum_tree(distribution.log_scores)[0]


def minimum_risk_tree(distribution: ArcFactored) -> Heads:
    """The tree with the highest expected attachment score, (n,): the maximum tree of the marginals."""
    possible = np.isfinite(distribution.log_scores)
    return distribution.space.maximum_tree(np.where(possible, distribution.marginals(), -np.inf))[0]


def best_trees(distribution: ArcFactored, size: int) -> Heads:
    """The `size` most probable trees, (k, n), k <= size, the best first."""
    return distribution.space.best_trees(distribution.log_scores, distribution.room_for(size))


# Ways to one tree, by name.
METHODS: dict[str, Callable[[ArcFactored], Heads]] = {"mst": maximum_tree, "mbr": minimum_risk_tree}
