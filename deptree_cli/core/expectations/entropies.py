"""Entropies of a distribution, in nats, and their gradients."""

from __future__ import annotations

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.expectations.base import NUMBER, Input, arc_covariance, expected_sum

ORDER = Input("order", NUMBER, "The order", formerly=("alpha",))


def entropy(distribution: ArcFactored) -> float:
    """Shannon entropy: log Z - E[log-score]."""
    return max(distribution.log_partition - expected_sum(distribution, distribution.log_scores), 0.0)


def entropy_gradient(distribution: ArcFactored) -> Float:
    """Compute minus the covariance of each arc with the log-score, (n+1, n+1)."""
    return -arc_covariance(distribution, distribution.log_scores)


def renyi(distribution: ArcFactored, order: float) -> float:
    """Renyi's entropy of order alpha: (log Z(alpha theta) - alpha log Z) / (1 - alpha); Shannon's at alpha = 1."""
    if order == 1.0:
        return entropy(distribution)
    powered = distribution.powered(order).log_partition
    return max((powered - order * distribution.log_partition) / (1.0 - order), 0.0)


def renyi_gradient(distribution: ArcFactored, order: float) -> Float:
    """Compute alpha (P_alpha - P) / (1 - alpha), P_alpha the marginals of the alpha-th power of the distribution."""
    if order == 1.0:
        return entropy_gradient(distribution)
    powered = distribution.powered(order).marginals()
    return order * (powered - distribution.marginals()) / (1.0 - order)
