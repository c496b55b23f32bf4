"""Marginals in multi-precision arithmetic: slow, and right to dozens of digits whatever the scores."""

from __future__ import annotations

import mpmath
import numpy as np

from deptree_cli.core.distribution import TreeDistribution

# Enough for the inverse of a Laplacian whose entries are e^-500 and more apart.
DIGITS = 400


def marginals(distribution: TreeDistribution) -> np.ndarray:
    """P(head -> dependent), (n+1, n+1), single-root, by Koo et al. 2007 in `DIGITS` digits."""
    with mpmath.workdps(DIGITS):
        weights = [
            [mpmath.exp(float(x)) if np.isfinite(x) else mpmath.mpf(0) for x in row] for row in distribution.log_scores
        ]
        B = (_laplacian(weights) ** -1).T
        n = distribution.n
        result = np.zeros((n + 1, n + 1))
        for j in range(n):
            result[0, j + 1] = weights[0][j + 1] * B[0, j]
            own = B[j, j] if j else 0
            for i in range(n):
                result[i + 1, j + 1] = weights[i + 1][j + 1] * (own - (B[i, j] if i else 0))
    return result


def _laplacian(weights: list[list[mpmath.mpf]]) -> mpmath.matrix:
    n = len(weights) - 1
    laplacian = mpmath.matrix(n, n)
    for j in range(n):
        for i in range(n):
            laplacian[i, j] = -weights[i + 1][j + 1]
        laplacian[j, j] = mpmath.fsum(weights[i + 1][j + 1] for i in range(n) if i != j)
        laplacian[0, j] = weights[0][j + 1]
    return laplacian
