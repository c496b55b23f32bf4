"""Projective trees from the top of a chart down: exact samples, and the tree of the largest sum of scores.

All trees of n words are the item (0, 0, n, 0) of a grammar (`walker.py`).
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.charts.eisner import RIGHT, TABLES, Eisner, inside
from deptree_cli.kernels.charts.walker import WIDTH, push, walk
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import get
from deptree_cli.kernels.numbers.tropical import Tropical


@kernel(allocates=True)
def sample_trees(grammar, state, heads):
    """Fill heads (k, n) with independent trees: O(n^2) each at worst, about n log n where arcs are short."""
    n = heads.shape[1]
    todo = np.empty((2 * n + 2, WIDTH), np.int64)
    for t in range(heads.shape[0]):
        walk(grammar, state, todo, push(todo, 0, (0, 0, n, 0)), heads[t])


@kernel(allocates=True)
def follow_best(grammar, heads):
    """Fill heads (n,) with the best tree, which there is, of a chart of tropical numbers; of equals the first split."""
    n = heads.shape[0]
    todo = np.empty((2 * n + 2, WIDTH), np.int64)
    walk(grammar, None, todo, push(todo, 0, (0, 0, n, 0)), heads)


@kernel(allocates=True)
def best_tree(scores, single_root, heads):
    """Fill heads (n,) with the tree of the largest sum of scores (n+1, n+1), if there is one; return the sum."""
    grammar = best_items(scores, single_root)
    total = get(grammar.chart, (RIGHT, 0, heads.shape[0])).log
    if total > -math.inf:
        follow_best(grammar, heads)
    return total


@kernel(allocates=True)
def best_items(scores, single_root):
    """Return the grammar with the chart of scores (n+1, n+1) as tropical numbers."""
    chart = Tropical(np.full((TABLES, *scores.shape), -np.inf))
    inside(Tropical(scores), single_root, chart)
    return Eisner(single_root, chart)
