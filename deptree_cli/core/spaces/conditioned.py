"""Marginals, covariances and samples by partition functions given heads: for spaces without algorithms of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.spaces.base import with_heads
from deptree_cli.core.spaces.factorisation import Factorisation, PreciseSums


@dataclass(frozen=True, eq=False)
class Conditioned(Factorisation):
    """The sums of one sentence, all of them from `log_partition`: n^2 calls for marginals, and as many for a tree.

    Attributes:
        log_partition: log-scores (n+1, n+1) -> the logarithm of the sum of all trees' weights, -inf if there is none.
    """

    log_partition: Callable[[Float], float]

    def marginals(self) -> Float:
        """P(head -> dependent), (n+1, n+1)."""
        return self._marginals(self.shifted.high)

    def precise(self, exponent: float = 1.0) -> PreciseSums:
        """The same of weights raised to a power; with the digits of float64 only."""
        scores = exponent * self.shifted.high
        marginals = self._marginals(scores)
        return PreciseSums((self.log_partition(scores), 0.0), 0.0, (marginals, np.zeros_like(marginals)))

    def arc_covariance(self, values: Float, rest: Float | None = None) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc: P(a, b) = P(b) P(a | b), for all b of a value.

        rest: what the values round off; not looked at.
        """
        marginals = self.marginals()
        found = np.zeros_like(marginals)
        for head, word in np.argwhere((marginals > 0) & (values != 0)).tolist():
            given = self._marginals(self._given([(head, word)]))
            found += values[head, word] * marginals[head, word] * (given - marginals)
        return found

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, (size, n), head by head: those that begin alike go on from one distribution."""
        n = len(self.shifted.high) - 1
        trees = np.zeros((size, n), dtype=np.int32)
        groups: dict[tuple[int, ...], Int] = {(): np.arange(size)}
        for word in range(n):
            longer: dict[tuple[int, ...], Int] = {}
            for prefix, rows in groups.items():
                probs = np.exp(self.head_log_probs(prefix))
                trees[rows, word] = drawn = rng.choice(n + 1, len(rows), p=probs / probs.sum())
                longer |= {(*prefix, head): rows[drawn == head] for head in np.unique(drawn).tolist()}
            groups = longer
        return trees

    def head_log_probs(self, heads: Sequence[int]) -> Float:
        """log P(head of the next word), (n+1,), given the heads of all words before it."""
        given = self._given([(head, word) for word, head in enumerate(heads, 1)])
        return self._head_log_probs(given, len(heads) + 1)

    def _given(self, arcs: Sequence[tuple[int, int]]) -> Float:
        high = self.shifted.high
        return np.where(with_heads(high > -np.inf, arcs), high, -np.inf)

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
            found[head] = self.log_partition(given)
        return found - np.logaddexp.reduce(found)
