"""Log-probabilities of given trees, from shifted scores and log Z."""

from __future__ import annotations

import math

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.pairs import pair_add


@kernel
def tree_log_probs(high, low, log_z, trees, out):
    """Fill out (k,) with log-probabilities of trees (k, n), int32 heads: scores high + low (n+1, n+1), log_z a pair.

    -inf where an arc is forbidden. Scores may be much larger than the result: nothing is rounded before the end.
    """
    for t in range(trees.shape[0]):
        total = -log_z[0], -log_z[1]
        possible = True
        for word in range(1, high.shape[0]):
            head = trees[t, word - 1]
            possible = possible and high[head, word] > -math.inf
            if possible:
                total = pair_add(total, (high[head, word], low[head, word]))
        out[t] = total[0] if possible else -math.inf
