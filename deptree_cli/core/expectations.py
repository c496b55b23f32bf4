"""Expectations under a distribution over trees and their gradients (Zmigrod et al. 2021b).

Values are sums over arcs of marginals times something additive (their first-order expectations), O(n^3). Gradients are
with respect to the log-scores, (n+1, n+1): each is one covariance of arcs with a direction, O(n^3) too, and 0 for
forbidden arcs.

To add one, write it here, with the inputs that it needs, and give it an entry below: all entries are in the register
of quantities (`core/quantities.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.measures import OverArcs, Quantity
from deptree_cli.core.scores import real_numbers

if TYPE_CHECKING:
    from deptree_cli.core.arc_factored import ArcFactored

# What a quantity of a distribution is: its value, its gradient, and the inputs that it needs.


# The kinds of inputs: a positive number; another distribution over the sentence's trees; the gold heads (n,), -1 where
# unknown; features of arcs (n+1, n+1, R); R numbers.
NUMBER, DISTRIBUTION, HEADS, FEATURES, VECTOR = "number", "distribution", "heads", "features", "vector"


@dataclass(frozen=True)
class QuantityInput:
    """What a quantity needs besides a distribution; the command line makes an option of it.

    Attributes:
        kind: one of the kinds above, which says how the command line reads it.
        help: what it is, a sentence.
    """

    name: str
    kind: str
    help: str


@dataclass(frozen=True)
class OfDistribution(Quantity):
    """A quantity of a distribution: ``value(distribution, *inputs)``, the values of `inputs` in their order.

    Attributes:
        gradient: the same arguments -> the gradient with respect to the log-scores, (n+1, n+1) or several of them, 0
            for forbidden arcs; None where there is none.
        gradient_other: the same with respect to the log-scores of the other distribution.
        of_many: the values of a `TreeBatch`, (B,), where nothing else is needed; None where each sentence is asked.
    """

    gradient: Callable[..., Float] | None = None
    inputs: tuple[QuantityInput, ...] = ()
    gradient_other: Callable[..., Float] | None = None
    of_many: Callable[[Any], Float] | None = None
    kind: ClassVar[str] = "a distribution"


def expected_sum(distribution: ArcFactored, values: Float) -> float:
    """E[sum of the tree's arcs' values] for values (n+1, n+1); those of impossible arcs do not count (their T1)."""
    marginals = distribution.marginals()
    return float(np.vdot(marginals, np.where(marginals > 0, values, 0.0)))


def arc_covariance(distribution: ArcFactored, values: Float) -> Float:
    """The covariance of each arc with the sum of the tree's values, (n+1, n+1); values of forbidden arcs do not count.

    The one primitive behind every gradient: the derivative of the marginals in that direction, O(n^3).
    """
    possible = distribution.support & np.isfinite(values)
    return distribution.factorisation.arc_covariance(np.where(possible, values, 0.0))


def unique_inputs(quantities: Iterable[OfDistribution]) -> list[QuantityInput]:
    return list(dict.fromkeys(each for quantity in quantities for each in quantity.inputs))


# Expectations of a tree's sums over arcs: exact under every distribution, with gradients and variances.


@cache
def expected(quantity: OverArcs) -> OfDistribution:
    """The expectation of a sum over arcs; its gradient is the covariance of each arc with the sum, (n+1, n+1)."""
    value = partial(_of_values, expected_sum, quantity)
    value.__doc__ = f"Of a tree: {quantity.summary}"
    return OfDistribution(quantity.name, value, partial(_of_values, arc_covariance, quantity))


def _of_values(function: Callable[[ArcFactored, Float], Any], quantity: OverArcs, distribution: ArcFactored) -> Any:
    values = quantity.arc_values(distribution.n, distribution.space)
    if values is None:
        problem = f"{quantity.name} is not a sum over arcs in {distribution.space.trees}"
        raise DeptreeError(problem, "Estimate it from trees: deptree estimate", sent_id=distribution.id)
    return function(distribution, values)


def mean_and_variance(distribution: ArcFactored, values: Float) -> tuple[float, float]:
    """Return the mean and the variance of the sum of a tree's values (n+1, n+1). O(n^3)"""
    variance = np.vdot(np.where(distribution.support, values, 0.0), arc_covariance(distribution, values))
    return expected_sum(distribution, values), max(float(variance), 0.0)


# Entropies of a distribution, in nats, and their gradients; absolute rounding errors are about 1e-13.


# From here to 1 the quotients of differences below have lost three digits, and Gauss's rule with two nodes loses none.
NEAR = 1e-3
NODES = (0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5)

ORDER = QuantityInput("order", NUMBER, "The order")


def entropy(distribution: ArcFactored) -> float:
    """Shannon entropy: log Z - E[log-score]."""
    return _surprisal(distribution, distribution)


def entropy_gradient(distribution: ArcFactored) -> Float:
    return -arc_covariance(distribution, distribution.factorisation.shifted.log_weights)


def renyi(distribution: ArcFactored, order: float) -> float:
    """Renyi's entropy of order a: (log Z of a times the log-scores, minus a log Z) / (1 - a); Shannon's at a = 1.

    It is the mean, over orders t from 1 to a, of E[-log p] under the power t of the distribution.
    """
    if order == 1.0:
        return entropy(distribution)
    if abs(order - 1.0) < NEAR:
        return float(np.mean([_surprisal(distribution, distribution.raised_to(t)) for t in _orders_to(order)]))
    log_z = distribution.factorisation.shifted_log_z
    return max((distribution.raised_to(order).log_partition - order * log_z) / (1.0 - order), 0.0)


def renyi_gradient(distribution: ArcFactored, order: float) -> Float:
    """Compute alpha (P_alpha - P) / (1 - alpha), P_alpha the marginals of the alpha-th power of the distribution."""
    if order == 1.0:
        return entropy_gradient(distribution)
    if abs(order - 1.0) < NEAR:  # by the derivative of P_t in t
        log_weights = distribution.factorisation.shifted.log_weights
        slopes = [arc_covariance(distribution.raised_to(t), log_weights) for t in _orders_to(order)]
        return -order * np.mean(slopes, axis=0)
    return order * (distribution.raised_to(order).marginals() - distribution.marginals()) / (1.0 - order)


def _surprisal(distribution: ArcFactored, drawn: ArcFactored) -> float:
    """E[-log p] of trees drawn from another distribution over the same trees; what rounds below 0 is 0."""
    factorisation = distribution.factorisation
    return max(factorisation.shifted_log_z - expected_sum(drawn, factorisation.shifted.log_weights), 0.0)


def _orders_to(order: float) -> list[float]:
    return [1.0 + node * (order - 1.0) for node in NODES]


# Divergences between two distributions over the trees of a sentence, in nats, and their gradients.


OTHER = QuantityInput("other", DISTRIBUTION, "The scores to compare with")


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
    """Whether some tree is possible here and not there; exact, for it asks which arcs trees have and not how often."""
    if distribution.n != other.n:
        problem = f"a distribution over trees of {counted(distribution.n, 'word')} is compared with one over {other.n}"
        raise DeptreeError(problem, "Compare distributions of one sentence", sent_id=distribution.id)
    here, there = distribution.support, other.support
    return bool((here & ~there).any()) or distribution.space.goes_beyond(other.space, here)


# Expected agreement with gold heads, and its gradients.


GOLD = QuantityInput("gold", HEADS, "The gold heads")


def risk(distribution: ArcFactored, gold: Heads) -> float:
    """The expected number of words with a wrong head.

    gold: (n,) heads, -1 where unknown; such words do not count, and without others it is NaN.
    """
    if not (gold >= 0).any():
        return float("nan")
    return expected_sum(distribution, _wrong(distribution, gold))


def risk_gradient(distribution: ArcFactored, gold: Heads) -> Float:
    return arc_covariance(distribution, _wrong(distribution, gold))


def risk_variance(distribution: ArcFactored, gold: Heads) -> float:
    """Compute the variance of the number of words with a wrong head. O(n^3)

    gold: (n,) heads, -1 where unknown; such words do not count.
    """
    wrong = _wrong(distribution, gold)
    return max(float(np.vdot(wrong, arc_covariance(distribution, wrong))), 0.0)


def attachment(distribution: ArcFactored, gold: Heads) -> float:
    """The expected unlabelled attachment score: the share of words with gold heads that get them.

    NaN without such words.
    """
    return 1.0 - risk(distribution, gold) / max(int((gold >= 0).sum()), 1)


def attachment_gradient(distribution: ArcFactored, gold: Heads) -> Float:
    return -risk_gradient(distribution, gold) / max(int((gold >= 0).sum()), 1)


def _wrong(distribution: ArcFactored, gold: Heads) -> Float:
    wrong = np.zeros((distribution.n + 1, distribution.n + 1))
    known = np.flatnonzero(gold >= 0)
    wrong[:, known + 1] = 1.0
    wrong[gold[known], known + 1] = 0.0
    return wrong


# Means and covariances of features of arcs, and the generalised expectation objective (Zmigrod et al. 2021b).


ARRAYS = QuantityInput("features", FEATURES, "Arrays like the scores with one more axis: of features")
TARGET = QuantityInput("target", VECTOR, "Expectations to meet, one number per feature")


def expected_features(distribution: ArcFactored, features: Float) -> Float:
    """The expected sums of arcs' features over a tree.

    (R,), for features (n+1, n+1, R): their T1.
    """
    return np.tensordot(distribution.marginals(), _of_trees(distribution, features), axes=2)


def expected_gradient(distribution: ArcFactored, features: Float) -> Float:
    """Compute the covariance of each arc with each feature's sum, (R, n+1, n+1): O(R n^3)."""
    by_feature = np.moveaxis(_of_trees(distribution, features), 2, 0)
    return np.array([arc_covariance(distribution, values) for values in by_feature])


def covariance(distribution: ArcFactored, features: Float) -> Float:
    """The covariances of the sums of arcs' features over a tree.

    (R, R), by R products with a Hessian (their T2^v): O(R n^3).
    """
    return np.tensordot(expected_gradient(distribution, features), _of_trees(distribution, features), axes=2)


def generalised(distribution: ArcFactored, features: Float, target: Float) -> float:
    """The generalised expectation objective: minus half the squared distance of the features' means from a target."""
    distance = _distance(distribution, features, target)
    return -0.5 * float(distance @ distance)


def generalised_gradient(distribution: ArcFactored, features: Float, target: Float) -> Float:
    """Compute minus the covariance of each arc with distance . features: O(n^3), for it is one direction, not R."""
    distance = _distance(distribution, features, target)
    return -arc_covariance(distribution, _of_trees(distribution, features) @ distance)


def _of_trees(distribution: ArcFactored, features: Float) -> Float:
    """The features (n+1, n+1, R) with 0 for arcs that no tree has, whatever stands there.

    Raises:
        DeptreeError: one of an arc that some tree has is not finite.
    """
    values = np.where(distribution.support[..., None], real_numbers(features, "features"), 0.0)
    return _finite(values, "a feature of an arc that some tree has")


def _finite(values: Float, what: str) -> Float:
    if not np.isfinite(values).all():
        raise DeptreeError(f"{what} is not a finite number", "Give finite ones")
    return values


def _distance(distribution: ArcFactored, features: Float, target: Float) -> Float:
    return expected_features(distribution, features) - _finite(real_numbers(target, "targets"), "a target")


OF_DISTRIBUTIONS = (
    OfDistribution("entropy", entropy, entropy_gradient, of_many=attrgetter("entropies")),
    OfDistribution("renyi", renyi, renyi_gradient, (ORDER,)),
    OfDistribution("kl", kl, kl_gradient, (OTHER,), gradient_other),
    OfDistribution("cross-entropy", cross_entropy, cross_entropy_gradient, (OTHER,), gradient_other),
    OfDistribution("risk", risk, risk_gradient, (GOLD,)),
    OfDistribution("attachment", attachment, attachment_gradient, (GOLD,)),
    OfDistribution("features", expected_features, expected_gradient, (ARRAYS,), scalar=False),
    OfDistribution("covariance", covariance, None, (ARRAYS,), scalar=False),
    OfDistribution("ge", generalised, generalised_gradient, (ARRAYS, TARGET)),
)
