"""A fifth tree space, as a stranger adds it: one file and one entry. In its trees heads stand before their dependents.

ROOT stands before all words, so any choice of earlier heads is such a tree, and each word chooses by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.spaces import GeneralSpace

Float = NDArray[np.float64]


@dataclass(frozen=True)
class HeadsFirst(GeneralSpace):
    """Every head precedes its dependents; one ROOT arc or more."""

    def allows(self, heads, words):
        """See `Rules`."""
        return heads < words

    def log_partition(self, log_scores):
        """See `GeneralSpace`: the product over words of the sums over earlier heads."""
        return float(np.logaddexp.reduce(_allowed(log_scores)[:, 1:], axis=0).sum())

    def maximum_tree(self, scores):
        """See `TreeSpace`: every word's best earlier head."""
        allowed = _allowed(scores)[:, 1:]
        return allowed.argmax(axis=0).astype(np.int32), float(allowed.max(axis=0).sum())


def _allowed(scores):
    return np.where(np.tri(len(scores), dtype=bool), -np.inf, scores)


HEADS_FIRST = HeadsFirst("heads-first", "trees whose heads all precede their dependents", single_root=False)
