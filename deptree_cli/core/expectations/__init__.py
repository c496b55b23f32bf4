"""Expectations under a distribution over trees and their gradients (Zmigrod et al. 2021b).

Values are sums over arcs of marginals times something additive (their first-order expectations), O(n^3). Gradients are
with respect to the log-scores, (n+1, n+1): each is one covariance of arcs with a direction, O(n^3) too, and 0 for
forbidden arcs.

To add one, write it in a file of this folder, with the inputs that it needs, and give it an entry below: all entries
are in the register of quantities (`core/quantities.py`).
"""

from __future__ import annotations

from operator import attrgetter

from deptree_cli.core.expectations import divergences, features, risks
from deptree_cli.core.expectations.base import Input, OfDistribution, expected_sum
from deptree_cli.core.expectations.divergences import OTHER, cross_entropy, gradient_other, kl
from deptree_cli.core.expectations.entropies import ORDER, entropy, entropy_gradient, renyi, renyi_gradient
from deptree_cli.core.expectations.features import FEATURES, TARGET

OF_DISTRIBUTIONS = (
    OfDistribution("entropy", entropy, entropy_gradient, of_many=attrgetter("entropies")),
    OfDistribution("renyi", renyi, renyi_gradient, (ORDER,)),
    OfDistribution("kl", kl, divergences.kl_gradient, (OTHER,), gradient_other),
    OfDistribution("cross-entropy", cross_entropy, divergences.cross_entropy_gradient, (OTHER,), gradient_other),
    OfDistribution("risk", risks.risk, risks.risk_gradient, (risks.GOLD,)),
    OfDistribution("attachment", risks.attachment, risks.attachment_gradient, (risks.GOLD,)),
    OfDistribution("features", features.expected, features.expected_gradient, (FEATURES,), scalar=False),
    OfDistribution("covariance", features.covariance, None, (FEATURES,), scalar=False),
    OfDistribution("ge", features.generalised, features.generalised_gradient, (FEATURES, TARGET)),
)

__all__ = ["OF_DISTRIBUTIONS", "Input", "OfDistribution", "cross_entropy", "entropy", "expected_sum", "kl", "renyi"]
