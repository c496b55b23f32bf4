"""What every factorisation of log-scores has in common: the partition function, and trees measured by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Float, Integers
from deptree_cli.core.shifted import Shifted
from deptree_cli.kernels.numbers.pairs import pair_add
from deptree_cli.kernels.trees.tree_scores import tree_log_probs


@dataclass(frozen=True, eq=False)
class Sums:
    """The partition function of one sentence; immutable.

    Attributes:
        single_root: whether its trees have one ROOT arc, or one or more.
        shifted: the log-scores, by node.
        shifted_log_z: the logarithm of the partition function of the shifted weights, a pair of numbers.
    """

    single_root: bool
    shifted: Shifted
    shifted_log_z: tuple[float, float]

    @property
    def log_z(self) -> float:
        """The natural logarithm of the partition function, the sum of all trees' weights."""
        return self.log_z_pair[0]

    @property
    def log_z_pair(self) -> tuple[float, float]:
        """The same as a pair of numbers, for differences."""
        pair: tuple[float, float] = pair_add(self.shifted_log_z, self.shifted.constant)
        return pair

    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of trees, (k, n) heads -> (k,), -inf where an arc is forbidden; offsets cost no digits."""
        out = np.empty(len(trees))
        heads = np.ascontiguousarray(trees, dtype=np.int64)
        tree_log_probs(self.shifted.high, self.shifted.low, self.shifted_log_z, heads, out)
        return out
