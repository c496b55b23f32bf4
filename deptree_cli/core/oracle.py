"""Every tree of a small sentence, by enumeration: what everything else is held against.

n^(n-1) single-root and (n+1)^(n-1) multi-root trees on a complete graph (Cayley): up to n = 6 or 7 this is a moment's
work.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.sentence import Sentence

LARGEST_N = 7


def is_tree(heads: NDArray[np.integer] | tuple[int, ...], single_root: bool = True) -> bool:
    """Whether heads (n,) form a tree over ROOT (0) and the words 1..n, with one ROOT arc if `single_root`."""
    n = len(heads)
    roots = sum(1 for head in heads if head == 0)
    if roots == 0 or (single_root and roots != 1) or any(not 0 <= head <= n for head in heads):
        return False
    safe = {0}
    for word in range(1, n + 1):
        path: list[int] = []
        while word not in safe:
            if len(path) == n:
                return False
            path.append(word)
            word = int(heads[word - 1])
        safe.update(path)
    return True


def all_trees(n: int, single_root: bool = True) -> Iterator[tuple[int, ...]]:
    """The heads of every tree over n words, in lexicographic order."""
    if n > LARGEST_N:
        raise ValueError(f"{n} words have too many trees to enumerate; at most {LARGEST_N}")
    choices = [[head for head in range(n + 1) if head != word] for word in range(1, n + 1)]
    return (heads for heads in product(*choices) if is_tree(heads, single_root))


class Oracle:
    """A sentence's exact tree distribution.

    Attributes:
        trees: (trees, n) heads of every tree of positive weight.
        log_probs: (trees,) their log-probabilities.
        log_z: the partition function's logarithm.
    """

    def __init__(self, sentence: Sentence) -> None:
        trees = np.array(list(all_trees(sentence.n, sentence.single_root)), dtype=np.int32)
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
