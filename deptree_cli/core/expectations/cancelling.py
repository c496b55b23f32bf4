"""Differences that cancel, once more in precise numbers: entropies and divergences that are small beside their terms.

Every function takes distributions with log-scores as they were shifted, of which neither offsets nor masks are left.
"""

from __future__ import annotations

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.kernels.numbers.pairs import (
    LOG_RADIX,
    add_product,
    inner_of_pairs,
    multiple_of_radix,
    pair_add,
    pair_divide,
    pair_multiply,
    two_product,
)

Pair = tuple[float, float]


def entropy(distribution: ArcFactored) -> float:
    """log Z - E[log-score]."""
    sums = distribution.precise()
    log_z = multiple_of_radix(sums.log_z, sums.exponent)
    return float(pair_add(log_z, minus(expected_log_score(distribution, distribution)))[0])


def kl(distribution: ArcFactored, other: ArcFactored) -> float:
    """E[difference of log-scores] - log Z + log Z of the other."""
    ours, theirs = distribution.precise(), other.precise()
    expected = pair_add(expected_log_score(distribution, distribution), minus(expected_log_score(distribution, other)))
    log_ratio = pair_add(theirs.log_z, minus(ours.log_z))
    return float(pair_add(expected, multiple_of_radix(log_ratio, theirs.exponent - ours.exponent))[0])


def renyi(distribution: ArcFactored, order: float) -> float:
    """(log Z of the power - order log Z) / (1 - order), for an order near 1."""
    powered, plain = distribution.precise(order), distribution.precise()
    log_ratio = pair_add(powered.log_z, minus(pair_multiply(plain.log_z, (order, 0.0))))
    # exponents may be as large as masks; their difference is exact
    turns, rest = add_product((powered.exponent, 0.0), -order, plain.exponent)
    log_ratio = pair_add(log_ratio, pair_multiply((turns, rest), LOG_RADIX[:2]))
    log_ratio = pair_add(log_ratio, two_product(turns, LOG_RADIX[2]))
    return float(pair_divide(log_ratio, (1.0 - order, 0.0))[0])


def marginals_moved(distribution: ArcFactored, order: float) -> Float:
    """The marginals of the distribution's power minus its own, (n+1, n+1)."""
    (high, low), (other, rest) = distribution.precise(order).marginals, distribution.precise().marginals
    return (high - other) + (low - rest)


def expected_log_score(distribution: ArcFactored, scored: ArcFactored) -> Pair:
    """The expectation of a tree's log-score, as it was shifted, by the scores of the same distribution or another."""
    shifted = scored.factorisation.shifted
    arrays = (*distribution.precise().marginals, shifted.high, shifted.low)
    return inner_of_pairs(*(array.ravel() for array in arrays))


def minus(x: Pair) -> Pair:
    """The pair of the negative number."""
    return -x[0], -x[1]
