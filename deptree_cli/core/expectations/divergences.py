"""Divergences between two distributions over the trees of a sentence, in nats, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.expectations.base import DISTRIBUTION, Input, arc_covariance, cancels, expected_sum
from deptree_cli.core.expectations.entropies import entropy
from deptree_cli.core.shifted import is_large

OTHER = Input("other", DISTRIBUTION, "The scores to compare with")


def kl(distribution: ArcFactored, other: ArcFactored) -> float:
    """Kullback-Leibler divergence from the other distribution, infinite where that one forbids a possible tree."""
    if _goes_beyond(distribution, other):
        return np.inf
    differences, _ = _differences(distribution, other)
    support = distribution.support
    same_trees = distribution.space == other.space and bool((support == other.support).all())
    if same_trees and not differences[support].any():
        return 0.0  # the same scores: the same distribution
    expected = expected_sum(distribution, differences)
    (ours, our_rest), (theirs, their_rest) = (each.factorisation.shifted_log_z for each in (distribution, other))
    log_ratio = theirs - ours + (their_rest - our_rest)
    found = expected + log_ratio
    if not (cancels(found, expected, log_ratio) or is_large(differences, distribution.marginals())):
        return found
    from deptree_cli.core.expectations import cancelling  # loads kernels: only where they are needed

    return max(cancelling.kl(distribution, other), 0.0)


def kl_gradient(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute the covariance of each arc with the difference of log-scores, in one sweep; NaN where kl is infinite."""
    return _unless_infinite(distribution, other, _differences)


def cross_entropy(distribution: ArcFactored, other: ArcFactored) -> float:
    """log Z of the other minus E[its log-score], infinite where it forbids a possible tree."""
    if _goes_beyond(distribution, other):
        return np.inf
    log_z, scores = other.factorisation.shifted_log_z[0], other.factorisation.shifted.high
    expected = expected_sum(distribution, scores)
    if cancels(log_z - expected, log_z, expected) or is_large(scores, distribution.marginals()):
        return entropy(distribution) + kl(distribution, other)
    return log_z - expected


def cross_entropy_gradient(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute minus the covariance of each arc with the other's log-score; NaN where the value is infinite."""
    return -_unless_infinite(distribution, other, lambda _, other: other.factorisation.shifted[:2])


def gradient_other(distribution: ArcFactored, other: ArcFactored) -> Float:
    """Compute the gradient of both with respect to the other's log-scores: its marginals minus the distribution's."""
    return other.marginals() - distribution.marginals()


def _unless_infinite(distribution: ArcFactored, other: ArcFactored, values: Callable[..., Any]) -> Float:
    if _goes_beyond(distribution, other):
        return np.full_like(distribution.log_scores, np.nan)
    return arc_covariance(distribution, *values(distribution, other))


def _differences(distribution: ArcFactored, other: ArcFactored) -> tuple[Float, Float]:
    """The differences of shifted log-scores, (n+1, n+1), and what they round off; meaningless outside the support."""
    from deptree_cli.kernels.numbers.paired import Paired, paired_sums  # loads kernels: when there is work

    ours, theirs = distribution.factorisation.shifted, other.factorisation.shifted
    return paired_sums(Paired(*ours[:2]), Paired(-theirs.high, -theirs.low))


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
