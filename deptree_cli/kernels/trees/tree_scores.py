"""Log-probabilities of given trees, from shifted scores and log Z."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel


@kernel
def tree_log_probs(log_weights, log_z, trees, out):
    """Fill out (k,) with log-probabilities of trees (k, n), int32 heads, from log-weights of arcs (n+1, n+1) and log Z.

    -inf where an arc is forbidden.
    """
    for t in range(trees.shape[0]):
        total = 0.0
        for word in range(1, log_weights.shape[0]):
            total += log_weights[trees[t, word - 1], word]
        out[t] = total - log_z
