"""One null hypothesis, several groups of tests: how their p-values become one (weighted Bonferroni)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.audit.binomials import at_most, smallest_p_value
from deptree_cli.core.dtypes import Array, Bool, Float, Heads, Int, Integers

TREES, ARCS, PAIRS, TAILS = "trees", "arcs", "pairs", "tails"
TOGETHER, LOG_PROBABILITY = "together", "log-probability"

# What each group gets of the level, relative to the groups that a sentence has; within a group all tests get the same.
# Trees and arcs are where samplers go wrong; a group of a quarter of the weight needs a p-value four times smaller,
# which at 4.5 standard deviations is 0.3 of one.
SHARES = {TREES: 4, ARCS: 4, PAIRS: 2, TOGETHER: 2, TAILS: 1, LOG_PROBABILITY: 1}


@dataclass(frozen=True)
class Detector:
    """The test of the group that sees a given tree best: the least likely event that the tree is in.

    Attributes:
        probability: of that event.
        share: of the level that its test gets.
    """

    probability: float
    share: float


@dataclass(frozen=True)
class Finding:
    """What one group of tests found.

    Attributes:
        group: a key of SHARES.
        smallest: the smallest p-value of its tests.
        tests: how many there are.
        rarest: the probability of the event that sees the rival tree best; None where the group has no events.
    """

    group: str
    smallest: float
    tests: int
    rarest: float | None = None


class Tests(ABC):
    """What is tested of one sentence; counts are as `empty` returns them.

    Attributes:
        method: as of an `Audit`.
        rival_prob: the probability of the tree that `detectable_tv` is about; None if there is only one tree.
        slack: how far the computed probability of an event may be from the true one.
    """

    method: str
    rival_prob: float | None
    slack: float

    @abstractmethod
    def empty(self) -> Any:
        """Counts of no trees."""

    @abstractmethod
    def add(self, counts: Any, heads: Integers, times: Int) -> None:
        """Count possible trees (k, n), each times (k,) times."""

    @abstractmethod
    def findings(self, counts: Any, size: int) -> list[Finding | None]:
        """The tests of the counts of size trees, group by group."""

    @abstractmethod
    def distances(self, counts: Any, size: int, impossible: int) -> tuple[float, float]:
        """The observed distance from the exact distribution, and its mean without bias; as of an `Audit`."""

    @abstractmethod
    def log_prob_z(self, counts: Any, size: int) -> float | None:
        """By how many standard deviations the mean log-probability differs from minus the entropy."""


@dataclass(frozen=True)
class Family:
    """All tests of a sentence.

    Attributes:
        p_value: of the null hypothesis.
        evidence: the group that it comes from; None without any test.
        smallest: the smallest p-value of that group's tests.
        tests: how many tests there are in all groups.
        detectors: the tests that the rival tree would show in.
    """

    p_value: float
    evidence: str | None
    smallest: float
    tests: int
    detectors: tuple[Detector, ...]


def events_finding(group: str, counts: Array, size: int, probs: Float, slack: float, rival: Bool) -> Finding | None:
    """The exact binomial tests of events (m,), each of which either contains the rival tree or not."""
    if not len(probs):
        return None
    return Finding(group, smallest_p_value(counts, size, probs, slack), len(probs), at_most(probs, rival))


def combine(findings: Sequence[Finding | None]) -> Family:
    """The family's p-value: the smallest p-value over its share of the level, at most 1.

    Shares add up to 1, so by the union bound P(p-value <= u) <= the sum of P(p_i <= share_i u) <= u.
    """
    found = [finding for finding in findings if finding is not None]
    total = sum(SHARES[finding.group] for finding in found)
    shares = [SHARES[finding.group] / (total * finding.tests) for finding in found]
    if not found:
        return Family(1.0, None, 1.0, 0, ())
    weighted = [finding.smallest / share for finding, share in zip(found, shares, strict=True)]
    best = min(range(len(found)), key=weighted.__getitem__)
    detectors = [
        Detector(one.rarest, share) for one, share in zip(found, shares, strict=True) if one.rarest is not None
    ]
    tests = sum(finding.tests for finding in found)
    return Family(min(1.0, weighted[best]), found[best].group, found[best].smallest, tests, tuple(detectors))


def rival_tree(distribution: ArcFactored, marginals: Float) -> Heads | None:
    """The tree with which `detectable_tv` mixes a distribution, (n,): a plausible error, always the same.

    The best tree in which the least certain word has its second most likely head; None if there is one tree.

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
