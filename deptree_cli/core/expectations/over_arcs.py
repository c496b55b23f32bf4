"""Expectations of a tree's sums over arcs: exact under every distribution, with gradients and variances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations.base import OfDistribution, arc_covariance, expected_sum
from deptree_cli.core.kinds import OverArcs


@dataclass(frozen=True)
class Expectation:
    """The expectation of a sum over arcs, as the value of a quantity of a distribution."""

    of: OverArcs

    def __call__(self, distribution: ArcFactored) -> float:
        """Compute the expectation."""
        return expected_sum(distribution, values_of(self.of, distribution))

    def gradient(self, distribution: ArcFactored) -> Float:
        """Compute the covariance of each arc with the sum, (n+1, n+1)."""
        return arc_covariance(distribution, values_of(self.of, distribution))


class ExpectedSum(OfDistribution):
    """An expectation as an entry of the register."""

    @property
    def summary(self) -> str:
        return f"Of a tree: {self.value.of.summary}" if isinstance(self.value, Expectation) else super().summary


@cache
def expected(quantity: OverArcs) -> OfDistribution:
    """Return the expectation of a sum over arcs as an entry of the register."""
    found = Expectation(quantity)
    return ExpectedSum(quantity.name, found, found.gradient)


def values_of(quantity: OverArcs, distribution: ArcFactored) -> Float:
    """Return what each arc adds, (n+1, n+1).

    Raises:
        DeptreeError: the quantity is no sum over arcs in the distribution's tree space.
    """
    values = quantity.arc_values(distribution.n, distribution.space)
    if values is None:
        problem = f"{quantity.name} is no sum over arcs in {distribution.space.trees}"
        raise DeptreeError(problem, "Estimate it from trees: deptree estimate", sent_id=distribution.id)
    return values


def mean_and_variance(distribution: ArcFactored, values: Float) -> tuple[float, float]:
    """Return the mean and the variance of the sum of a tree's values (n+1, n+1). O(n^3)"""
    support = distribution.support
    counted = np.where(support, values, 0.0)
    variance = float(np.vdot(counted, arc_covariance(distribution, values)))
    return expected_sum(distribution, values), max(variance, 0.0)
