"""The tests of a longer sentence, whose trees cannot be enumerated: arcs, pairs of arcs, and the log-probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.audit.binomials import mean_deviation, probability_slack
from deptree_cli.core.audit.findings import ARCS, LOG_PROBABILITY, PAIRS, Finding, Tests, events_finding, rival_tree
from deptree_cli.core.audit.log_probability import LogProbability
from deptree_cli.core.dtypes import Bool, Float, Int, Integers

# How many arcs' pairs with all others are tested, each at O(n^3): 2^19 / n^3, which is all up to 14 words, at most 256;
# but 16 as long as these cost less than 2^24, up to 101 words, and none from 257 words on.
PAIRED_WORK, MOST_PAIRED = 2**19, 256
FEWEST_WORK, FEWEST_PAIRED = 2**24, 16

# So many numbers of arcs are counted at once.
AT_ONCE = 2**20

# A pair is tested if each of its arcs is expected this often in the trees, and out of them.
EXPECTED = 5.0


@dataclass
class ArcCounts:
    """How often arcs and pairs of arcs were drawn.

    Attributes:
        arcs: (a,), by number of arc, head * (n+1) + dependent.
        pairs: (paired arcs, a), the other arc by its number.
    """

    arcs: Int
    pairs: Int


class Summed(Tests):
    """A sentence's exact marginals, joint probabilities of arcs, and the tests of their counts.

    Attributes:
        paired: (e,) the numbers of the arcs whose pairs with all others are counted.
    """

    method = "marginals"

    def __init__(self, distribution: ArcFactored) -> None:
        self.distribution = distribution
        self._probs = np.clip(distribution.marginals(), 0.0, 1.0).ravel()
        self._scores = distribution.factorisation.shifted.log_weights
        self.slack = probability_slack(distribution.n)
        rival = rival_tree(distribution, distribution.marginals())
        self.rival_prob = None if rival is None else float(np.exp(distribution.tree_log_probs(rival[None])[0]))
        self._in_rival = np.zeros(len(self._probs), dtype=bool)
        if rival is not None:
            self._in_rival[self._numbers(rival[None])[0]] = True
        self.paired = _paired_arcs(distribution)
        self._covariance = cache(self._work_out_covariance)

    def empty(self) -> ArcCounts:
        arcs = len(self._probs)
        return ArcCounts(np.zeros(arcs, dtype=np.int64), np.zeros((len(self.paired), arcs), dtype=np.int64))

    def add(self, counts: ArcCounts, heads: Integers, times: Int) -> None:
        numbers, length = self._numbers(heads), len(self._probs)
        weights = None if (times == 1).all() else times
        counts.arcs += _count(numbers, weights, length)
        dependents = self.paired % (self.distribution.n + 1)
        step = max(1, AT_ONCE // max(numbers.size, 1))
        for first in range(0, len(self.paired), step):
            some = slice(first, first + step)
            tree, row = np.nonzero(numbers[:, dependents[some] - 1] == self.paired[some])
            pairs, own = counts.pairs[some], None if weights is None else weights[tree]
            pairs += _count(row[:, None] * length + numbers[tree], own, pairs.size).reshape(pairs.shape)

    def findings(self, counts: ArcCounts, size: int) -> list[Finding | None]:
        if self.rival_prob is None:
            return []
        open_arcs = self._open_arcs
        arcs = events_finding(
            ARCS, counts.arcs[open_arcs], size, self._probs[open_arcs], self.slack, self._in_rival[open_arcs]
        )
        mean = self._mean_log_weight(counts, size)
        p_value = self._log_probability.p_value(mean, size)
        return [arcs, self._pairs(counts, size), Finding(LOG_PROBABILITY, p_value, 1)]

    def distances(self, counts: ArcCounts, size: int, impossible: int) -> tuple[float, float]:
        """Mean over words of the total variation distance of their heads, and its mean without bias."""
        n = self.distribution.n
        observed = 0.5 * float(np.abs(counts.arcs / size - self._probs).sum() + impossible * n / size) / n
        return observed, 0.5 * float(mean_deviation(self._probs, size).sum()) / n

    def log_prob_z(self, counts: ArcCounts, size: int) -> float | None:
        if self.rival_prob is None:
            return None
        return self._log_probability.z_score(self._mean_log_weight(counts, size), size)

    def _numbers(self, heads: Integers) -> Int:
        n = heads.shape[1]
        return heads.astype(np.int64) * (n + 1) + np.arange(1, n + 1)

    @cached_property
    def _open_arcs(self) -> Bool:
        """Arcs that some trees have and others have not, (a,)."""
        support = self.distribution.support
        return np.asarray((support & (support.sum(axis=0) >= 2)).ravel())

    @cached_property
    def _log_probability(self) -> LogProbability:
        return LogProbability(self.distribution)

    def _mean_log_weight(self, counts: ArcCounts, size: int) -> float:
        """Of the possible trees, by the counts of their arcs, so that their order does not matter."""
        used = counts.arcs > 0
        return float((counts.arcs[used] * self._scores.ravel()[used]).sum() / size)

    def _pairs(self, counts: ArcCounts, size: int) -> Finding | None:
        """Exact tests of pairs of arcs, chosen by their marginals and the number of trees only."""
        probs = self._probs
        frequent = self._open_arcs & (np.minimum(probs, 1.0 - probs) * size >= EXPECTED)
        rows = np.flatnonzero(frequent[self.paired])
        if not len(rows):
            return None
        tested = frequent & self._partners[rows]
        joint, drawn = self._joint(rows), counts.pairs[rows]
        rival = self._in_rival[self.paired[rows], None] & self._in_rival
        return events_finding(PAIRS, drawn[tested], size, joint[tested], self.slack, rival[tested])

    @cached_property
    def _partners(self) -> Bool:
        """The arcs (paired arcs, a) that can stand in a tree with each, and are not paired with it before."""
        nodes, paired = self.distribution.n + 1, len(self.paired)
        pinned = np.zeros((paired, nodes * nodes), dtype=bool)
        pinned[np.arange(paired), self.paired] = True
        partners = self.distribution.space.compatible_arcs(pinned.reshape(-1, nodes, nodes)).reshape(paired, -1)
        partners[:, self.paired] &= np.triu(np.ones((paired, paired), dtype=bool), 1)
        return partners

    def _joint(self, rows: Int) -> Float:
        """P(paired arc and other arc), (r, a): their covariance and the product of their marginals."""
        covariance = np.stack([self._covariance(row) for row in rows.tolist()])
        own = self._probs[self.paired[rows], None]
        return np.asarray(np.clip(covariance + self._probs * own, 0.0, np.minimum(self._probs, own)))

    def _work_out_covariance(self, row: int) -> Float:
        """Of a paired arc with every arc, (a,)."""
        n = self.distribution.n
        indicator = np.zeros((n + 1, n + 1))
        indicator.ravel()[self.paired[row]] = 1.0
        return self.distribution.factorisation.arc_covariance(indicator).ravel()


def _paired_arcs(distribution: ArcFactored) -> Int:
    """The most uncertain arcs by p (1-p), without each word's most likely head, which the others imply."""
    marginals, n = distribution.marginals(), distribution.n
    uncertainty = marginals * (1.0 - marginals)
    uncertainty[marginals.argmax(axis=0), np.arange(n + 1)] = 0.0
    most = max(min(PAIRED_WORK // n**3, MOST_PAIRED), min(FEWEST_WORK // n**3, FEWEST_PAIRED))
    ranked = np.argsort(-uncertainty, axis=None, kind="stable")[:most]
    return np.asarray(ranked[uncertainty.ravel()[ranked] > 0.0], dtype=np.int64)


def _count(numbers: Int, weights: Int | None, length: int) -> Int:
    """How often each number stands in the rows (k, n), which count weights (k,) times; exact up to 2^53."""
    repeated = None if weights is None else np.repeat(weights, numbers.shape[1])
    return np.rint(np.bincount(numbers.ravel(), repeated, length)).astype(np.int64)
