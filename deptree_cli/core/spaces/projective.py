"""Trees without crossing arcs: sums, samples and maximum trees by Eisner's chart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, read_only
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces.base import WITHOUT_CROSSING, TreeSpace
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.core.spaces.feasibility import all_allowed, check_feasible, supported_arcs
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.rules import Arc, crossing_pairs


class Projective(TreeSpace):
    """Dependency trees (one ROOT arc) or spanning trees (one or more) in which no two arcs cross, ROOT's included.

    So every word governs a stretch of the sentence. ROOT stands before the first word.
    """

    kind = WITHOUT_CROSSING

    def check_feasible(self, allowed: Bool) -> None:
        """See `TreeSpace`; O(n^3) where arcs are missing."""
        check_feasible(allowed, self)
        if all_allowed(allowed):
            return
        from deptree_cli.core.spaces.eisner import has_tree  # loads kernels: only where arcs are missing

        if has_tree(allowed, self):
            return
        supported = supported_arcs(allowed, self)
        certain = supported & (supported.sum(axis=0) == 1)
        remedy = "Allow more arcs, or leave out `projective=True`"
        for (head, word), (other, below) in crossing_pairs(certain):
            raise DeptreeError(
                f"no projective tree is possible: the arcs {head} -> {word} and {other} -> {below} cross, and words "
                f"{min(word, below)} and {max(word, below)} have no other head",
                remedy,
            )
        kind = "single-root tree" if self.single_root else "tree"
        first, second = self._crossing_in_a_tree(allowed, certain)
        raise DeptreeError(
            f"no projective {kind} is possible: in every {kind} of arcs with a finite score some cross, such as "
            f"{first[0]} -> {first[1]} and {second[0]} -> {second[1]}",
            remedy,
        )

    def _crossing_in_a_tree(self, allowed: Bool, certain: Bool) -> tuple[Arc, Arc]:
        """Two arcs that cross in some tree, which has such; if possible one that is in every tree."""
        heads, _ = NonProjective("", "", single_root=self.single_root).maximum_tree(np.where(allowed, 0.0, -np.inf))
        tree = np.zeros_like(allowed)
        tree[heads, np.arange(1, len(allowed))] = True
        return max(crossing_pairs(tree), key=lambda pair: sum(certain[arc] for arc in pair))

    def support(self, allowed: Bool) -> Bool:
        """See `TreeSpace`; O(n^3)."""
        if all_allowed(allowed):
            return allowed.copy()
        from deptree_cli.core.spaces.eisner import possible_arcs

        return possible_arcs(allowed, self)

    def factorise(self, log_scores: Float) -> Factorisation:
        """See `TreeSpace`; O(n^3)."""
        from deptree_cli.core.spaces import eisner  # loads kernels: when there is work

        return eisner.factorise(log_scores, self)

    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """See `TreeSpace`; Eisner 1996. O(n^3)."""
        from deptree_cli.kernels.charts.projective_trees import best_tree

        heads = np.zeros(len(scores) - 1, dtype=np.int32)
        scores = read_only(np.ascontiguousarray(scores).view())  # compiled for these alone
        return heads, best_tree(scores, self.single_root, heads)

    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """See `TreeSpace`; the best 16, then four times as many as before, anew."""
        size, known = 16, 0
        while True:
            trees = self.best_trees(scores, size)
            yield from trees[known:]
            if len(trees) < size:
                return
            known, size = size, 4 * size

    def best_trees(self, scores: Float, size: int) -> Heads:
        """See `TreeSpace`; Huang and Chiang 2005, lazily: O(n^3 + k n log k)."""
        from deptree_cli.kernels.charts.best_projective_trees import best_projective_trees

        scores = read_only(np.ascontiguousarray(scores).view())
        heads: Heads = best_projective_trees(scores, self.single_root, size)
        return heads.copy()  # without the room for more
