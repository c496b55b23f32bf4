"""What the tests of this folder share: sums by enumeration, and whether a factorisation has the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import space
from deptree_cli.core.spaces.nonprojective import Elimination
from tests.oracle import Oracle

Float = NDArray[np.float64]


class Exact:
    """Sums over all trees, normalised once more: an oracle's log-probabilities are as coarse as its log-weights are
    large."""

    def __init__(self, log_scores: Float, single_root: bool = True) -> None:
        self.log_scores, self.single_root = log_scores, single_root
        self.oracle = Oracle(TreeDistribution(log_scores, single_root=single_root))
        self.log_z = self.oracle.log_z

    def marginals(self) -> Float:
        """P(head -> dependent), (n+1, n+1)."""
        marginals = self.oracle.marginals()
        marginals[:, 1:] /= marginals[:, 1:].sum(axis=0)
        return marginals

    def log_root_marginals(self) -> Float:
        """log P(ROOT -> word), (n+1,), without leaving the logarithms."""
        log_probs = self.oracle.log_probs - np.logaddexp.reduce(self.oracle.log_probs)
        n = len(self.log_scores) - 1
        masses = [np.logaddexp.reduce(log_probs[self.oracle.trees[:, w] == 0], initial=-np.inf) for w in range(n)]
        return np.array([-np.inf, *masses])

    def check(self, atol: float = 1e-12) -> Elimination:
        """Factorise; log Z, marginals and root marginals of every kind must be those of enumeration."""
        factors = space(self.single_root).factorise(self.log_scores)
        marginals = self.marginals()
        assert factors.log_z == pytest.approx(self.log_z, rel=1e-14, abs=1e-13)
        np.testing.assert_allclose(factors.marginals(), marginals, rtol=0, atol=atol)
        np.testing.assert_allclose(factors.root_marginals(), marginals[0], rtol=0, atol=atol)
        if self.single_root:
            self.check_log_root_marginals(factors)
        return factors

    def check_log_root_marginals(self, factors: Elimination) -> None:
        """Of every word, however unlikely as a root."""
        found, exact = factors.log_root_marginals(), self.log_root_marginals()
        assert (np.isfinite(found) == np.isfinite(exact)).all()
        possible = np.isfinite(exact)
        coarse = 1e-15 * abs(self.log_z)  # logarithms as large as log Z are subtracted
        np.testing.assert_allclose(found[possible], exact[possible], rtol=1e-14, atol=1e-13 + coarse)


@pytest.fixture(scope="session")
def exact() -> type[Exact]:
    """The class: `exact(log_scores, single_root)`."""
    return Exact
