"""Projective trees from Eisner's chart: exact samples, and the tree of the largest sum of scores."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.charts.eisner import RIGHT, inside
from deptree_cli.kernels.charts.walker import WIDTH, push, walk
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import is_less, zero


@kernel
def sample_trees(grammar, state, heads):
    """Fill heads (k, n) with independent trees: O(n^2) each at worst, about n log n where arcs are short."""
    n = heads.shape[1]
    todo = np.empty((2 * n + 2, WIDTH), np.int64)
    for t in range(heads.shape[0]):
        walk(grammar, state, todo, push(todo, 0, (RIGHT, 0, n)), heads[t])


@kernel
def best_tree(scores, grammar, heads):
    """Fill heads (n,) with the tree of the largest sum of scores (n+1, n+1), if there is one; return the sum.

    Scores and chart are tropical numbers, the chart zeros of theirs. Of equals the first split wins.
    """
    n, total = heads.shape[0], inside(scores, grammar.single_root, grammar.chart)
    if is_less(zero(grammar.chart), total):
        todo = np.empty((2 * n + 2, WIDTH), np.int64)
        walk(grammar, None, todo, push(todo, 0, (RIGHT, 0, n)), heads)
    return total


@kernel
def are_projective(trees, out):
    """Fill out (k,) with whether no two arcs of a tree (k, n), heads, cross: every word below an arc stays there."""
    n = trees.shape[1]
    for t in range(trees.shape[0]):
        out[t] = True
        for word in range(1, n + 1):
            first, last = min(word, trees[t, word - 1]), max(word, trees[t, word - 1])
            for between in range(first + 1, last):
                if trees[t, between - 1] < first or trees[t, between - 1] > last:
                    out[t] = False
