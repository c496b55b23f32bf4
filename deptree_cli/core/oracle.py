"""Every tree of a small sentence, by enumeration: what audits and tests look at.

n^(n-1) single-root and (n+1)^(n-1) multi-root trees on a complete graph (Cayley), of which binom(3n-2, n-1) / n and
binom(3n, n) / (2n+1) are projective: up to n = 6 or 7 this is a moment's work.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace

LARGEST_N = 7


def all_trees(n: int, space: TreeSpace = SINGLE_ROOT) -> Heads:
    """Every tree of a space over n words, (trees, n) heads in lexicographic order."""
    if n > LARGEST_N:
        raise ValueError(f"{n} words have too many trees to enumerate; at most {LARGEST_N}")
    choices = [[head for head in range(n + 1) if head != word] for word in range(1, n + 1)]
    candidates = np.stack([column.ravel() for column in np.meshgrid(*choices, indexing="ij")], axis=1)
    return candidates[space.contains(candidates)].astype(np.int32)
