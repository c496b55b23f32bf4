"""The best trees in order, by Lawler's (1972) partition: non-projective ones, and of any space by searches for one.

The trees of a cell, all but its best one, fall into at most n cells, of each of which the best tree is known at once. A
heap of cells then gives the trees in order, O(n^3) each. (Camerini et al. 1980 need O(n^2) a tree, but a swap of their
arcs may break the single-root constraint; Zmigrod et al. 2021c repair that.)
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, read_only
from deptree_cli.core.factorisation import Rules
from deptree_cli.kernels.trees import best_tree, best_trees_below

# A tree, (n,) heads, and its sum of scores.
Best = tuple[Heads, float]


def trees_in_order(scores: Float, space: Rules) -> Iterator[Heads]:
    """See `TreeSpace`."""
    scores, n = read_only(scores.view()), len(scores) - 1
    best = np.empty(n, dtype=np.int32)

    def below(tree: Heads, first: int, banned: Bool) -> Iterator[Best]:
        heads, totals = np.empty((n, n), dtype=np.int32), np.empty(n)
        best_trees_below(scores, space.single_root, tree, first, banned, heads, totals)
        return zip(heads[first - 1 :], totals[first - 1 :].tolist(), strict=True)

    return _in_order((best, best_tree(scores, space.single_root, best)), below)


def trees_by_search(find: Callable[[Float], Best], scores: Float) -> Iterator[Heads]:
    """The same of any space's trees: n searches each.

    find: scores -> their best tree and its sum, as `TreeSpace.maximum_tree`.
    """

    def below(tree: Heads, first: int, banned: Bool) -> Iterator[Best]:
        given = scores.copy()
        given[:, 1:first] = np.where(np.arange(len(scores))[:, None] == tree[: first - 1], scores[:, 1:first], -np.inf)
        given[banned, first] = -np.inf
        for word in range(first, len(scores)):
            own, head = given[:, word].copy(), tree[word - 1]
            given[head, word] = -np.inf
            yield find(given)
            given[:, word] = -np.inf
            given[head, word] = own[head]

    return _in_order(find(scores), below)


def _in_order(best: Best, below: Callable[[Heads, int, Bool], Iterable[Best]]) -> Iterator[Heads]:
    """The best tree, and those behind it; a cell is divided when the tree behind its best one is asked for.

    below: a tree, the first word that may have another head, and heads that this must not have, (n+1,) -> the best
        trees of the parts of its cell, as `best_trees_below` has them; a sum of -inf is not a tree.
    """
    tree, total = best
    n = len(tree)
    cells = [(-total, 0, tree, 1, np.zeros(n + 1, dtype=np.bool_))]
    found = 0
    while cells:
        _, _, tree, first, banned = heapq.heappop(cells)
        yield tree
        for word, (other, total) in enumerate(below(tree, first, banned), first):
            if total > -np.inf:
                found += 1
                others = banned.copy() if word == first else np.zeros(n + 1, dtype=np.bool_)
                others[tree[word - 1]] = True
                heapq.heappush(cells, (-total, found, other, word, others))
