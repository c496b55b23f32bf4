"""What is worked out once from a sentence's log-scores in a tree space: sums over its trees, and samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Float, Integers
from deptree_cli.core.many_trees import blocks_to_read
from deptree_cli.core.shifted import Shifted


@dataclass(frozen=True, eq=False)
class PreciseSums:
    """Sums over all trees with about 31 digits, for differences that cancel; of log-scores as they were shifted.

    Attributes:
        log_z: the logarithm of the partition function less `exponent` times 512 ln 2, a pair of numbers.
        exponent: an integer.
        marginals: P(head -> dependent), (n+1, n+1), as pairs: two arrays.
    """

    log_z: tuple[float, float]
    exponent: float
    marginals: tuple[Float, Float]


@dataclass(frozen=True, eq=False)
class Factorisation(ABC):
    """The sums of one sentence; immutable, made by `TreeSpace.factorise`.

    Attributes:
        single_root: whether its trees have one ROOT arc, or one or more.
        shifted: the log-scores that it was made of, shifted; by node.
        shifted_log_z: the logarithm of the partition function of the shifted weights, a pair of numbers.
    """

    single_root: bool
    shifted: Shifted
    shifted_log_z: tuple[float, float]

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.shifted.high) - 1

    @property
    def log_z(self) -> float:
        """The natural logarithm of the partition function, the sum of all trees' weights."""
        return self.log_z_pair[0]

    @property
    def log_z_pair(self) -> tuple[float, float]:
        """The same as a pair of numbers, for differences: the second is what the first rounds off."""
        from deptree_cli.kernels.numbers.pairs import pair_add  # loads kernels: when there is work

        return pair_add(self.shifted_log_z, self.shifted.constant)

    @property
    def is_wide(self) -> bool:
        """Whether float64's range did not suffice."""
        return False

    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of trees, (k, n) heads -> (k,), -inf where an arc is forbidden; offsets cost no digits."""
        from deptree_cli.kernels.trees.tree_scores import tree_log_probs

        out = np.empty(len(trees))
        for rows, heads in blocks_to_read(trees):
            tree_log_probs(self.shifted.high, self.shifted.low, self.shifted_log_z, heads, out[rows])
        return out

    @abstractmethod
    def precise(self, exponent: float = 1.0) -> PreciseSums:
        """Sums with twice the digits, the weights raised to a power."""

    @abstractmethod
    def marginals(self) -> Float:
        """P(head -> dependent), (n+1, n+1)."""

    def root_marginals(self) -> Float:
        """P(ROOT -> word), (n+1,)."""
        return self.marginals()[0]

    @abstractmethod
    def arc_covariance(self, values: Float, rest: Float | None = None) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc, (n+1, n+1).

        Args:
            rest: what the values round off; they may then be as large as masks: twice the digits, 20 to 80 times as
                slow.
        """

    @abstractmethod
    def sample(self, size: int, rng: np.random.Generator) -> Integers:
        """Independent exact trees, (size, n), as `many_trees` keeps them: heads of words, 0 for ROOT. O(n^2) each."""
