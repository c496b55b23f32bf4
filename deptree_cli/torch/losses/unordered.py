"""The unordered set estimator: what trees drawn without replacement say of the first draw (Kool et al. 2020).

Of trees drawn one after another, the set S is known and the order forgotten. The chance that tree s came first is
p(s) R(S, s), R(S, s) the leave-one-out ratio P(the rest of S is drawn next, given s) / P(S is drawn). The chance that t
came next is its p among the others, times such a ratio again. The probability that S is drawn is

    integral over x > 0 of exp(-x) times the product over s in S of (1 - exp(-x p(s) / (1 - sum of p over S))):

in continuous time, all of S come before the first of the others. A tree left out is a factor left out.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Float

# The trapezoidal rule in log x converges geometrically for such integrands: a step of 0.3 gives 10 digits, one of 0.2
# gives 14.
STEP = 0.1
LOWEST = -45.0  # the part below is less than e^-45 of the whole, for the product of factors increases with x

# What rounding leaves of the probability of all trees but those drawn, where it is less than that.
LEAST_REST = 1e-16


def first_and_next(log_probs: Float, exhausted: bool) -> tuple[Float, Float]:
    """Return the chances of trees to have been drawn first, and weights for an average that does not depend on that.

    O(k^2) for k trees, 600 points for each pair.

    Args:
        log_probs: (k,), of the distinct trees; k at least 2 unless there are no more.
        exhausted: whether these are all trees.

    Returns:
        first: (k,), P(s came first | S); they sum to 1.
        average: (k, k), row s: p(s) for s itself, and (1 - p(s)) P(t came next | S, s came first) for the others. Rows
            sum to 1. Given that s came first, the average of a function with these weights expects its mean, whatever
            s: a baseline without bias.
    """
    probs = np.exp(log_probs)
    if exhausted:
        return probs / probs.sum(), np.broadcast_to(probs / probs.sum(), (len(probs), len(probs)))
    rest = max(1.0 - float(probs.sum()), LEAST_REST)
    logs, integrand = _factors(log_probs - np.log(rest))
    highest = int(integrand.argmax())
    scale, mass = -logs[highest], np.exp(integrand - integrand[highest])
    without = np.exp(-logs - scale)  # one factor left out, of the order of 1 where the mass is
    first = np.exp(log_probs + scale - (log_probs + scale).max()) * (mass @ without)
    pairs = (without * mass[:, None]).T @ without  # two left out
    average = pairs * np.exp(log_probs + scale - (log_probs + scale).max())
    np.fill_diagonal(average, 0.0)
    others = probs.sum() - probs + rest
    average *= (others / average.sum(axis=1))[:, None]
    np.fill_diagonal(average, probs)
    return first / first.sum(), average


def _factors(log_rates: Float) -> tuple[Float, Float]:
    """log(1 - exp(-a x)) for every point and tree, (points, k), and the logarithm of the integrand, (points,)."""
    k = len(log_rates)
    log_x = np.arange(LOWEST, np.log(k + 40.0 + 10.0 * np.sqrt(k + 1.0)), STEP)
    exponents = log_x[:, None] + log_rates
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.where(exponents < -37.0, exponents, np.log(-np.expm1(-np.exp(exponents))))
    return logs, log_x - np.exp(log_x) + logs.sum(axis=1)
