"""All trees, crossing arcs or not: sums by elimination, maximum trees by Chu-Liu-Edmonds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, read_only
from deptree_cli.core.spaces.base import ALL, TreeSpace
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.core.spaces.feasibility import check_feasible, supported_arcs


class NonProjective(TreeSpace):
    """Dependency trees (one ROOT arc) or spanning trees (one or more)."""

    kind = ALL

    def check_feasible(self, allowed: Bool) -> None:
        check_feasible(allowed, self)

    def support(self, allowed: Bool) -> Bool:
        """See `TreeSpace`; by reachability."""
        return supported_arcs(allowed, self)

    def factorise(self, log_scores: Float) -> Factorisation:
        """See `TreeSpace`; O(n^3)."""
        from deptree_cli.core.spaces import elimination  # loads kernels: when there is work

        return elimination.factorise(log_scores, self)

    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """See `TreeSpace`; Chu-Liu-Edmonds, with a single root Stanojevic and Cohen 2021. O(n^2)."""
        from deptree_cli.kernels.trees.best_tree import best_tree

        heads = np.empty(len(scores) - 1, dtype=np.int32)
        return heads, best_tree(read_only(scores.view()), self.single_root, heads)  # compiled for these alone

    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """See `TreeSpace`; O(n^3) each."""
        from deptree_cli.core.spaces import lawler

        return lawler.trees_in_order(scores, self)
