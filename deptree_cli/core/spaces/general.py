"""The general routes: a tree space that has a sum over its trees and a best one, and answers all else by these two.

Heads are fixed or forbidden, and the same two questions asked again: exact, and a factor of n^2 or more slower than a
space with an algorithm of its own for each question.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.shifted import shift
from deptree_cli.core.spaces.base import TreeSpace, with_heads
from deptree_cli.core.spaces.factorisation import Factorisation


class GeneralSpace(TreeSpace):
    """A tree space to be added in one file: subclass it, and say `allows`, `log_partition` and `maximum_tree`.

    Arcs that it does not allow count for nothing in either, whatever they score.
    """

    @abstractmethod
    def log_partition(self, log_scores: Float) -> float:
        """The logarithm of the sum of all trees' weights, log-scores (n+1, n+1); -inf where there is no tree."""

    def check_feasible(self, allowed: Bool) -> None:
        """See `TreeSpace`; one search for a best tree."""
        if self._some_tree(allowed)[1] == -np.inf:
            raise DeptreeError(f"no tree is possible: of {self.trees} all have a forbidden arc", "Allow more arcs")

    def support(self, allowed: Bool) -> Bool:
        """See `TreeSpace`; a search for a best tree for each arc that was in none before."""
        found = np.zeros_like(allowed)
        for head, word in np.argwhere(allowed & self.allows(*np.indices(allowed.shape))).tolist():
            if not found[head, word]:
                tree, total = self._some_tree(with_heads(allowed, [(head, word)]))
                found[tree, np.arange(1, len(allowed))] |= total > -np.inf
        return found

    def _some_tree(self, allowed: Bool) -> tuple[Heads, float]:
        return self.maximum_tree(np.where(allowed, 0.0, -np.inf))

    def factorise(self, log_scores: Float, rest: Float | None = None) -> Factorisation:
        """See `TreeSpace`."""
        from deptree_cli.core.spaces.conditioned import Conditioned  # loads kernels: when there is work

        shifted = shift(log_scores, self.single_root, rest)
        log_z = self.log_partition(shifted.high)
        if log_z == -np.inf:
            raise DeptreeError("no tree has a positive weight", "Allow more arcs")
        return Conditioned(self.single_root, shifted, (log_z, 0.0), self.log_partition)

    def best_trees(self, scores: Float, size: int) -> Heads:
        """See `TreeSpace`; n searches for a best tree each."""
        from deptree_cli.core.spaces import lawler

        def best(high: Float, _: Float) -> lawler.Best:
            tree, total = self.maximum_tree(high)
            return tree, (total,)

        return lawler.best_trees_by_search(best, scores, np.zeros_like(scores), size)

    def maximum_tree_of_pairs(self, high: Float, low: Float) -> tuple[Heads, tuple[float, float]]:
        """See `TreeSpace`: refused, for nothing compares sums of masks with twice the digits here."""
        problem = f"the best of {self.trees} is not found where every tree needs a mask"
        raise DeptreeError(problem, "Forbid arcs by -inf, or leave those allowed that trees need")
