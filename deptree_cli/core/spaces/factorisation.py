"""What is worked out once from a sentence's log-scores in a tree space: sums over its trees, and samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Float, Integers
from deptree_cli.core.many_trees import blocks_to_read
from deptree_cli.core.spaces.rules import Rules
from deptree_cli.core.spaces.shifted import Shifted


@dataclass(frozen=True, eq=False)
class Factorisation(ABC):
    """The sums of one sentence; immutable, made by `TreeSpace.factorise`.

    Attributes:
        space: of its trees.
        shifted: the log-scores that it was made of, shifted; by node.
        shifted_log_z: the logarithm of the partition function of the shifted weights.
    """

    space: Rules
    shifted: Shifted
    shifted_log_z: float

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.shifted.log_weights) - 1

    @property
    def log_z(self) -> float:
        """The natural logarithm of the partition function, the sum of all trees' weights."""
        return self.shifted_log_z + self.shifted.constant

    def log_ratio(self, other: Factorisation) -> float:
        """log Z less that of another one of the same scores: offsets cost no digits."""
        return (self.shifted_log_z - other.shifted_log_z) + (self.shifted.constant - other.shifted.constant)

    @property
    def is_wide(self) -> bool:
        """Whether float64's range did not suffice."""
        return False

    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of trees, (k, n) heads -> (k,), -inf where an arc is forbidden; offsets cost no digits."""
        from deptree_cli.kernels.trees.tree_scores import tree_log_probs

        out = np.empty(len(trees))
        for rows, heads in blocks_to_read(trees):
            tree_log_probs(self.shifted.log_weights, self.shifted_log_z, heads, out[rows])
        return out

    @abstractmethod
    def marginals(self) -> Float:
        """P(head -> dependent), (n+1, n+1)."""

    def root_marginals(self) -> Float:
        """P(ROOT -> word), (n+1,)."""
        return self.marginals()[0]

    @abstractmethod
    def arc_covariance(self, values: Float) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc, (n+1, n+1)."""

    @abstractmethod
    def sample(self, size: int, rng: np.random.Generator) -> Integers:
        """Independent exact trees, (size, n), as `many_trees` keeps them: heads of words, 0 for ROOT. O(n^2) each."""
