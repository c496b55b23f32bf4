"""The best non-projective trees in order, by Lawler's (1972) partition.

The trees of a cell, all but its best one, fall into at most n cells, of each of which the best tree is known at once. A
heap of cells then gives the trees in order, O(n^3) each. (Camerini et al. 1980 need O(n^2) a tree, but a swap of their
arcs may break the single-root constraint; Zmigrod et al. 2021c repair that.)
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, read_only
from deptree_cli.kernels.trees.best_tree import best_tree, best_trees_below


def best_trees(scores: Float, single_root: bool, size: int) -> Heads:
    """See `TreeSpace`."""
    trees = list(_in_order(read_only(scores.view()), single_root, size))
    return np.array(trees, dtype=np.int32).reshape(-1, len(scores) - 1)


def _in_order(scores: Float, single_root: bool, size: int) -> Iterator[Heads]:
    n = len(scores) - 1
    heads = np.empty(n, dtype=np.int32)
    cells = [(-best_tree(scores, single_root, heads), 0, heads, 1, np.zeros(n + 1, dtype=np.bool_))]
    found = 0
    while cells and size > 0:
        _, _, tree, first, banned = heapq.heappop(cells)
        yield tree
        size -= 1
        below, totals = np.empty((n, n), dtype=np.int32), np.empty(n)
        best_trees_below(scores, single_root, tree, first, banned, below, totals)
        for word in range(first, n + 1):
            if totals[word - 1] > -np.inf:
                found += 1
                others = banned.copy() if word == first else np.zeros(n + 1, dtype=np.bool_)
                others[tree[word - 1]] = True
                heapq.heappush(cells, (-totals[word - 1], found, below[word - 1], word, others))
