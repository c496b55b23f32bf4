"""Log-probabilities of trees from pairs of scores."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.kernels.trees.tree_scores import tree_log_probs


def test_log_probabilities_of_trees_that_masks_are_part_of() -> None:
    """Only differences count: to 16 digits beside scores of 9e14; and a forbidden arc is no arc."""
    high = np.full((3, 3), -np.inf)
    high[0, 1], high[0, 2], high[1, 2], high[2, 1] = -9e14, -9e14, 0.0, -0.4
    low = np.zeros((3, 3))
    low[0, 1] = 0.025
    out = np.empty(3)
    trees = np.array([[0, 1], [2, 0], [2, 2]], dtype=np.int64)
    tree_log_probs(high, low, (-9e14, 1 / 64), trees, out)
    assert out.tolist() == [pytest.approx(0.025 - 1 / 64, rel=1e-14), pytest.approx(-0.4 - 1 / 64, rel=1e-14), -np.inf]
