"""Divergences between two distributions over the trees of a sentence, in nats, and their gradients."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.expectations.base import DISTRIBUTION, Input, arc_covariance, expected_sum

OTHER = Input("other", DISTRIBUTION, "The scores to compare with")


def kl(distribution: ArcFactored, other: ArcFactored) -> float:
    """Kullback-Leibler divergence from the other distribution; infinite if that one forbids a possible tree.

    Absolute rounding errors are about 1e-13; what rounds below 0 is 0.
    """
    if _goes_beyond(distribution, other):
        return np.inf
    differences = _differences(distribution, other)
    support = distribution.support
    same_trees = distribution.space == other.space and bool((support == other.support).all())
    if same_trees and not differences[support].any():
        return 0.0  # the same scores: the same distribution
    log_ratio = other.factorisation.shifted_log_z - distribution.factorisation.shifted_log_z
    return max(expected_sum(distribution, differences) + log_ratio, 0.0)


def kl_gradient(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute the covariance of each arc with the difference of log-scores, in one sweep; NaN where kl is infinite."""
    if _goes_beyond(distribution, other):
        return np.full_like(distribution.log_scores, np.nan)
    return arc_covariance(distribution, _differences(distribution, other))


def cross_entropy(distribution: ArcFactored, other: ArcFactored) -> float:
    """log Z of the other minus E[its log-score], infinite if it forbids a possible tree."""
    if _goes_beyond(distribution, other):
        return np.inf
    theirs = other.factorisation
    return max(theirs.shifted_log_z - expected_sum(distribution, theirs.shifted.log_weights), 0.0)


def cross_entropy_gradient(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute minus the covariance of each arc with the other's log-score; NaN where the value is infinite."""
    if _goes_beyond(distribution, other):
        return np.full_like(distribution.log_scores, np.nan)
    return -arc_covariance(distribution, other.factorisation.shifted.log_weights)


def gradient_other(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute the gradient of both with respect to the other's log-scores: its marginals minus the distribution's."""
    return other.marginals() - distribution.marginals()


def _differences(distribution: ArcFactored, other: ArcFactored) -> Float:
    """The differences of shifted log-scores, (n+1, n+1); meaningless outside the support."""
    with np.errstate(invalid="ignore"):
        return distribution.factorisation.shifted.log_weights - other.factorisation.shifted.log_weights


def _goes_beyond(distribution: ArcFactored, other: ArcFactored) -> bool:
    """Whether some tree is possible here and not there; exact, for it asks which arcs trees have and not how often.

    Raises:
        DeptreeError: they are not of one sentence.
    """
    if distribution.n != other.n:
        problem = f"a distribution over trees of {counted(distribution.n, 'word')} is compared with one over {other.n}"
        raise DeptreeError(problem, "Compare distributions of one sentence", sent_id=distribution.id)
    here, there = distribution.support, other.support
    return bool((here & ~there).any()) or distribution.space.goes_beyond(other.space, here)
