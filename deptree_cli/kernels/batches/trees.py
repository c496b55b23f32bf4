"""Log-probabilities of trees of many sentences."""

from __future__ import annotations

from deptree_cli.kernels.batches.packed import matrix
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.trees import tree_scores


@kernel(allocates=True)
def tree_log_probs(log_weights, lengths, log_z, heads, starts, out):
    """Fill out (B, K) with the log-probabilities of K trees of each sentence, heads (K, n) from its start (B,) on.

    log_weights: matrices of shifted scores, one after another; log_z: (B,), of these.
    """
    size = out.shape[1]
    for b in range(lengths.shape[0]):
        n = lengths[b]
        trees = heads[starts[b] : starts[b] + size * n].reshape(size, n)
        tree_scores.tree_log_probs(matrix(log_weights, b), log_z[b], trees, out[b])
