"""What elimination and charts share: sums by a sweep and its reverse, compiled for every kind of numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import PRECISE, WIDE, Kind
from deptree_cli.core.spaces.factorisation import Factorisation, PreciseSums
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.pairs import pair_log
from deptree_cli.kernels.numbers.precise import pairs_of, precise_scaled

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
    def _sweep(self, weights: Any, zeros: Zeros) -> tuple[Callable[[], Any], Any]:
        """What computes Z of weights of any kind, and their marginals, (n+1, n+1)."""

    @property
    def is_wide(self) -> bool:
        return self.kind == WIDE

    @cached_property
    def in_wide_numbers(self) -> Self:
        """The same in wide numbers."""
        return self if self.is_wide else self._in(WIDE)

    def precise(self, exponent: float = 1.0) -> PreciseSums:
        """See `Factorisation`; 20 to 80 times as slow."""
        z, marginals = self._sweep(PRECISE.exp(self.shifted.high, self.shifted.low, exponent), PRECISE.zeros)
        total = z()
        log_z = pair_log(tuple(map(float, total[0])))
        return PreciseSums(log_z, float(total[1]), pairs_of(marginals))

    def arc_covariance(self, values: Float, rest: Float | None = None) -> Float:
        """See `Factorisation`; 0 for forbidden arcs, whose values, finite as all are, do not count. O(n^3).

        It is the derivative of the marginals in that direction, by both sweeps on dual numbers: behind every gradient
        of Zmigrod et al. 2021b.
        """
        if rest is not None:
            weights = PRECISE.exp(self.shifted.high, self.shifted.low)
            return self._derivatives(Dual(weights, precise_scaled(weights, values, rest)), PRECISE)
        covariances = self._derivatives(Dual(self.weights, self.kind.scaled(self.weights, values)), self.kind)
        if not self.is_wide and not np.isfinite(covariances).all():
            return self.in_wide_numbers.arc_covariance(values)
        return covariances

    def _derivatives(self, weights: Dual, kind: Kind) -> Float:
        """The derivatives of the marginals, (n+1, n+1), from weights and theirs, of one kind."""

        def zeros(shape: Any) -> Dual:
            return Dual(kind.zeros(shape), kind.zeros(shape))

        return kind.floats(self._sweep(weights, zeros)[1].tangent)
