"""The marginals of long sentences by sums of products, on short ones, against those of the sweep backwards."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE
from deptree_cli.core.spaces import space
from deptree_cli.core.spaces.projective import Eisner
from deptree_cli.core.spaces.shifted import shift


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [1, 2, 5, 9, 30])
def test_both_kinds_of_numbers(single_root: bool, n: int) -> None:
    rng = np.random.default_rng(n)
    scores = rng.normal(0.0, 3.0, (n + 1, n + 1))
    scores[(rng.random(scores.shape) < 0.2) & (np.abs(np.subtract.outer(*2 * [np.arange(n + 1)])) > 1)] = -np.inf
    scores[np.eye(n + 1, dtype=bool)] = scores[:, 0] = -np.inf
    trees = space(single_root, projective=True)
    real, wide = (Eisner.of(shift(scores, trees), trees, kind) for kind in (REAL, WIDE))
    assert wide.log_z == pytest.approx(real.log_z, rel=1e-14, abs=1e-13)
    np.testing.assert_allclose(wide.marginals(), real.marginals(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("single_root", [True, False])
def test_weights_far_apart_and_their_derivatives(single_root: bool) -> None:
    """Float64 has not the range: each marginal is the slope of log Z in the score of its arc."""
    n, step = 6, 1e-6
    trees, rng = space(single_root, projective=True), np.random.default_rng(2)
    scores = rng.normal(0.0, 1000.0, (n + 1, n + 1)).round()
    scores[:, 3] += 0.5 * rng.normal(size=n + 1) - scores[:, 3]
    scores[np.eye(n + 1, dtype=bool)] = scores[:, 0] = -np.inf

    def log_z(values: np.ndarray) -> float:
        return Eisner.of(shift(values, trees), trees, WIDE).log_z

    marginals = Eisner.of(shift(scores, trees), trees, WIDE).marginals()
    for head in range(n + 1):
        for word in range(1, n + 1):
            if head != word:
                change = np.zeros_like(scores)
                change[head, word] = step
                slope = (log_z(scores + change) - log_z(scores - change)) / (2 * step)
                assert marginals[head, word] == pytest.approx(slope, abs=1e-5)
