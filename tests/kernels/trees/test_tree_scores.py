"""Log-probabilities of trees from log-weights."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.trees.tree_scores import tree_log_probs


def test_sums_of_log_weights_less_log_z() -> None:
    """A forbidden arc is no arc."""
    log_weights = np.full((3, 3), -np.inf)
    log_weights[0, 1], log_weights[0, 2], log_weights[1, 2], log_weights[2, 1] = -8.0, -2.0, 0.0, -0.5
    out = np.empty(3)
    tree_log_probs(log_weights, -0.25, np.array([[0, 1], [2, 0], [2, 2]], dtype=np.int64), out)
    assert out.tolist() == [-7.75, -2.25, -np.inf]
