"""Divergences between two distributions over the trees of a sentence, in nats, and their gradients."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations.base import DISTRIBUTION, Input, arc_covariance, expected_sum
from deptree_cli.core.expectations.entropies import entropy

OTHER = Input("other", DISTRIBUTION, "The scores to compare with")


def kl(distribution: ArcFactored, other: ArcFactored) -> float:
    """Kullback-Leibler divergence from the other distribution, infinite where that one forbids a possible arc."""
    return max(cross_entropy(distribution, other) - entropy(distribution), 0.0)


def kl_gradient(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute the covariance of each arc with the difference of log-scores, in one sweep; NaN where kl is infinite."""
    _check_comparable(distribution, other)
    with np.errstate(invalid="ignore"):
        return _unless_infinite(distribution, other, distribution.log_scores - other.log_scores)


def cross_entropy(distribution: ArcFactored, other: ArcFactored) -> float:
    """log Z of the other minus E[its log-score], infinite where it forbids a possible arc."""
    _check_comparable(distribution, other)
    if _goes_beyond(distribution, other):
        return np.inf
    return other.log_partition - expected_sum(distribution, other.log_scores)


def cross_entropy_gradient(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute minus the covariance of each arc with the other's log-score; NaN where the value is infinite."""
    return _unless_infinite(distribution, other, -other.log_scores)


def gradient_other(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute the gradient of both with respect to the other's log-scores: its marginals minus the distribution's."""
    return other.marginals() - distribution.marginals()


def _unless_infinite(distribution: ArcFactored, other: ArcFactored, values: Float) -> Float:
    _check_comparable(distribution, other)
    marginals = distribution.marginals()
    if _goes_beyond(distribution, other) or (np.isneginf(other.log_scores) & (marginals > 0)).any():
        return np.full_like(marginals, np.nan)
    return arc_covariance(distribution, values)


def _check_comparable(distribution: ArcFactored, other: ArcFactored) -> None:
    if distribution.n != other.n:
        problem = f"a distribution over trees of {distribution.n} words is compared with one over {other.n}"
        raise DeptreeError(problem, "Compare distributions of one sentence", sent_id=distribution.id)


def _goes_beyond(distribution: ArcFactored, other: ArcFactored) -> bool:
    """Whether trees with several roots are possible here and not there: more than one ROOT arc is expected."""
    if distribution.single_root or not other.single_root:
        return False
    return bool(distribution.marginals()[0].sum() > 1.0 + 1e-12)
