"""Entropies of a distribution, in nats, and their gradients."""

from __future__ import annotations

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.expectations.base import NUMBER, Input, arc_covariance, cancels, expected_sum
from deptree_cli.core.shifted import is_large

# From here to 1 an order takes more than a digit and a half off differences.
NEAR = 0.03

ORDER = Input("order", NUMBER, "The order", formerly=("alpha",))


def entropy(distribution: ArcFactored) -> float:
    """Shannon entropy: log Z - E[log-score]."""
    factorisation = distribution.factorisation
    scores = factorisation.shifted.high
    log_z, expected = factorisation.shifted_log_z[0], expected_sum(distribution, scores)
    found = log_z - expected
    if not (cancels(found, log_z, expected) or is_large(scores, distribution.marginals())):
        return found
    if _is_certain(distribution):
        return 0.0
    from deptree_cli.core.expectations import cancelling  # loads kernels: only where they are needed

    return cancelling.entropy(distribution)


def entropy_gradient(distribution: ArcFactored) -> Float:
    """Compute minus the covariance of each arc with the log-score, (n+1, n+1)."""
    high, low, _ = distribution.factorisation.shifted
    return -arc_covariance(distribution, high, low)


def renyi(distribution: ArcFactored, order: float) -> float:
    """Renyi's entropy of order a: (log Z of log-scores times a, less a log Z) / (1 - a); Shannon's at a = 1."""
    if order == 1.0:
        return entropy(distribution)
    if not _is_near_one(order):
        powered = distribution.powered(order)
        times = order * distribution.factorisation.shifted_log_z[0]
        difference = powered.log_partition - times
        if not (cancels(difference, powered.log_partition, times) or _masks_count(powered)):
            return difference / (1.0 - order)
    if _is_certain(distribution):
        return 0.0
    from deptree_cli.core.expectations import cancelling  # loads kernels: only where they are needed

    return cancelling.renyi(distribution, order)


def _masks_count(distribution: ArcFactored) -> bool:
    """Whether an arc of positive probability has a large score; marginals are computed only if some arc has one."""
    scores = distribution.log_scores
    return is_large(scores) and is_large(scores, distribution.marginals())


def renyi_gradient(distribution: ArcFactored, order: float) -> Float:
    """Compute alpha (P_alpha - P) / (1 - alpha), P_alpha the marginals of the alpha-th power of the distribution."""
    if order == 1.0:
        return entropy_gradient(distribution)
    if _is_near_one(order):
        from deptree_cli.core.expectations import cancelling  # loads kernels: only where they are needed

        moved = cancelling.marginals_moved(distribution, order)
    else:
        moved = distribution.powered(order).marginals() - distribution.marginals()
    return order * moved / (1.0 - order)


def _is_certain(distribution: ArcFactored) -> bool:
    """Whether there is one tree only."""
    return int(distribution.support.sum()) == distribution.n


def _is_near_one(order: float) -> bool:
    """Whether the differences in the formulas cancel whatever the distribution."""
    return abs(order - 1.0) < NEAR
