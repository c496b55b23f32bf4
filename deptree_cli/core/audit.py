"""Is a sampler biased? Its trees tested against the exact distribution.

Null hypothesis: the trees are independent draws from the sentence's distribution. Every p-value is valid: whatever the
distribution and the number of trees, P(p-value <= u) <= u for every u, by exact binomial tails and finite bounds,
never by an approximation. `docs/auditing.md` says what is tested, and what a bias must be to be found.

Count trees with a `Tally`, whose `audit()` tests them; `judge` turns the audits of a file into verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import special

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.binomials import (
    LogProbability,
    mean_deviation,
    probability_slack,
    shares_found,
    smallest_p_value,
)
from deptree_cli.core.dtypes import Array, Bool, Float, Heads, Int, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.core.swor import Draws

# One null hypothesis, several groups of tests: how their p-values become one (weighted Bonferroni).


TREES, ARCS, PAIRS, TAILS = "trees", "arcs", "pairs", "tails"
TOGETHER, LOG_PROBABILITY = "together", "log-probability"

# What each group gets of the level, relative to the groups that a sentence has; within a group all tests get the same.
# Trees and arcs are where samplers go wrong; a group of a quarter of the weight needs a p-value four times smaller,
# which at 4.5 standard deviations is 0.3 of one.
SHARES = {TREES: 4, ARCS: 4, PAIRS: 2, TOGETHER: 2, TAILS: 1, LOG_PROBABILITY: 1}


class Detector(NamedTuple):
    """The test of a group that sees a given tree best: the probability of its event, and its share of the level."""

    probability: float
    share: float


class Finding(NamedTuple):
    """What one group of tests, a key of SHARES, found.

    `rarest` is the probability of the event that sees the rival tree best; None where the group has no events.
    """

    group: str
    smallest: float
    tests: int
    rarest: float | None = None


class Family(NamedTuple):
    """All tests of a sentence.

    The p-value comes from the group `evidence` and the smallest of its tests; `tests` counts those of all groups, and
    `detectors` are those that the rival tree would show in.
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
    rarest = float(np.where(rival, probs, 1.0 - probs).min(initial=1.0))  # event with the rival, or opposite of one
    return Finding(group, smallest_p_value(counts, size, probs, slack), len(probs), rarest)


def combine(findings: Sequence[Finding | None]) -> Family:
    """The family's p-value: the smallest p-value over its share of the level, at most 1.

    Shares add up to 1, so by the union bound P(p-value <= u) <= the sum of P(p_i <= share_i u) <= u.
    """
    found = [finding for finding in findings if finding is not None]
    if not found:
        return Family(1.0, None, 1.0, 0, ())
    total = sum(SHARES[finding.group] for finding in found)
    each = [(finding, SHARES[finding.group] / (total * finding.tests)) for finding in found]
    weighted, best = min((finding.smallest / share, number) for number, (finding, share) in enumerate(each))
    detectors = tuple(Detector(finding.rarest, share) for finding, share in each if finding.rarest is not None)
    tests = sum(finding.tests for finding in found)
    return Family(min(1.0, weighted), found[best].group, found[best].smallest, tests, detectors)


def rival_tree(distribution: ArcFactored, marginals: Float) -> Heads | None:
    """The tree with which `detectable_tv` mixes a distribution, (n,): a plausible error, always the same.

    The best tree in which the least certain word, whose most likely head is the least likely, has its second most
    likely head; None if there is one tree.
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


# All cells of a multinomial together: what deviates a little everywhere, and nowhere enough.
#
# Cells are halved again and again into a binary tree. Given the counts of all divisions before, the left half of a
# division gets a binomial part of its cell's n draws, of which n KL(observed share || exact share) = G says how far
# it is off. With c(n) = E[exp(r G)], an exact sum over the binomial distribution, the product of exp(r G) / c(n) over
# all divisions has mean 1, and so has the mean of these products over several rates r: by Markov's inequality its
# reciprocal is a p-value. (Twice the sum of the G is the likelihood ratio statistic, near which chi-square tests
# are.)


# A cell is divided while both halves are expected this often.
EXPECTED = 1.0

# Fewer divisions than this add nothing to the tests of single cells.
FEWEST_DIVISIONS = 4

# The best rate against M divisions whose G add up to S is 1 - M / (2 S): small where many are a little off.
RATES = (0.1, 0.2, 0.4, 0.7)

# The exact sums are of this many terms at most. Divisions of more draws are left out, which is known before they are
# looked at; single cells tell enough there.
MOST_DRAWS = 30_000

# Relative error of the result, generously: 2^14 sums of logarithms of factorials below e^300,000.
ROUNDING = 1e-5


def omnibus(counts: Float, size: int, probs: Float, slack: float) -> Finding | None:
    """The test of counts (m,) of cells sorted by probability; None where too few can be divided.

    What is divided depends on the probabilities and the number of draws only.
    """
    mass, drawn = (np.concatenate(([0.0], np.cumsum(values))) for values in (probs, counts))
    lows, middles, highs = _divisions(mass, size)
    if len(lows) < FEWEST_DIVISIONS:
        return None
    whole, of = mass[highs] - mass[lows], np.rint(drawn[highs] - drawn[lows]).astype(np.int64)
    share, left = (mass[middles] - mass[lows]) / whole, np.rint(drawn[middles] - drawn[lows]).astype(np.int64)
    used = of <= MOST_DRAWS
    if not used.any():
        return Finding(TOGETHER, 1.0, 1)
    evidence = _log_evidence(left[used], of[used], share[used], 2.0 * slack / whole[used])
    return Finding(TOGETHER, min(1.0, (1.0 + ROUNDING) * float(np.exp(-evidence))), 1)


def _log_evidence(left: Int, of: Int, share: Float, slack: Float) -> float:
    """The logarithm of the mean over rates of the product over divisions (d,) of exp(r G) / c.

    Where the true share differs from the given one by slack, probabilities of counts differ by the factor
    exp(of * slack / min(share, 1 - share)) at most.
    """
    table = special.xlogy(numbers := np.arange(int(of.max()) + 1), numbers)
    factorials = special.gammaln(numbers + 1.0)
    which = np.repeat(np.arange(len(of)), of + 1)
    starts = np.concatenate(([0], np.cumsum(of + 1)[:-1]))
    x, n = np.arange(len(which)) - starts[which], of[which]
    log_likelihood = special.xlogy(x, share[which]) + special.xlogy(n - x, 1.0 - share[which])
    log_prob = factorials[n] - factorials[x] - factorials[n - x] + log_likelihood
    excess = np.maximum(table[x] + table[n - x] - table[n] - log_likelihood, 0.0)
    observed = excess[starts + left]
    off = float((of * slack / np.minimum(share, 1.0 - share)).sum())
    products = []
    for rate in RATES:
        norms = np.add.reduceat(np.exp(log_prob + rate * excess), starts)
        products.append(float((rate * observed - np.log(norms)).sum()) - off)
    return float(np.logaddexp.reduce(products) - np.log(len(RATES)))


def _divisions(mass: Float, size: int) -> tuple[Int, Int, Int]:
    """Where cells are divided, level by level: (low, middle, high) in the cumulated probabilities (m+1,)."""
    lows, highs = np.array([0]), np.array([len(mass) - 1])
    found = []
    while len(lows):
        middles = np.searchsorted(mass, (mass[lows] + mass[highs]) / 2.0)
        middles = np.clip(middles, lows + 1, np.maximum(highs - 1, lows + 1))
        smaller = np.minimum(mass[middles] - mass[lows], mass[np.maximum(highs, middles)] - mass[middles])
        divided = (highs - lows >= 2) & (smaller * size >= EXPECTED)
        lows, middles, highs = lows[divided], middles[divided], highs[divided]
        found.append((lows, middles, highs))
        lows, highs = np.concatenate((lows, middles)), np.concatenate((middles, highs))
    low, middle, high = (np.concatenate(column) for column in zip(*found, strict=True))
    return low, middle, high


# The tests of a small sentence, all of whose trees are enumerated.


# The rarest trees that together have at most 1/2, 1/4, ... of the probability.
TAIL_MASSES = 0.5 ** np.arange(1, 41)


@dataclass(frozen=True)
class Events:
    """A group of e tests: sets of trees.

    `rival` tells whether the rival tree is in the set, `count` turns counts of trees (m,) into those of events. Sets
    that are the same as, or the opposite of, some before are not `tested`.
    """

    group: str
    probs: Float
    rival: Bool
    count: Callable[[Float], Float]
    tested: Bool


class Enumerated:
    """A sentence's trees and the tests of how often each was drawn; `probs` (m,) are in the order of `all_trees`.

    `slack` is how far the computed probability of an event may be from the true one. Counts are as `empty` returns
    them.
    """

    method = "enumeration"

    def __init__(self, distribution: ArcFactored) -> None:
        self._codes = _tables(distribution.n, distribution.space)
        log_probs = distribution.factorisation.tree_log_probs(self._codes.trees)
        self._possible = log_probs > -np.inf
        self.probs = np.exp(log_probs - np.logaddexp.reduce(log_probs[self._possible]))  # their sum by enumeration
        self.slack = probability_slack(distribution.n)
        self._order = np.argsort(self.probs, kind="stable")[int((~self._possible).sum()) :]
        n = distribution.n
        marginals = np.bincount(self._codes.arcs.numbers.ravel(), np.repeat(self.probs, n), (n + 1) * n)
        rival = rival_tree(distribution, np.pad(marginals.reshape(-1, n), ((0, 0), (1, 0))))
        self._rival = None if rival is None else int(self._codes.index(rival[None])[0])
        self.rival_prob = None if self._rival is None else float(self.probs[self._rival])
        self._events = [] if self._rival is None else self._distinct(self._rival)

    def empty(self) -> Int:
        return np.zeros(len(self.probs), dtype=np.int64)

    def add(self, counts: Int, heads: Integers, times: Int) -> None:
        """Count possible trees (k, n), each times (k,) times."""
        np.add.at(counts, self._codes.index(heads), times)

    def findings(self, counts: Int, size: int) -> list[Finding | None]:
        """The tests of the counts of size trees, group by group."""
        given, found = counts.astype(float), []
        for one in self._events:
            drawn, some = one.count(given), one.tested
            found.append(events_finding(one.group, drawn[some], size, one.probs[some], self.slack, one.rival[some]))
        return [*found, omnibus(given[self._order], size, self.probs[self._order], self.slack)]

    def distances(self, counts: Int, size: int, impossible: int) -> tuple[float, float]:
        """Total variation distance of observed from exact tree frequencies, and its mean without bias."""
        observed = 0.5 * float(np.abs(counts / size - self.probs).sum() + impossible / size)
        return observed, 0.5 * float(mean_deviation(self.probs, size).sum())

    def log_prob_z(self, counts: Int, size: int) -> float | None:
        probs = self.probs[self._possible]
        with np.errstate(divide="ignore"):
            logs = np.log(probs)
        logs[probs == 0.0] = 0.0
        mean = float(probs @ logs)
        variance = float(probs @ (logs - mean) ** 2)
        if variance <= 1e-20:
            return None
        return float((counts[self._possible] @ logs / size - mean) * np.sqrt(size / variance))

    def _distinct(self, rival: int) -> list[Events]:
        """The groups of events, each set of trees (or its opposite) once, and none that is certain or empty."""
        keys = np.where(self._possible, self._codes.keys, 0).astype(np.uint64)
        order, is_rival = self._order, np.arange(len(keys)) == rival
        groups = [(TREES, self.probs, is_rival, lambda counts: counts)]
        sums: list[Integers] = [keys]  # sets of trees that are equal have equal sums of keys
        for group, marks in ((ARCS, self._codes.arcs), (PAIRS, self._codes.pairs)):
            has_rival = np.zeros(marks.total, dtype=bool)
            has_rival[marks.numbers[rival]] = True
            groups.append((group, marks.count(self.probs), has_rival, marks.count))
            sums.append(marks.fingerprints if self._possible.all() else marks.sums(keys))
        mass = np.cumsum(self.probs[order])
        cuts = np.searchsorted(mass, TAIL_MASSES, side="right") - 1  # the last tree of each tail
        cuts = np.unique(cuts[cuts >= 0])
        has_rival = cuts >= int(np.flatnonzero(order == rival)[0])
        groups.append((TAILS, mass[cuts], has_rival, lambda counts: np.cumsum(counts[order])[cuts]))
        sums.append(np.cumsum(keys[order])[cuts])
        every = np.concatenate(sums)
        every = np.minimum(every, keys.sum() - every)  # one name for a set and its opposite
        first = np.zeros(len(every), dtype=bool)
        first[np.unique(every, return_index=True)[1]] = True
        first &= every != 0
        parts = np.split(first, np.cumsum([len(one) for one in sums])[:-1])
        return [Events(*group, tested) for group, tested in zip(groups, parts, strict=True)]


@dataclass(frozen=True)
class Marks:
    """What trees have in common, such as arcs: the numbers (m, marks of a tree) of each tree's, all below `total`."""

    numbers: Int
    total: int
    keys: Integers

    def count(self, of_trees: Float) -> Float:
        """The sums (total,) of what trees (m,) have, over those that carry each mark."""
        repeated = np.repeat(of_trees, self.numbers.shape[1])
        return np.asarray(np.bincount(self.numbers.ravel(), repeated, self.total), dtype=float)

    def sums(self, keys: Integers) -> Integers:
        """The same of keys, modulo 2^64."""
        found = np.zeros(self.total, dtype=np.uint64)
        np.add.at(found, self.numbers.ravel(), np.repeat(keys, self.numbers.shape[1]))
        return found

    @cached_property
    def fingerprints(self) -> Integers:
        return self.sums(self.keys)


@dataclass(frozen=True)
class Tables:
    """What all sentences of a length and a tree space share.

    `codes` are the heads of each tree as one number, ascending, `keys` random numbers of 64 bits, always the same; each
    tree has n `arcs` and n (n-1) / 2 `pairs`.
    """

    trees: Heads
    codes: Int
    keys: Integers
    arcs: Marks
    pairs: Marks

    def index(self, heads: Integers) -> Int:
        """The numbers of trees (k, n), (k,)."""
        return np.searchsorted(self.codes, _code(heads))


def _code(heads: Integers) -> Int:
    n = heads.shape[1]
    return heads.astype(np.int64) @ ((n + 1) ** np.arange(n - 1, -1, -1, dtype=np.int64))


@cache
def _tables(n: int, space: TreeSpace) -> Tables:
    trees = all_trees(n, space)
    keys = np.random.PCG64(0).random_raw(len(trees))
    arcs = trees.astype(np.int64) * n + np.arange(n)
    chosen = list(combinations(range(n), 2))
    first, second = [i for i, _ in chosen], [j for _, j in chosen]
    pairs = arcs[:, first] * (n * (n + 1)) + arcs[:, second]
    marks = (Marks(numbers, int(numbers.max(initial=-1)) + 1, keys) for numbers in (arcs, pairs))
    return Tables(trees, _code(trees), keys, *marks)


# The tests of a longer sentence, whose trees cannot be enumerated: arcs, pairs of arcs, and the log-probability.


# How many arcs' pairs with all others are tested, each at O(n^3): 2^19 / n^3, which is all up to 14 words, at most 256;
# but 16 as long as these cost less than 2^24, up to 101 words, and none from 257 words on.
PAIRED_WORK, MOST_PAIRED = 2**19, 256
FEWEST_WORK, FEWEST_PAIRED = 2**24, 16

# So many numbers of arcs are counted at once.
AT_ONCE = 2**20

# A pair is tested if each of its arcs is expected this often in the trees, and out of them.
OFTEN = 5.0


class ArcCounts(NamedTuple):
    """How often arcs (a,), by head * (n+1) + dependent, and pairs (paired arcs, a) of arcs were drawn."""

    arcs: Int
    pairs: Int


class Summed:
    """A sentence's exact marginals, joint probabilities of arcs with `paired` ones, and the tests of their counts."""

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
        weights, arcs = None if (times == 1).all() else times, counts.arcs
        arcs += _count(numbers, weights, length)
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
        frequent = self._open_arcs & (np.minimum(probs, 1.0 - probs) * size >= OFTEN)
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


Tests: TypeAlias = Enumerated | Summed

# What the trees drawn for a sentence tell, and the verdicts on the sentences of a file.


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


class Verdict(NamedTuple):
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
    found = []
    for audit, level, distance in zip(audits, levels, detectable, strict=True):
        seen = distance is not None and distance <= LARGEST_DETECTABLE
        found.append(Verdict(BIASED if audit.p_value < level else UNBIASED if seen else UNDECIDED, distance))
    return found


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


# Counts of drawn trees, and their audit.


# Up to 7^5 = 16,807 trees are enumerated, a fraction of a second; one word more would be sixteen times as many.
ENUMERATED_N = 6

# Trees that come one by one are counted this many at a time.
BATCH = 4096

# The tests are of independent trees; distinct ones are biased towards the improbable by design.
WITHOUT_REPLACEMENT = "these trees were drawn without replacement (swor), which makes them look biased"
INDEPENDENT = "Audit independent trees, as `sample` draws them"

# Where a z-score would leave the range of float64's normal distribution.
SMALLEST_P = 1e-300


class Tally:
    """Counts of drawn trees, as far as an audit needs them: all trees of a small sentence, else arcs and their pairs.

    Attributes:
        distribution: whose trees they should be.
        size: number of trees counted.
        impossible: how many of them have probability 0 or are no trees of the distribution's space.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        self.distribution = distribution
        self._tests: Tests = (Enumerated if distribution.n <= ENUMERATED_N else Summed)(distribution)
        self._counts: Any = self._tests.empty()
        self._waiting: list[tuple[Integers, Integers]] = []
        self._waiting_trees = 0
        self.size = 0
        self.impossible = 0

    def add(self, heads: Integers, times: Integers | None = None) -> None:
        """Count trees (k, n), each once or times (k,) times."""
        if isinstance(heads, Draws):
            raise DeptreeError(WITHOUT_REPLACEMENT, INDEPENDENT)
        times = np.ones(len(heads), dtype=np.int64) if times is None else times
        self.size += int(times.sum())
        possible = self.distribution.space.contains(heads)
        possible[possible] = self.distribution.log_weights(heads[possible]) > -np.inf
        self.impossible += int(times[~possible].sum())
        self._waiting.append((heads[possible], times[possible]))
        self._waiting_trees += len(heads)
        if self._waiting_trees >= BATCH:
            self._count()

    def audit(self) -> Audit:
        """Test the counts against the exact distribution."""
        self._count()
        size, tests = self.size, self._tests
        family = combine(tests.findings(self._counts, size) if size else [])
        observed, by_chance = tests.distances(self._counts, size, self.impossible) if size else (None, None)
        return Audit(
            method=tests.method,
            size=size,
            evidence="impossible trees" if self.impossible else family.evidence,
            statistic=0.0 - float(special.ndtri(max(family.smallest, SMALLEST_P) / 2)),
            tests=family.tests,
            p_value=0.0 if self.impossible else family.p_value,
            tv_distance=observed,
            tv_expected_by_chance=by_chance,
            log_prob_z=tests.log_prob_z(self._counts, size) if size and not self.impossible else None,
            impossible=self.impossible,
            slack=tests.slack,
            rival_prob=tests.rival_prob or 0.0,
            detectors=(Detector(0.0, 1.0),) if tests.rival_prob is None else family.detectors,
        )

    def _count(self) -> None:
        if self._waiting:
            heads, times = zip(*self._waiting, strict=True)
            self._tests.add(self._counts, np.concatenate(heads), np.concatenate(times))
        self._waiting, self._waiting_trees = [], 0


__all__ = ["BIASED", "ENUMERATED_N", "UNBIASED", "UNDECIDED", "Audit", "Tally", "Verdict", "judge"]
