"""Best trees: of the scores, of the marginals, and the k best."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.sentence import Sentence
from deptree_cli.kernels.best_tree import best_tree, best_trees_below

Float = NDArray[np.float64]
Heads = NDArray[np.int32]


def maximum_tree(sentence: Sentence) -> Heads:
    """The most probable tree, (n,) heads: Chu-Liu-Edmonds; with a single root Stanojevic and Cohen 2021. O(n^2)."""
    return _best(sentence.log_scores, sentence.single_root)[0]


def minimum_risk_tree(sentence: Sentence) -> Heads:
    """The tree of the largest expected number of right heads: the maximum tree of the marginals. O(n^3)."""
    marginals = sentence.elimination.marginals()
    return _best(np.where(np.isfinite(sentence.log_scores), marginals, -np.inf), sentence.single_root)[0]


def best_trees(sentence: Sentence, size: int) -> Heads:
    """The `size` most probable trees, (k, n), k <= size, the best first; O(n^3) each.

    Lawler's (1972) partition: the trees of a cell, all but its best one, fall into at most n cells, of each of which
    the best tree is known at once. A heap of cells then gives the trees in order. (Camerini et al. 1980 need O(n^2) a
    tree, but a swap of their arcs may break the single-root constraint; Zmigrod et al. 2021c repair that.)
    """
    return np.array(list(_in_order(sentence, size)), dtype=np.int32).reshape(-1, sentence.n)


def _in_order(sentence: Sentence, size: int) -> Iterator[Heads]:
    n, scores = sentence.n, sentence.log_scores
    heads, total = _best(scores, sentence.single_root)
    cells = [(-total, 0, heads, 1, np.zeros(n + 1, dtype=np.bool_))]
    made = 0
    while cells and size > 0:
        _, _, tree, first, banned = heapq.heappop(cells)
        yield tree
        size -= 1
        below, totals = np.empty((n, n), dtype=np.int32), np.empty(n)
        best_trees_below(scores, sentence.single_root, tree, first, banned, below, totals)
        for word in range(first, n + 1):
            if totals[word - 1] > -np.inf:
                made += 1
                others = banned.copy() if word == first else np.zeros(n + 1, dtype=np.bool_)
                others[tree[word - 1]] = True
                heapq.heappush(cells, (-totals[word - 1], made, below[word - 1], word, others))


def _best(scores: Float, single_root: bool) -> tuple[Heads, float]:
    heads = np.empty(len(scores) - 1, dtype=np.int32)
    return heads, best_tree(scores, single_root, heads)


# Ways to one tree, by name.
METHODS: dict[str, Callable[[Sentence], Heads]] = {"mst": maximum_tree, "mbr": minimum_risk_tree}
