"""Expectations under a distribution over trees and their gradients (Zmigrod et al. 2021b): the register.

Values are sums over arcs of marginals times something additive (their first-order expectations), O(n^3). Gradients are
with respect to the log-scores, (n+1, n+1): each is one covariance of arcs with a direction, O(n^3) too, and 0 for
forbidden arcs.

To add one, write it in a file of this folder, with the inputs that it needs, and give it an entry below.
"""

from __future__ import annotations

from deptree_cli.core.expectations.base import Input, Quantity, expected_sum
from deptree_cli.core.expectations.divergences import (
    OTHER,
    cross_entropy,
    cross_entropy_gradient,
    gradient_other,
    kl,
    kl_gradient,
)
from deptree_cli.core.expectations.entropies import ORDER, entropy, entropy_gradient, renyi, renyi_gradient
from deptree_cli.core.expectations.features import (
    FEATURES,
    TARGET,
    expected_features,
    expected_features_gradient,
    feature_covariance,
    generalised_expectation,
    generalised_expectation_gradient,
)
from deptree_cli.core.expectations.risks import GOLD, attachment, attachment_gradient, risk, risk_gradient
from deptree_cli.core.register import Register

QUANTITIES: Register[Quantity] = Register(
    "quantity",
    (
        Quantity("entropy", entropy, entropy_gradient),
        Quantity("renyi", renyi, renyi_gradient, (ORDER,)),
        Quantity("kl", kl, kl_gradient, (OTHER,), gradient_other),
        Quantity("cross-entropy", cross_entropy, cross_entropy_gradient, (OTHER,), gradient_other),
        Quantity("risk", risk, risk_gradient, (GOLD,)),
        Quantity("attachment", attachment, attachment_gradient, (GOLD,)),
        Quantity("features", expected_features, expected_features_gradient, (FEATURES,), scalar=False),
        Quantity("covariance", feature_covariance, None, (FEATURES,), scalar=False),
        Quantity("ge", generalised_expectation, generalised_expectation_gradient, (FEATURES, TARGET)),
    ),
)

__all__ = ["QUANTITIES", "Input", "Quantity", "cross_entropy", "entropy", "expected_sum", "kl", "renyi"]
