"""A sentence's exact tree distribution by enumeration: what everything else is tested against."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.oracle import all_trees
from deptree_cli.kernels.trees.tree_scores import tree_log_probs


class Oracle:
    """A sentence's exact tree distribution.

    Attributes:
        trees: (trees, n) heads of every tree of positive weight.
        log_probs: (trees,) their log-probabilities.
        log_z: the partition function's logarithm.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        trees = all_trees(distribution.n, distribution.space)
        log_weights = distribution.log_weights(trees)
        possible = np.isfinite(log_weights)
        self.trees = trees[possible]
        best = self.trees[log_weights[possible].argmax()]
        scores = distribution.log_scores[best, np.arange(1, distribution.n + 1)].tolist()
        highest = math.fsum(scores)
        rest = math.fsum([*scores, -highest])  # what rounding took off
        below = _less(distribution.log_scores, self.trees, (highest, rest))
        total = float(np.logaddexp.reduce(below))
        self.log_z = highest + (rest + total)
        self.log_probs = below - total
        self._n = distribution.n

    def marginals(self) -> Float:
        """P(head -> dependent), shape (n+1, n+1)."""
        marginals = np.zeros((self._n + 1, self._n + 1))
        for word in range(1, self._n + 1):
            np.add.at(marginals[:, word], self.trees[:, word - 1], np.exp(self.log_probs))
        return marginals


def _less(log_scores: Float, trees: Heads, pair: tuple[float, float]) -> Float:
    """Log-weights of trees (k, n) less a pair of numbers, (k,): rounded once, however large the scores are."""
    out = np.empty(len(trees))
    tree_log_probs(log_scores, np.zeros_like(log_scores), pair, trees.astype(np.int64), out)
    return out
