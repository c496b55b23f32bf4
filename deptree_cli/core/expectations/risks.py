"""Expected agreement with gold heads, and their gradients."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.expectations.base import HEADS, Input, arc_covariance, expected_sum

GOLD = Input("gold", HEADS, "The gold heads")


def risk(distribution: ArcFactored, gold: Heads) -> float:
    """The expected number of words with a wrong head.

    gold: (n,) heads, -1 where unknown; such words do not count, and without others it is NaN.
    """
    if not (gold >= 0).any():
        return float("nan")
    return expected_sum(distribution, _wrong(distribution, gold))


def risk_gradient(distribution: ArcFactored, gold: Heads) -> Float:
    """Compute the covariance of each arc with the number of wrong heads, (n+1, n+1)."""
    return arc_covariance(distribution, _wrong(distribution, gold))


def risk_variance(distribution: ArcFactored, gold: Heads) -> float:
    """Compute the variance of the number of words with a wrong head. O(n^3)

    gold: (n,) heads, -1 where unknown; such words do not count.
    """
    wrong = _wrong(distribution, gold)
    return max(float(np.vdot(wrong, arc_covariance(distribution, wrong))), 0.0)


def attachment(distribution: ArcFactored, gold: Heads) -> float:
    """The expected unlabelled attachment score: the share of words with a gold head that get it.

    NaN without such words.
    """
    return 1.0 - risk(distribution, gold) / max(int((gold >= 0).sum()), 1)


def attachment_gradient(distribution: ArcFactored, gold: Heads) -> Float:
    """Compute minus the gradient of `risk`, divided by the number of gold heads."""
    return -risk_gradient(distribution, gold) / max(int((gold >= 0).sum()), 1)


def _wrong(distribution: ArcFactored, gold: Heads) -> Float:
    """1 for arcs that give a word another head than the known one."""
    wrong = np.zeros((distribution.n + 1, distribution.n + 1))
    known = np.flatnonzero(gold >= 0)
    wrong[:, known + 1] = 1.0
    wrong[gold[known], known + 1] = 0.0
    return wrong
