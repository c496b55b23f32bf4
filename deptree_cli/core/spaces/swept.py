"""What elimination and charts share: sums by a sweep and its reverse, compiled for every kind of numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import WIDE, Kind
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.kernels.numbers.dual import Dual

Zeros = Callable[[Any], Any]  # a shape -> an array of zeros


@dataclass(frozen=True, eq=False)
class Swept(Factorisation):
    """Sums in one kind of numbers, which are worked out again in wide ones where float64's range does not suffice.

    Attributes:
        kind: the numbers of the arrays that follow.
        weights: exp of the shifted scores, (n+1, n+1).
    """

    kind: Kind
    weights: Any

    @abstractmethod
    def _in(self, kind: Kind) -> Self:
        """The same in another kind of numbers."""

    @abstractmethod
    def _marginals_of(self, weights: Any, zeros: Zeros) -> Any:
        """Compute the marginals, (n+1, n+1), of weights of any kind of numbers."""

    @property
    def is_wide(self) -> bool:
        return self.kind == WIDE

    @cached_property
    def in_wide_numbers(self) -> Self:
        """The same in wide numbers."""
        return self if self.is_wide else self._in(WIDE)

    def arc_covariance(self, values: Float) -> Float:
        """See `Factorisation`; 0 for forbidden arcs, whose values, finite as all are, do not count. O(n^3).

        It is the derivative of the marginals in that direction, by both sweeps on dual numbers: behind every gradient
        of Zmigrod et al. 2021b.
        """

        def zeros(shape: Any) -> Dual:
            return Dual(self.kind.zeros(shape), self.kind.zeros(shape))

        weights = Dual(self.weights, self.kind.scaled(self.weights, values))
        covariances = self.kind.floats(self._marginals_of(weights, zeros).tangent)
        if not self.is_wide and not np.isfinite(covariances).all():
            return self.in_wide_numbers.arc_covariance(values)
        return covariances
