"""Best trees of a tree space: of scores, of marginals, and the k best."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

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
    """The `size` most probable trees, (k, n), k <= size, the best first; O(n^3) each.

    Lawler's (1972) partition: the trees of a cell, all but its best one, fall into at most n cells, of each of which
    the best tree is known at once. A heap of cells then gives the trees in order. (Camerini et al. 1980 need O(n^2) a
    tree, but a swap of their arcs may break the single-root constraint; Zmigrod et al. 2021c repair that.)
    """
    return np.array(list(_in_order(distribution, size)), dtype=np.int32).reshape(-1, distribution.n)


def _in_order(distribution: ArcFactored, size: int) -> Iterator[Heads]:
    n, scores, space = distribution.n, distribution.log_scores, distribution.space
    heads, total = space.maximum_tree(scores)
    cells = [(-total, 0, heads, 1, np.zeros(n + 1, dtype=np.bool_))]
    found = 0
    while cells and size > 0:
        _, _, tree, first, banned = heapq.heappop(cells)
        yield tree
        size -= 1
        below, totals = space.maximum_trees_below(scores, tree, first, banned)
        for word in range(first, n + 1):
            if totals[word - 1] > -np.inf:
                found += 1
                others = banned.copy() if word == first else np.zeros(n + 1, dtype=np.bool_)
                others[tree[word - 1]] = True
                heapq.heappush(cells, (-totals[word - 1], found, below[word - 1], word, others))


# Ways to one tree, by name.
METHODS: dict[str, Callable[[ArcFactored], Heads]] = {"mst": maximum_tree, "mbr": minimum_risk_tree}
