"""What the trees drawn for a sentence tell, and the verdicts on the sentences of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.audit.binomials import shares_found
from deptree_cli.core.audit.findings import Detector

UNBIASED, BIASED, UNDECIDED = "no bias found", "biased", "undecided"

# With which probability a bias of `detectable_tv` is found.
POWER = 0.9

# Nothing found by trees that would not show a total variation distance of this says nothing.
LARGEST_DETECTABLE = 0.25


@dataclass(frozen=True)
class Audit:
    """What the trees drawn for one sentence tell.

    Attributes:
        method: ``enumeration`` or ``marginals``.
        size: number of trees.
        evidence: the group of tests that the p-value comes from, a key of `findings.SHARES`, or ``impossible trees``;
            None where there was nothing to test.
        statistic: the z-score whose two-sided p-value is the smallest of that group's, 37 at most.
        tests: the number of tests in all groups.
        p_value: of the null hypothesis; 0 if a tree of probability 0 was drawn.
        tv_distance: total variation distance of the observed from the exact distribution: of trees (enumeration), or
            the mean over words of that of their heads (marginals); None without trees.
        tv_expected_by_chance: what an unbiased sampler shows on average at this size.
        log_prob_z: by how many exact standard deviations the mean log-probability of the trees differs from minus the
            entropy; None without trees, with impossible ones, and where all trees are equally probable.
        impossible: number of trees that have probability 0 or are no trees of the space.
        slack, rival_prob, detectors: what `detectable_tv` depends on.
    """

    method: str
    size: int
    evidence: str | None
    statistic: float
    tests: int
    p_value: float
    tv_distance: float | None
    tv_expected_by_chance: float | None
    log_prob_z: float | None
    impossible: int
    slack: float
    rival_prob: float
    detectors: tuple[Detector, ...]

    def detectable_tv(self, level: float) -> float | None:
        """The total variation distance of a bias that as many trees show with probability `POWER`; None if none is.

        The bias: trees from the mixture of the distribution with one other tree (`findings.rival_tree`); found: by an
        exact binomial test of one event, at this level.
        """
        return detectable_tvs([self], level)[0]


def detectable_tvs(audits: Sequence[Audit], level: float) -> list[float | None]:
    """The `detectable_tv` of each, all at once."""
    each = [(number, audit, one) for number, audit in enumerate(audits) for one in audit.detectors]
    smallest = np.full(len(audits), np.inf)
    if each:
        found = [
            (number, audit.size, one.probability, audit.slack if audit.rival_prob else 0.0, level * one.share)
            for number, audit, one in each
        ]
        numbers, sizes, probs, slacks, levels = map(np.array, zip(*found, strict=True))
        np.minimum.at(smallest, numbers, shares_found(sizes, probs, slacks, levels, POWER))
    pairs = zip(audits, smallest.tolist(), strict=True)
    return [None if one.size == 0 or least > 1.0 else least * (1.0 - one.rival_prob) for one, least in pairs]


@dataclass(frozen=True)
class Verdict:
    """The verdict on one sentence.

    Attributes:
        verdict: BIASED if the null hypothesis is rejected, UNDECIDED if not but the trees would not have shown a total
            variation distance of `LARGEST_DETECTABLE` either, else UNBIASED.
        detectable_tv: as of `Audit`, at the level of the strictest of all sentences' tests.
    """

    verdict: str
    detectable_tv: float | None


def judge(audits: Sequence[Audit], alpha: float) -> list[Verdict]:
    """Verdicts on sentences that call an unbiased sampler biased anywhere with probability alpha at most (Holm)."""
    levels = holm([audit.p_value for audit in audits], alpha)
    detectable = detectable_tvs(audits, alpha / len(audits)) if audits else []
    return [_verdict(*each) for each in zip(audits, levels, detectable, strict=True)]


def _verdict(audit: Audit, level: float, detectable: float | None) -> Verdict:
    if audit.p_value < level:
        return Verdict(BIASED, detectable)
    seen = detectable is not None and detectable <= LARGEST_DETECTABLE
    return Verdict(UNBIASED if seen else UNDECIDED, detectable)


def holm(p_values: list[float], alpha: float) -> list[float]:
    """The level at which each of several tests is judged so that all together err with probability alpha (Holm 1979).

    The smallest p-value meets alpha / m, the next alpha / (m - 1), ...; after the first that is not below its level, no
    other is rejected, which a level of 0 expresses.
    """
    levels = [0.0] * len(p_values)
    for rank, index in enumerate(np.argsort(p_values, kind="stable").tolist()):
        level = alpha / (len(p_values) - rank)
        if p_values[index] >= level:
            break
        levels[index] = level
    return levels
