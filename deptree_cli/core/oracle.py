"""Every tree of a small sentence, by enumeration: what everything else is held against.

n^(n-1) single-root and (n+1)^(n-1) multi-root trees on a complete graph (Cayley): up to n = 6 or 7 this is a moment's
work.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.sentence import Sentence

LARGEST_N = 7


def are_trees(heads: NDArray[np.integer], single_root: bool = True) -> NDArray[np.bool_]:
    """Whether each row of heads (k, n), 0 for ROOT, is a tree over the words, with one ROOT arc if `single_root`; (k,).

    Every word climbs 1, 2, 4, ... heads at a time; in a tree all have arrived at ROOT after n.
    """
    k, n = heads.shape
    valid = ((heads >= 0) & (heads <= n)).all(axis=1)
    above = np.zeros((k, n + 1), dtype=np.int64)
    above[:, 1:] = np.where(valid[:, None], heads, 0)
    for _ in range(n.bit_length()):
        above = np.take_along_axis(above, above, axis=1)
    roots = (heads == 0).sum(axis=1)
    return valid & ~above.any(axis=1) & ((roots == 1) if single_root else (roots >= 1))


def all_trees(n: int, single_root: bool = True) -> NDArray[np.int32]:
    """Every tree over n words, (trees, n) heads in lexicographic order."""
    if n > LARGEST_N:
        raise ValueError(f"{n} words have too many trees to enumerate; at most {LARGEST_N}")
    choices = [[head for head in range(n + 1) if head != word] for word in range(1, n + 1)]
    candidates = np.stack([column.ravel() for column in np.meshgrid(*choices, indexing="ij")], axis=1)
    return candidates[are_trees(candidates, single_root)].astype(np.int32)


class Oracle:
    """A sentence's exact tree distribution.

    Attributes:
        trees: (trees, n) heads of every tree of positive weight.
        log_probs: (trees,) their log-probabilities.
        log_z: the partition function's logarithm.
    """

    def __init__(self, sentence: Sentence) -> None:
        trees = all_trees(sentence.n, sentence.single_root)
        log_weights = sentence.log_weights(trees)
        possible = np.isfinite(log_weights)
        self.trees = trees[possible]
        self.log_z = float(np.logaddexp.reduce(log_weights[possible]))
        self.log_probs = log_weights[possible] - self.log_z
        self._n = sentence.n

    def marginals(self) -> NDArray[np.float64]:
        """P(head -> dependent), shape (n+1, n+1)."""
        marginals = np.zeros((self._n + 1, self._n + 1))
        for word in range(1, self._n + 1):
            np.add.at(marginals[:, word], self.trees[:, word - 1], np.exp(self.log_probs))
        return marginals
