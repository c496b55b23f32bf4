"""Expectations under a sentence's tree distribution and their gradients (Zmigrod et al. 2021b), by name.

Values are sums over arcs of marginals times something additive (their first-order expectations), O(n^3). Gradients are
with respect to the log-scores of the sentence, (n+1, n+1): each is one `Elimination.arc_covariance`, O(n^3) too, and 0
for forbidden arcs. Entropies are in nats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.matrix_tree import arc_covariances
from deptree_cli.core.sentence import Sentence

Float = NDArray[np.float64]
Heads = NDArray[np.int32]


def expected_sum(sentence: Sentence, values: Float) -> float:
    """E[sum of the tree's arcs' values] for values (n+1, n+1); those of impossible arcs do not count (their T1)."""
    marginals = sentence.elimination.marginals()
    return float(np.vdot(marginals, np.where(marginals > 0, values, 0.0)))


def expected_features(sentence: Sentence, features: Float) -> Float:
    """The expected sums of arcs' features over a tree.

    (R,), for features (n+1, n+1, R): their T1.
    """
    return np.tensordot(sentence.elimination.marginals(), features, axes=2)


def expected_features_gradient(sentence: Sentence, features: Float) -> Float:
    """The covariance of each arc with each feature's sum, (R, n+1, n+1): O(R n^3)."""
    return np.array([_covariance(sentence, features[:, :, r]) for r in range(features.shape[2])])


def feature_covariance(sentence: Sentence, features: Float) -> Float:
    """The covariances of the sums of arcs' features over a tree.

    (R, R), by R products with a Hessian (their T2^v): O(R n^3).
    """
    return np.tensordot(expected_features_gradient(sentence, features), features, axes=2)


def feature_covariance_by_hessian(sentence: Sentence, features: Float) -> Float:
    """The same through the covariances of all pairs of arcs (their T2^h): O(n^4 R), by the textbook's inverse.

    Dense features never pay for it, and it is no better than `matrix_tree`: kept to compare.
    """
    flat = features.reshape(-1, features.shape[2])
    covariances = arc_covariances(sentence.log_scores, sentence.single_root)
    return flat.T @ covariances @ flat


def entropy(sentence: Sentence) -> float:
    """Shannon entropy: log Z - E[log-score]."""
    return max(sentence.elimination.log_z - expected_sum(sentence, sentence.log_scores), 0.0)


def entropy_gradient(sentence: Sentence) -> Float:
    """Minus the covariance of each arc with the log-score."""
    return -_covariance(sentence, sentence.log_scores)


def renyi(sentence: Sentence, alpha: float) -> float:
    """Renyi's entropy of order alpha: (log Z(alpha theta) - alpha log Z) / (1 - alpha); Shannon's at alpha = 1."""
    if alpha == 1.0:
        return entropy(sentence)
    powered = _powered(sentence, alpha).elimination.log_z
    return max((powered - alpha * sentence.elimination.log_z) / (1.0 - alpha), 0.0)


def renyi_gradient(sentence: Sentence, alpha: float) -> Float:
    """alpha (P_alpha - P) / (1 - alpha), P_alpha the marginals of the alpha-th power of the distribution."""
    if alpha == 1.0:
        return entropy_gradient(sentence)
    powered = _powered(sentence, alpha).elimination.marginals()
    return alpha * (powered - sentence.elimination.marginals()) / (1.0 - alpha)


def kl(sentence: Sentence, other: Sentence) -> float:
    """Kullback-Leibler divergence from the other distribution, infinite where that one forbids a possible arc."""
    return max(cross_entropy(sentence, other) - entropy(sentence), 0.0)


def kl_gradient(sentence: Sentence, other: Sentence) -> Float:
    """The covariance of each arc with the difference of log-scores."""
    return cross_entropy_gradient(sentence, other) - entropy_gradient(sentence)


def cross_entropy(sentence: Sentence, other: Sentence) -> float:
    """log Z of the other minus E[its log-score], infinite where it forbids a possible arc."""
    return other.elimination.log_z - expected_sum(sentence, other.log_scores)


def cross_entropy_gradient(sentence: Sentence, other: Sentence) -> Float:
    """Minus the covariance of each arc with the other's log-score; NaN where the divergence is infinite."""
    marginals = sentence.elimination.marginals()
    if (np.isneginf(other.log_scores) & (marginals > 0)).any():
        return np.full_like(marginals, np.nan)
    return -_covariance(sentence, other.log_scores)


def other_gradient(sentence: Sentence, other: Sentence) -> Float:
    """Of both divergences with respect to the other's log-scores: its marginals minus the sentence's."""
    return other.elimination.marginals() - sentence.elimination.marginals()


def risk(sentence: Sentence, gold: Heads) -> float:
    """The expected number of words with a wrong head.

    gold: (n,) heads, -1 where unknown; such words do not count.
    """
    return expected_sum(sentence, _wrong(sentence, gold))


def risk_gradient(sentence: Sentence, gold: Heads) -> Float:
    """The covariance of each arc with the number of wrong heads."""
    return _covariance(sentence, _wrong(sentence, gold))


def attachment(sentence: Sentence, gold: Heads) -> float:
    """The expected unlabelled attachment score: the share of words with known heads that get them."""
    return 1.0 - risk(sentence, gold) / max(int((gold >= 0).sum()), 1)


def attachment_gradient(sentence: Sentence, gold: Heads) -> Float:
    """That of `risk`, turned and divided by the number of known heads."""
    return -risk_gradient(sentence, gold) / max(int((gold >= 0).sum()), 1)


def generalised_expectation(sentence: Sentence, features: Float, target: Float) -> float:
    """The generalised expectation objective: minus half the squared distance of the features' means from a target."""
    distance = expected_features(sentence, features) - target
    return -0.5 * float(distance @ distance)


def generalised_expectation_gradient(sentence: Sentence, features: Float, target: Float) -> Float:
    """Minus the covariance of each arc with distance . features: O(n^3), for it is one direction, not R."""
    distance = expected_features(sentence, features) - target
    return -_covariance(sentence, features @ distance)


def _covariance(sentence: Sentence, values: Float) -> Float:
    """`Elimination.arc_covariance`, values of forbidden arcs, -inf or not, left out."""
    possible = np.isfinite(sentence.log_scores) & np.isfinite(values)
    return sentence.elimination.arc_covariance(np.where(possible, values, 0.0))


def _powered(sentence: Sentence, alpha: float) -> Sentence:
    """The sentence with the alpha-th powers of its weights; forbidden arcs stay so."""
    scores = np.where(np.isfinite(sentence.log_scores), alpha * sentence.log_scores, -np.inf)
    return replace(sentence, log_scores=scores)


def _wrong(sentence: Sentence, gold: Heads) -> Float:
    """1 for arcs that give a word another head than the known one."""
    wrong = np.zeros((sentence.n + 1, sentence.n + 1))
    known = np.flatnonzero(gold >= 0)
    wrong[:, known + 1] = 1.0
    wrong[gold[known], known + 1] = 0.0
    return wrong


@dataclass(frozen=True)
class Quantity:
    """A line of the register.

    Attributes:
        value, gradient: functions of a sentence and what else is `needed`; without gradient None.
        needed: names of that, out of `alpha`, `other` (a sentence), `gold` (heads), `features` (n+1, n+1, R), `target`
            (R,).
    """

    name: str
    value: Callable[..., Any]
    gradient: Callable[..., Float] | None
    needed: tuple[str, ...] = ()

    def given(self, **known: Any) -> tuple[Any, ...]:
        """What the functions take besides the sentence, out of what is known."""
        return tuple(known[name] for name in self.needed)


_LINES = (
    Quantity("entropy", entropy, entropy_gradient),
    Quantity("renyi", renyi, renyi_gradient, ("alpha",)),
    Quantity("kl", kl, kl_gradient, ("other",)),
    Quantity("cross-entropy", cross_entropy, cross_entropy_gradient, ("other",)),
    Quantity("risk", risk, risk_gradient, ("gold",)),
    Quantity("attachment", attachment, attachment_gradient, ("gold",)),
    Quantity("features", expected_features, expected_features_gradient, ("features",)),
    Quantity("covariance", feature_covariance, None, ("features",)),
    Quantity("ge", generalised_expectation, generalised_expectation_gradient, ("features", "target")),
)

QUANTITIES: dict[str, Quantity] = {line.name: line for line in _LINES}


def quantity(name: str) -> Quantity:
    """The quantity of that name."""
    if name not in QUANTITIES:
        raise DeptreeError(f"there is no quantity {name!r}", f"Choose one of {', '.join(QUANTITIES)}")
    return QUANTITIES[name]
