"""A tree as a sequence of choices: the state machine under sampling without replacement (Stanojevic 2022, section 5.1).

The choices are the root (under the single-root constraint), then the head of every other word from left to right. Their
conditional distributions come as logarithms that are accurate however small the probability, because nothing is
subtracted on the way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.numbers import WIDE, shift_columns
from deptree_cli.core.sentence import Sentence
from deptree_cli.kernels.head_distribution import FREE, head_probs
from deptree_cli.kernels.wide import wide_log

Float = NDArray[np.float64]
Prefix = tuple[int, ...]


class Conditionals:
    """The conditional distribution of each choice of a sentence's tree given the choices before it.

    A prefix is a tuple of choices; a complete one, of length `depth`, is a tree.
    """

    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._weights = WIDE.exp(shift_columns(sentence.log_scores, sentence.single_root)[0])
        self._workspace = WIDE.zeros((sentence.n, sentence.n)), WIDE.zeros(sentence.n)
        self.depth = sentence.n

    def log_probs(self, prefix: Prefix) -> Float:
        """Log-probability of each value 0..n of the choice after `prefix`; O(m^3) with m words open."""
        if self._sentence.single_root and not prefix:
            return self._sentence.elimination.log_root_marginals()
        root, words = self._root_and_words(prefix)
        done = len(prefix) - (1 if self._sentence.single_root else 0)
        heads = np.full(self._sentence.n + 1, FREE)
        heads[words[:done]] = prefix[len(prefix) - done :]
        out = WIDE.zeros(self._sentence.n + 1)
        head_probs(self._weights, root, heads, words[done], *self._workspace, out)
        return wide_log(out)

    def heads(self, prefix: Prefix) -> NDArray[np.int32]:
        """The tree of a complete prefix, (n,) heads."""
        root, words = self._root_and_words(prefix)
        heads = np.zeros(self._sentence.n + 1, dtype=np.int32)
        heads[words] = prefix[1:] if root else prefix
        return heads[1:]

    def _root_and_words(self, prefix: Prefix) -> tuple[int, list[int]]:
        """The node the tree hangs on (ROOT for spanning trees) and the words whose heads are chosen, in order."""
        root = prefix[0] if self._sentence.single_root else 0
        return root, [word for word in range(1, self._sentence.n + 1) if word != root]


def pick(log_weights: Float, rng: np.random.Generator) -> int:
    """An index drawn in proportion to exp(log_weights); never one of weight 0."""
    weights = np.exp(log_weights - log_weights.max())
    cumulative = np.cumsum(weights)
    cumulative[np.flatnonzero(weights)[-1] :] = np.inf
    return int(np.searchsorted(cumulative, rng.random() * weights.sum(), side="right"))


def goes_on(log_left: float, mass: float) -> bool:
    """Whether trees are left, and those drawn have less probability than `mass`; log_left: what is left."""
    return log_left > -np.inf and not (mass < 1.0 and np.exp(log_left) <= 1.0 - mass)


def log_sum(log_values: Float) -> float:
    """log of the sum of exponentials; -inf for a sum of nothing."""
    return float(np.logaddexp.reduce(log_values))
