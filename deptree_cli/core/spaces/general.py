"""The general routes: a tree space that has a sum over its trees and a best one, and answers all else by these two.

Heads are fixed or forbidden, and the same two questions asked again: exact, and a factor of n^2 or more slower than a
space with an algorithm of its own for each question.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces.base import TreeSpace, with_heads
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.core.spaces.shifted import shift


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

    def factorise(self, log_scores: Float) -> Factorisation:
        shifted = shift(log_scores, self)
        log_z = self.log_partition(shifted.log_weights)
        if log_z == -np.inf:
            raise DeptreeError("no tree has a positive weight", "Allow more arcs")
        return Conditioned(self, shifted, log_z)

    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """See `TreeSpace`; n searches for a best tree each."""
        from deptree_cli.core.spaces import lawler  # loads kernels: when there is work

        return lawler.trees_by_search(self.maximum_tree, scores)


@dataclass(frozen=True, eq=False)
class Conditioned(Factorisation):
    """Sums by a space's `log_partition` given heads: n^2 calls for marginals, and as many for a tree."""

    space: GeneralSpace

    def marginals(self) -> Float:
        return self._marginals(self.shifted.log_weights)

    def arc_covariance(self, values: Float) -> Float:
        """See `Factorisation`: P(a, b) = P(b) P(a | b) for every arc b with a value."""
        marginals = self.marginals()
        found = np.zeros_like(marginals)
        for head, word in np.argwhere((marginals > 0) & (values != 0)).tolist():
            given = self._marginals(self._given([(head, word)]))
            found += values[head, word] * marginals[head, word] * (given - marginals)
        return found

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """See `Factorisation`; head by head, from one distribution for trees that begin alike."""
        trees = np.zeros((size, self.n), dtype=np.int32)
        groups: dict[tuple[int, ...], Int] = {(): np.arange(size)}
        for word in range(self.n):
            longer: dict[tuple[int, ...], Int] = {}
            for prefix, rows in groups.items():
                probs = np.exp(self.head_log_probs(prefix))
                trees[rows, word] = drawn = rng.choice(self.n + 1, len(rows), p=probs / probs.sum())
                longer |= {(*prefix, head): rows[drawn == head] for head in np.unique(drawn).tolist()}
            groups = longer
        return trees

    def head_log_probs(self, heads: Sequence[int]) -> Float:
        """log P(head of the next word), (n+1,), given the heads of all words before it."""
        given = self._given([(head, word) for word, head in enumerate(heads, 1)])
        return self._head_log_probs(given, len(heads) + 1)

    def _given(self, arcs: Sequence[tuple[int, int]]) -> Float:
        log_weights = self.shifted.log_weights
        return np.where(with_heads(log_weights > -np.inf, arcs), log_weights, -np.inf)

    def _marginals(self, log_scores: Float) -> Float:
        found = np.zeros_like(log_scores)
        for word in range(1, len(log_scores)):
            found[:, word] = np.exp(self._head_log_probs(log_scores, word))
        return found

    def _head_log_probs(self, log_scores: Float, word: int) -> Float:
        found = np.full(len(log_scores), -np.inf)
        given = log_scores.copy()
        for head in np.flatnonzero(log_scores[:, word] > -np.inf).tolist():
            given[:, word] = -np.inf
            given[head, word] = log_scores[head, word]
            found[head] = self.space.log_partition(given)
        return found - np.logaddexp.reduce(found)
