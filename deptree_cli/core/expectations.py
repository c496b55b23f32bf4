"""Expectations under a sentence's tree distribution (Zmigrod et al. 2021b)."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.sentence import Sentence


def entropy(sentence: Sentence) -> float:
    """Shannon entropy in nats: log Z - sum of P(arc) times the arc's log-score; O(n^3)."""
    marginals = sentence.elimination.marginals()
    scores = np.where(marginals > 0, sentence.log_scores, 0.0)
    return sentence.elimination.log_z - float((marginals * scores).sum())
