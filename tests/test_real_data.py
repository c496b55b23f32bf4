"""Real parser output against multi-precision arithmetic: skipped where the treebanks' scores are missing."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.io.scores.layout import layout, to_head_dep

DIGITS = 150


@pytest.mark.slow("size")
@pytest.mark.parametrize("treebank", ["real_ru", "real_en"])
def test_log_z_and_marginals_of_a_trained_parser(treebank, shared):
    """20 random sentences of up to 30 words: log Z to 1e-10 relative, marginals to 1e-12 absolute."""
    with np.load(shared / treebank / "scores.npz") as archive:
        short = [key for key in archive if archive[key].shape[0] <= 30]
        for key in np.random.default_rng(3).choice(short, 20, replace=False):
            check(TreeDistribution(to_head_dep(archive[key], layout("natasha")), id=str(key)))


def check(distribution):
    log_z, marginals = exact(distribution)
    assert distribution.log_partition == pytest.approx(log_z, rel=1e-10)
    np.testing.assert_allclose(distribution.marginals(), marginals, rtol=0, atol=1e-12)
    np.testing.assert_allclose(distribution.marginals()[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-12)


def exact(distribution):
    """log Z and marginals by Koo et al. 2007 in `DIGITS` digits."""
    n = distribution.n
    with mpmath.workdps(DIGITS):
        weights = [[mpmath.exp(float(score)) for score in row] for row in distribution.log_scores]
        laplacian = mpmath.matrix(n, n)
        for j in range(n):
            for i in range(n):
                laplacian[i, j] = -weights[i + 1][j + 1]
            laplacian[j, j] = mpmath.fsum(weights[i + 1][j + 1] for i in range(n) if i != j)
            laplacian[0, j] = weights[0][j + 1]
        inverse = laplacian**-1
        marginals = np.zeros((n + 1, n + 1))
        for j in range(n):
            own = inverse[j, j] if j else 0
            marginals[0, j + 1] = weights[0][j + 1] * inverse[j, 0]
            for i in range(n):
                marginals[i + 1, j + 1] = weights[i + 1][j + 1] * (own - (inverse[j, i] if i else 0))
        return float(mpmath.log(mpmath.det(laplacian))), marginals
