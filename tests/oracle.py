"""A sentence's exact tree distribution by enumeration: what everything else is tested against."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.core.oracle import all_trees


class Oracle:
    """A sentence's exact tree distribution.

    Attributes:
        trees: (trees, n) heads of every tree of positive weight.
        log_probs: (trees,) their log-probabilities.
        log_z: the partition function's logarithm.
    """

    def __init__(self, distribution):
        trees = all_trees(distribution.n, distribution.space)
        log_weights = distribution.log_weights(trees)
        possible = np.isfinite(log_weights)
        self.trees = trees[possible]
        scores = distribution.log_scores[self.trees, np.arange(1, distribution.n + 1)]
        best = scores[log_weights[possible].argmax()]
        differences = np.concatenate([scores, np.broadcast_to(-best, scores.shape)], axis=1)
        below = np.array([math.fsum(row) for row in differences.tolist()])  # rounded once, however large scores are
        total = float(np.logaddexp.reduce(below))
        self.log_z = math.fsum([*best.tolist(), total])
        self.log_probs = below - total
        self._n = distribution.n

    def marginals(self):
        """P(head -> dependent), shape (n+1, n+1)."""
        marginals = np.zeros((self._n + 1, self._n + 1))
        for word in range(1, self._n + 1):
            np.add.at(marginals[:, word], self.trees[:, word - 1], np.exp(self.log_probs))
        return marginals
