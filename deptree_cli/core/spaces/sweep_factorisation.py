"""What elimination and charts share: sums by a sweep and its reverse, in float64 or in wide numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import WIDE, Kind, in_range
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.kernels.numbers.dual import Dual

Found = TypeVar("Found")
Zeros = Callable[[Any], Any]  # a shape -> an array of zeros


class SweepFactorisation(ABC):
    """The factorisation behind a partition function in one kind of numbers, and once more in wide ones where needed.

    Attributes:
        kind: the numbers of its arrays.
    """

    kind: Kind

    @property
    @abstractmethod
    def is_in_range(self) -> bool:
        """Whether its numbers held every term that counts."""

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

    def in_range(self) -> Self:
        """The factorisation itself, or the one in wide numbers where its own do not suffice."""
        return self.answer(lambda own: (own, own.is_in_range))


@dataclass(frozen=True, eq=False)
class ArcSweep(SweepFactorisation, Factorisation):
    """Sums over trees from the weights of single arcs.

    Attributes:
        kind: see `SweepFactorisation`.
        weights: exp of the shifted scores, (n+1, n+1).
    """

    kind: Kind
    weights: Any

    @abstractmethod
    def _forward(self, weights: Any, zeros: Zeros) -> Any:
        """Run the sweep on weights of any kind of numbers: what `_backward` takes."""

    @abstractmethod
    def _backward(self, weights: Any, swept: Any, zeros: Zeros) -> tuple[Any, bool]:
        """Run the reverse sweep: marginals (n+1, n+1), and whether their numbers held all that counts."""

    @property
    @abstractmethod
    def _swept(self) -> Any:
        """What the sweep made of the weights."""

    def marginals(self) -> Float:
        """P(head -> dependent) for every arc, (n+1, n+1); the columns of words sum to 1. O(n^3).

        The reverse sweep is the reverse-mode derivative of log Z (Zmigrod et al. 2021b, section 4), times the weights.
        """
        return self.answer(ArcSweep._marginals)

    def _marginals(self) -> tuple[Float, bool]:
        found, is_in_range = self._backward(self.weights, self._swept, self.kind.zeros)
        return self.kind.floats(found), is_in_range

    def arc_covariance(self, values: Float) -> Float:
        """See `Factorisation`; 0 for forbidden arcs, whose values, finite as all are, do not count. O(n^3).

        It is the derivative of the marginals in that direction, by both sweeps on dual numbers: behind every gradient
        of Zmigrod et al. 2021b.
        """
        return self.answer(lambda own: own._arc_covariance(values))

    def _arc_covariance(self, values: Float) -> tuple[Float, bool]:
        def zeros(shape: Any) -> Dual:
            return Dual(self.kind.zeros(shape), self.kind.zeros(shape))

        weights = Dual(self.weights, self.kind.scaled(self.weights, values))
        found = self.kind.floats(self._backward(weights, self._forward(weights, zeros), zeros)[0].tangent)
        return found, bool(np.isfinite(found).all())
