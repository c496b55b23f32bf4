"""What is worked out once from a sentence's log-scores: its log-partition function, edge marginals and samples.

Elimination and charts run a sweep and its reverse, in float64, or in wide numbers where float64's range ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Float, Integers
from deptree_cli.core.many_trees import blocks_to_read
from deptree_cli.core.numbers import WIDE, Kind, in_range
from deptree_cli.core.spaces.rules import Rules
from deptree_cli.core.spaces.shifted import Shifted

Found = TypeVar("Found")
Zeros = Callable[[Any], Any]  # a shape -> an array of zeros


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
        """The log-partition function: the natural logarithm of the sum of all trees' weights."""
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


class SweepFactorisation(ABC):
    """The factorisation behind a partition function in one kind of numbers, and once more in wide ones where needed.

    Attributes:
        kind: the numbers of its arrays.
        in_range: whether these held every term that counts.
    """

    kind: Kind
    in_range: bool

    @abstractmethod
    def _in(self, kind: Kind) -> Self:
        """The same in another kind of numbers."""

    @property
    def is_wide(self) -> bool:
        """Whether float64's range did not suffice."""
        return self.kind == WIDE

    @cached_property
    def in_wide_numbers(self) -> Self:
        """The same in wide numbers."""
        return self if self.is_wide else self._in(WIDE)

    def answer(self, question: Callable[[Self], tuple[Found, bool]]) -> Found:
        """What a question finds with these numbers, or with wide ones where it says that these do not suffice."""
        return in_range(lambda kind: question(self if kind == self.kind else self.in_wide_numbers), self.kind)

    def or_wide(self) -> Self:
        """The factorisation itself, or the one in wide numbers where its own do not suffice."""
        return self.answer(lambda own: (own, own.in_range))


@dataclass(frozen=True, eq=False)
class ArcSweep(SweepFactorisation, Factorisation):
    """Sums over trees from the weights of single arcs.

    Attributes:
        kind, in_range: see `SweepFactorisation`.
        weights: exp of the shifted scores, (n+1, n+1).
        swept: what the sweep made of them.
    """

    kind: Kind
    in_range: bool
    weights: Any
    swept: Any

    @abstractmethod
    def _forward(self, weights: Any, zeros: Zeros) -> Any:
        """Run the sweep on weights of any kind of numbers: what `_backward` takes."""

    @abstractmethod
    def _backward(self, weights: Any, swept: Any, zeros: Zeros) -> tuple[Any, bool]:
        """Run the reverse sweep: marginals (n+1, n+1), and whether their numbers were in range."""

    def marginals(self) -> Float:
        """The edge marginals P(head -> dependent), (n+1, n+1); the columns of words sum to 1. O(n^3).

        The reverse sweep is the reverse-mode derivative of log Z (Zmigrod et al. 2021b, section 4), times the weights.
        """
        return self.answer(lambda own: own._marginals())

    def _marginals(self) -> tuple[Float, bool]:
        found, in_range = self._backward(self.weights, self.swept, self.kind.zeros)
        return self.kind.floats(found), in_range

    def arc_covariance(self, values: Float) -> Float:
        """See `Factorisation`; 0 for forbidden arcs, whose values do not count, NaN for others if one is not finite.

        It is the derivative of the marginals in that direction, by both sweeps on dual numbers, O(n^3): behind every
        gradient of Zmigrod et al. 2021b.
        """
        return self.answer(lambda own: own._arc_covariance(values))

    def _arc_covariance(self, values: Float) -> tuple[Float, bool]:
        from deptree_cli.kernels.numbers.dual import Dual

        def zeros(shape: Any) -> Dual:
            return Dual(self.kind.zeros(shape), self.kind.zeros(shape))

        weights = Dual(self.weights, self.kind.scaled(self.weights, values))
        found = self.kind.floats(self._backward(weights, self._forward(weights, zeros), zeros)[0].tangent)
        found = np.where(self.shifted.log_weights > -np.inf, found, 0.0)
        return found, bool(np.isfinite(found).all())
