"""A tree as a sequence of choices: the state machine under sampling without replacement (Stanojevic 2022, section 5.1).

The choices are the root (under the single-root constraint), then the head of every other word from left to right. Their
conditional distributions come as logarithms that are accurate however small the probability, because nothing is
subtracted on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.numbers import REAL, SAFE_LOG, WIDE, Kind, shift_columns
from deptree_cli.core.spaces.elimination import elimination_of
from deptree_cli.kernels.trees.head_distribution import FREE, Workspace, log_head_probs_of_each

Prefix = tuple[int, ...]
Choices = Int


class Conditionals:
    """The conditional distribution of each choice of a sentence's tree given the choices before it.

    A prefix is a tuple of choices; a complete one, of length `depth`, is a tree.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        self._distribution = distribution
        log_weights, _ = shift_columns(distribution.log_scores, distribution.single_root)
        kind = WIDE if some_are_improbable(log_weights) else REAL
        self._wide_weights = WIDE.exp(log_weights)
        self._weights = self._wide_weights if kind is WIDE else kind.exp(log_weights)
        self._workspace = head_workspace(distribution.n, kind)
        self._probs = kind.zeros(distribution.n + 1)
        self.depth = distribution.n

    def log_probs(self, prefix: Prefix) -> Float:
        """Log-probability of each value 0..n of the choice after `prefix`; O(m^3) with m words open."""
        return self.log_probs_of_each(np.array([prefix], dtype=np.int64))[0]

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """The same for prefixes of one length, (b, length) -> (b, n+1)."""
        if self._distribution.single_root and not prefixes.shape[1]:
            return np.tile(elimination_of(self._distribution.factorisation).log_root_marginals(), (len(prefixes), 1))
        heads, words = self._heads_and_words(prefixes)
        done = prefixes.shape[1] - (1 if self._distribution.single_root else 0)
        roots = prefixes[:, 0] if self._distribution.single_root else np.zeros(len(prefixes), dtype=np.int64)
        out = np.empty((len(prefixes), self._distribution.n + 1))
        log_head_probs_of_each(
            self._weights, self._wide_weights, roots, heads, words[:, done].copy(), self._workspace, self._probs, out
        )
        return out

    def heads(self, prefix: Prefix) -> Heads:
        """The tree of a complete prefix, (n,) heads."""
        return self.heads_of_each(np.array([prefix], dtype=np.int64))[0]

    def heads_of_each(self, prefixes: Choices) -> Heads:
        """The trees of complete prefixes, (b, n) -> (b, n) heads."""
        heads = self._heads_and_words(prefixes)[0][:, 1:]
        return np.where(heads == FREE, 0, heads).astype(np.int32)

    def _heads_and_words(self, prefixes: Choices) -> tuple[Choices, Choices]:
        """Heads by node (b, n+1), FREE where none was chosen; the words in the order of choice, (b, n or n-1)."""
        count, n = len(prefixes), self._distribution.n
        words = np.tile(np.arange(1, n + 1), (count, 1))
        chosen = prefixes
        if self._distribution.single_root:
            words = words[words != prefixes[:, :1]].reshape(count, n - 1)
            chosen = prefixes[:, 1:]
        heads = np.full((count, n + 1), FREE, dtype=np.int64)
        heads[np.arange(count)[:, None], words[:, : chosen.shape[1]]] = chosen
        return heads, words


def some_are_improbable(log_weights: Float) -> bool:
    """Whether float64 may take trees of these weights for impossible that are not; (n+1, n+1), columns shifted."""
    least = np.where(np.isfinite(log_weights), log_weights, 0.0).min(axis=0)
    return bool(least.sum() < SAFE_LOG)


def head_workspace(n: int, kind: Kind) -> Any:
    """Memory for the head distributions of a sentence's words."""
    return Workspace(kind.zeros((n, n)), kind.zeros(n), WIDE.zeros((n, n)), WIDE.zeros(n), WIDE.zeros(n + 1))


def pick(log_weights: Float, rng: np.random.Generator) -> int:
    """An index drawn in proportion to exp(log_weights); never one of weight 0."""
    weights = np.exp(log_weights - log_weights.max())
    cumulative = np.cumsum(weights)
    cumulative[np.flatnonzero(weights)[-1] :] = np.inf
    return int(np.searchsorted(cumulative, rng.random() * weights.sum(), side="right"))


def goes_on(log_left: float, mass: float) -> bool:
    """Whether trees are left, and those drawn have less probability than `mass`; log_left: what is left."""
    return log_left > -np.inf and not (mass < 1.0 and np.exp(log_left) <= 1.0 - mass)


def log_sum(log_values: Float) -> float:
    """log of the sum of exponentials; -inf for a sum of nothing."""
    return float(np.logaddexp.reduce(log_values))
