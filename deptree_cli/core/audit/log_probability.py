"""Are trees as probable as they should be? Their mean log-probability against minus the entropy.

By Chernoff's bound P(mean log p >= a) <= exp(-k (s a - K(s))) for every s > 0, and for mean log p <= a with s < 0,
where K(s) = log sum_t p(t)^(1+s) = log Z((1+s) theta) - (1+s) log Z(theta). It falls with a for every s, so the
smallest of the bounds of a fixed grid of s is a valid p-value of either side.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.audit.binomials import DEPTH

# s in units of one over the standard deviation of the sum: the best one for a mean as many standard deviations off.
GRID = (3.0, 4.0, 5.0, 6.5, 9.0, 14.0, 30.0)

# Powers of the distribution from which its weights are summed: 1 + s.
SMALLEST_POWER = 0.05

# Below this variance all trees are equally probable up to rounding.
LEAST_VARIANCE = 1e-12


class LogProbability:
    """The exact moments of a random tree's log-probability, and the bounds on the tails of its mean.

    log p is a tree's log-weight by the shifted scores less a constant; means and variances are of that log-weight.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        scores = distribution.factorisation.shifted.log_weights
        self._distribution, self._scores = distribution, scores
        self._finite = np.where(np.isfinite(scores), scores, 0.0)
        self._expected = float((distribution.marginals() * self._finite).sum())

    @cached_property
    def variance(self) -> float:
        """Of the log-probability of one tree: the covariance of the log-weight with itself."""
        covariance = self._distribution.factorisation.arc_covariance(self._finite)
        return float((covariance * self._finite).sum())

    def z_score(self, mean: float, size: int) -> float | None:
        """Of the mean log-weight of size trees; None where all trees are equally probable."""
        if self.variance <= LEAST_VARIANCE:
            return None
        return float((mean - self._expected) * np.sqrt(size / self.variance))

    def p_value(self, mean: float, size: int) -> float:
        """Twice the smallest bound on the side of the mean, at most 1; 1 without a look at less than two deviations."""
        z_score = self.z_score(mean, size)
        if z_score is None or abs(z_score) < 2.0:
            return 1.0
        side = np.sign(z_score) / np.sqrt(size * self.variance)
        exponents = [self._exponent(side * z, mean, size) for z in GRID if 1.0 + side * z >= SMALLEST_POWER]
        return min(1.0, 2.0 * float(np.exp(-max([0.0, *exponents]))))

    def _exponent(self, s: float, mean: float, size: int) -> float:
        """size (s a - K(s)) for a = mean - log_total, less what rounding may have added."""
        log_z = self._distribution.factorisation.shifted_log_z
        raised_to = float(self._distribution.space.factorise((1.0 + s) * self._scores).log_z)
        sizes = abs(mean) + abs(raised_to) + abs(log_z) + DEPTH
        rounding = 8.0 * float(np.finfo(float).eps) * (self._distribution.n + 1) * sizes
        return size * (s * mean - (raised_to - log_z) - rounding)
