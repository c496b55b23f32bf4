"""Expectations under a distribution over trees and their gradients (Zmigrod et al. 2021b): the register.

Values are sums over arcs of marginals times something additive (their first-order expectations), O(n^3). Gradients are
with respect to the log-scores, (n+1, n+1): each is one covariance of arcs with a direction, O(n^3) too, and 0 for
forbidden arcs.

To add one, write it in a file of this folder, with the inputs that it needs, and give it an entry below.
"""

from __future__ import annotations

from operator import attrgetter

from deptree_cli.core.expectations import divergences, features, risks
from deptree_cli.core.expectations.base import Input, Quantity, expected_sum
from deptree_cli.core.expectations.divergences import OTHER, cross_entropy, gradient_other, kl
from deptree_cli.core.expectations.entropies import ORDER, entropy, entropy_gradient, renyi, renyi_gradient
from deptree_cli.core.expectations.features import FEATURES, TARGET
from deptree_cli.core.register import Register

QUANTITIES: Register[Quantity] = Register(
    "quantity",
    (
        Quantity("entropy", entropy, entropy_gradient, of_many=attrgetter("entropies")),
        Quantity("renyi", renyi, renyi_gradient, (ORDER,)),
        Quantity("kl", kl, divergences.kl_gradient, (OTHER,), gradient_other),
        Quantity("cross-entropy", cross_entropy, divergences.cross_entropy_gradient, (OTHER,), gradient_other),
        Quantity("risk", risks.risk, risks.risk_gradient, (risks.GOLD,)),
        Quantity("attachment", risks.attachment, risks.attachment_gradient, (risks.GOLD,)),
        Quantity("features", features.expected, features.expected_gradient, (FEATURES,), scalar=False),
        Quantity("covariance", features.covariance, None, (FEATURES,), scalar=False),
        Quantity("ge", features.generalised, features.generalised_gradient, (FEATURES, TARGET)),
    ),
)

__all__ = ["QUANTITIES", "Input", "Quantity", "cross_entropy", "entropy", "expected_sum", "kl", "renyi"]
