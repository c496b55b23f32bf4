"""Entropies of a distribution, in nats, and their gradients; absolute rounding errors are about 1e-13."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.expectations.base import NUMBER, Input, arc_covariance, expected_sum

# From here to 1 the quotients of differences below have lost three digits, and Gauss's rule with two nodes loses none.
NEAR = 1e-3
NODES = (0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5)

ORDER = Input("order", NUMBER, "The order")


def entropy(distribution: ArcFactored) -> float:
    """Shannon entropy: log Z - E[log-score]."""
    return _surprisal(distribution, distribution)


def entropy_gradient(distribution: ArcFactored) -> Float:
    """Compute minus the covariance of each arc with the log-score, (n+1, n+1)."""
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
    """The nodes of Gauss's rule between 1 and an order."""
    return [1.0 + node * (order - 1.0) for node in NODES]
