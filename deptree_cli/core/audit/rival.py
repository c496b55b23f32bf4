"""The tree with which `detectable_tv` mixes a distribution: a plausible error, always the same."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads


def rival_tree(distribution: ArcFactored, marginals: Float) -> Heads | None:
    """The best tree in which the least certain word has its second most likely head, (n,); None if there is one tree.

    The least certain word: the one whose most likely head is the least likely. marginals: (n+1, n+1), the exact ones.
    """
    marginals, support = marginals[:, 1:], distribution.support[:, 1:]
    open_words = np.flatnonzero(support.sum(axis=0) >= 2)
    if not len(open_words):
        return None
    word = open_words[np.argmin(marginals[:, open_words].max(axis=0))]
    ranked = np.argsort(-np.where(support[:, word], marginals[:, word], -1.0), kind="stable")
    scores = distribution.possible_scores.copy()
    scores[np.arange(len(scores)) != ranked[1], word + 1] = -np.inf
    return distribution.space.maximum_tree(scores)[0]
