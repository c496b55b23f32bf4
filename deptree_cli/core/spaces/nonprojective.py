"""All trees, crossing arcs or not: sums by elimination, maximum trees by Chu-Liu-Edmonds."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Integers, read_only
from deptree_cli.core.spaces.base import Factorisation, TreeSpace
from deptree_cli.core.spaces.crossing import crossing_pairs
from deptree_cli.core.spaces.feasibility import check_feasible, is_feasible, supported_arcs


def are_trees(heads: Integers, single_root: bool = True) -> Bool:
    """Whether each row of heads (k, n), 0 for ROOT, is a tree over the words, with one ROOT arc if `single_root`; (k,).

    Every word climbs 1, 2, 4, ... heads at a time; in a tree all have arrived at ROOT after n.
    """
    k, n = heads.shape
    valid = ((heads >= 0) & (heads <= n)).all(axis=1)
    above = np.zeros((k, n + 1), dtype=np.int64)
    above[:, 1:] = np.where(valid[:, None], heads, 0)
    for _ in range(n.bit_length()):
        above = np.take_along_axis(above, above, axis=1)
    roots = (heads == 0).sum(axis=1)
    return valid & ~above.any(axis=1) & ((roots == 1) if single_root else (roots >= 1))


class NonProjective(TreeSpace):
    """Dependency trees (one ROOT arc) or spanning trees (one or more)."""

    def contains(self, heads: Integers) -> Bool:
        """See `TreeSpace`; O(k n log n)."""
        return are_trees(heads, self.single_root)

    def check_feasible(self, allowed: Bool) -> None:
        """See `TreeSpace`."""
        check_feasible(allowed, self.single_root)

    def support(self, allowed: Bool) -> Bool:
        """See `TreeSpace`; by reachability."""
        return supported_arcs(allowed, self.single_root)

    def goes_beyond(self, other: TreeSpace, allowed: Bool) -> bool:
        """See `TreeSpace`: any two arcs from ROOT are in some spanning tree together."""
        if other.single_root and not self.single_root and int(allowed[0].sum()) > 1:
            return True
        return other.projective and self._some_cross(allowed)

    def _some_cross(self, allowed: Bool) -> bool:
        """Whether some tree of allowed arcs has two that cross; the first pair tried mostly makes one."""
        supported = self.support(allowed)
        for arc, other in crossing_pairs(supported):
            given = supported.copy()
            for head, word in (arc, other):
                given[:, word] = False
                given[head, word] = True
            if is_feasible(given, self.single_root):
                return True
        return False

    def factorise(self, log_scores: Float, rest: Float | None = None) -> Factorisation:
        """See `TreeSpace`; O(n^3)."""
        from deptree_cli.core.spaces import elimination  # loads kernels: when there is work

        return elimination.factorise(log_scores, self.single_root, rest)

    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """See `TreeSpace`; Chu-Liu-Edmonds, with a single root Stanojevic and Cohen 2021. O(n^2)."""
        from deptree_cli.kernels.trees.best_tree import best_tree

        heads = np.empty(len(scores) - 1, dtype=np.int32)
        return heads, best_tree(read_only(scores.view()), self.single_root, heads)  # compiled for these alone

    def maximum_tree_of_pairs(self, high: Float, low: Float) -> tuple[Heads, tuple[float, float]]:
        """See `TreeSpace`; as `maximum_tree`."""
        from deptree_cli.kernels.numbers.paired import Paired
        from deptree_cli.kernels.trees.best_tree import best_tree

        heads = np.empty(len(high) - 1, dtype=np.int32)
        return heads, tuple(best_tree(Paired(high, low), self.single_root, heads))

    def best_trees(self, scores: Float, size: int) -> Heads:
        """See `TreeSpace`; O(n^3) each."""
        from deptree_cli.core.spaces import lawler

        return lawler.best_trees(scores, self.single_root, size)
