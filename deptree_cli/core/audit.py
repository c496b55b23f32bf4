"""Is a sampler biased? Its trees tested against the exact distribution.

Null hypothesis: the trees are independent draws from the sentence's distribution. Every p-value is valid: whatever the
distribution and the number of trees, P(p-value <= u) <= u for every u, by exact binomial tails and finite bounds,
never by an approximation. `docs/auditing.md` says what is tested, and what a bias must be to be found.

Count trees with a `Tally`, whose `audit()` tests them; `judge` turns the audits of a file into verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import special

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.binomials import DEPTH, mean_deviation, probability_slack, shares_found, smallest_p_value
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


class Finding(NamedTuple):
    """What one group of tests, a key of SHARES, found.

    `rarest` is the probability of the event that sees the rival tree best; None where the group has no events.
    """

    group: str
    smallest: float
    tests: int
    rarest: float | None = None


class Detector(NamedTuple):
    """The test of a group that sees the rival tree best: the probability of its event, and its share of the level."""

    probability: float
    share: float


class Family(NamedTuple):
    """All tests of a sentence: the p-value, and the group and the smallest of its tests that it comes from."""

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
    """The tree with which `detectable_tvs` mixes a distribution, (n,): a plausible error, always the same.

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
    evidence = _log_evidence(left[used], of[used], share[used], 2.0 * slack / whole[used])
    return Finding(TOGETHER, min(1.0, (1.0 + ROUNDING) * float(np.exp(-evidence))), 1)


def _log_evidence(left: Int, of: Int, share: Float, slack: Float) -> float:
    """The logarithm of the mean over rates of the product over divisions (d,) of exp(r G) / c; 0 without any.

    Where the true share differs from the given one by slack, probabilities of counts differ by the factor
    exp(of * slack / min(share, 1 - share)) at most.
    """
    if not len(of):
        return 0.0
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

# The sums (e,) over events, sets of trees, of what trees have, (m,).
Sums: TypeAlias = Callable[[Array], Array]


class Tables(NamedTuple):
    """What all sentences of a length and a tree space share.

    `codes` are the heads of each tree as one number, ascending, `keys` random numbers of 64 bits, always the same;
    `arcs` and `pairs` sum over the trees with each arc, head * n + dependent - 1, and with each pair of arcs;
    `key_sums` are those of keys.
    """

    trees: Heads
    codes: Int
    keys: Integers
    arcs: Sums
    pairs: Sums
    key_sums: tuple[Array, Array]

    def numbers(self, heads: Integers) -> Int:
        """The numbers of trees (k, n), (k,)."""
        return np.searchsorted(self.codes, _code(heads))


def _code(heads: Integers) -> Int:
    n = heads.shape[1]
    return heads.astype(np.int64) @ ((n + 1) ** np.arange(n - 1, -1, -1, dtype=np.int64))


@cache
def _tables(n: int, space: TreeSpace) -> Tables:
    trees, every = all_trees(n, space), n * (n + 1)
    arcs = trees.astype(np.int64) * n + np.arange(n)
    first, second = np.triu_indices(n, 1)
    pairs = arcs[:, first] * every + arcs[:, second]
    of_arcs, of_pairs = partial(_sums, arcs, every), partial(_sums, pairs, every**2)
    keys = np.random.PCG64(0).random_raw(len(trees))
    return Tables(trees, _code(trees), keys, of_arcs, of_pairs, (of_arcs(keys), of_pairs(keys)))


def _sums(numbers: Int, total: int, of_trees: Array) -> Array:
    """For each number below a total the sum over the trees that have it, by the numbers (m, r) of all trees."""
    repeated = np.repeat(of_trees, numbers.shape[1])
    if of_trees.dtype == np.float64:
        return np.bincount(numbers.ravel(), repeated, total)  # in half the time
    found = np.zeros(total, dtype=of_trees.dtype)
    np.add.at(found, numbers.ravel(), repeated)
    return found


@dataclass(frozen=True)
class Events:
    """A group of e events: sets of trees.

    `rival` tells whether the rival tree is in the set, `count` turns counts of trees (m,) into those of events. Sets
    that are the same as, or the opposite of, some before are not `tested`.
    """

    group: str
    probs: Float
    rival: Bool
    count: Sums
    tested: Bool


class Enumerated:
    """A sentence's trees and the tests of how often each was drawn; `probs` (m,) are in the order of `all_trees`.

    `slack` is how far the computed probability of an event may be from the true one.
    """

    method = "enumeration"

    def __init__(self, distribution: ArcFactored) -> None:
        n = distribution.n
        self._tables = _tables(n, distribution.space)
        log_probs = distribution.factorisation.tree_log_probs(self._tables.trees)
        self._possible = log_probs > -np.inf
        self.probs = np.exp(log_probs - np.logaddexp.reduce(log_probs[self._possible]))  # their sum by enumeration
        self.slack = probability_slack(n)
        self._order = np.argsort(self.probs, kind="stable")[int((~self._possible).sum()) :]
        marginals = self._tables.arcs(self.probs).reshape(n + 1, n)
        rival = rival_tree(distribution, np.pad(marginals, ((0, 0), (1, 0))))
        self._rival = None if rival is None else int(self._tables.numbers(rival[None])[0])
        self.rival_prob = None if self._rival is None else float(self.probs[self._rival])
        self._events = [] if self._rival is None else self._distinct(self._rival)

    def empty(self) -> Int:
        return np.zeros(len(self.probs), dtype=np.int64)

    def add(self, counts: Int, heads: Integers, times: Int) -> None:
        """Count possible trees (k, n), each times (k,) times."""
        np.add.at(counts, self._tables.numbers(heads), times)

    def findings(self, counts: Int, size: int) -> list[Finding | None]:
        """The tests of the counts of size trees, group by group."""
        given, found = counts.astype(float), []
        for one in self._events:
            drawn, some = one.count(given), one.tested
            found.append(events_finding(one.group, drawn[some], size, one.probs[some], self.slack, one.rival[some]))
        return [*found, omnibus(given[self._order], size, self.probs[self._order], self.slack)]

    def log_prob_z(self, counts: Int, size: int) -> float | None:
        probs = self.probs[self._possible]
        logs = np.log(probs, where=probs > 0.0, out=np.zeros_like(probs))
        mean = float(probs @ logs)
        variance = float(probs @ (logs - mean) ** 2)
        if variance <= 1e-20:
            return None
        return float((counts[self._possible] @ logs / size - mean) * np.sqrt(size / variance))

    def _distinct(self, rival: int) -> list[Events]:
        """The groups of events, each set of trees (or its opposite) once, and none that is certain or empty."""
        order = self._order
        mass = np.cumsum(self.probs[order])
        cuts = np.searchsorted(mass, TAIL_MASSES, side="right") - 1  # the last tree of each tail
        cuts = np.unique(cuts[cuts >= 0])
        sums: dict[str, Sums] = {TREES: lambda of_trees: of_trees, ARCS: self._tables.arcs, PAIRS: self._tables.pairs}
        sums[TAILS] = lambda of_trees: np.cumsum(of_trees[order])[cuts]
        keys = np.where(self._possible, self._tables.keys, 0).astype(np.uint64)  # equal sets of trees have equal sums
        names = [keys, *(self._tables.key_sums if self._possible.all() else (sums[ARCS](keys), sums[PAIRS](keys)))]
        names.append(sums[TAILS](keys))
        every = np.concatenate(names)
        every = np.minimum(every, keys.sum() - every)  # one name for a set and its opposite
        first = np.zeros(len(every), dtype=bool)
        first[np.unique(every, return_index=True)[1]] = True
        tested = np.split(first & (every != 0), np.cumsum([len(each) for each in names])[:-1])
        is_rival = (np.arange(len(keys)) == rival).astype(float)
        return [
            Events(group, count(self.probs), count(is_rival) > 0, count, some)
            for (group, count), some in zip(sums.items(), tested, strict=True)
        ]


# The tests of a longer sentence, whose trees cannot be enumerated: arcs, pairs of arcs, and the log-probability.

# How many arcs' pairs with all others are tested, each at O(n^3): 2^19 / n^3, which is all up to 14 words, at most 256;
# but 16 as long as these cost less than 2^24, up to 101 words, and none from 257 words on.
PAIRED_WORK, MOST_PAIRED = 2**19, 256
FEWEST_WORK, FEWEST_PAIRED = 2**24, 16

# So many numbers of arcs are counted at once.
AT_ONCE = 2**20

# A pair is tested if each of its arcs is expected this often in the trees, and out of them.
OFTEN = 5.0

# Are trees as probable as they should be? Their mean log-probability against minus the entropy.
#
# By Chernoff's bound P(mean log p >= a) <= exp(-k (s a - K(s))) for every s > 0, and for mean log p <= a with s < 0,
# where K(s) = log sum_t p(t)^(1+s) = log Z((1+s) theta) - (1+s) log Z(theta). It falls with a for every s, so the
# smallest of the bounds of a fixed grid of s is a valid p-value of either side.

# s in units of one over the standard deviation of the sum: the best one for a mean as many standard deviations off.
GRID = (3.0, 4.0, 5.0, 6.5, 9.0, 14.0, 30.0)

# Powers of the distribution from which its weights are summed: 1 + s.
SMALLEST_POWER = 0.05

# Below this variance all trees are equally probable up to rounding.
LEAST_VARIANCE = 1e-12


class Summed:
    """A sentence's exact marginals `probs` (a,) of arcs head * (n+1) + dependent, and the tests of their counts.

    Counts are (1 + paired arcs, a): how often arcs were drawn, and arcs together with each of the `paired` ones.
    """

    method = "marginals"

    def __init__(self, distribution: ArcFactored) -> None:
        self.distribution = distribution
        self.probs = np.clip(distribution.marginals(), 0.0, 1.0).ravel()
        self._scores = distribution.factorisation.shifted.log_weights
        self.slack = probability_slack(distribution.n)
        rival = rival_tree(distribution, distribution.marginals())
        self.rival_prob = None if rival is None else float(np.exp(distribution.tree_log_probs(rival[None])[0]))
        self._in_rival = np.zeros(len(self.probs), dtype=bool)
        if rival is not None:
            self._in_rival[self._numbers(rival[None])[0]] = True
        self.paired = _paired_arcs(distribution)

    def empty(self) -> Int:
        return np.zeros((1 + len(self.paired), len(self.probs)), dtype=np.int64)

    def add(self, counts: Int, heads: Integers, times: Int) -> None:
        numbers, length = self._numbers(heads), len(self.probs)
        counts[0] += _sums(numbers, length, times)
        step = max(1, AT_ONCE // max(numbers.size, 1))
        for first in range(0, len(self.paired), step):
            paired = self.paired[first : first + step]
            tree, row = np.nonzero(numbers[:, paired % (self.distribution.n + 1) - 1] == paired)
            pairs = counts[1 + first : 1 + first + step]
            pairs += _sums(row[:, None] * length + numbers[tree], pairs.size, times[tree]).reshape(pairs.shape)

    def findings(self, counts: Int, size: int) -> list[Finding | None]:
        if self.rival_prob is None:
            return []
        some = self._open_arcs
        arcs = events_finding(ARCS, counts[0, some], size, self.probs[some], self.slack, self._in_rival[some])
        return [arcs, self._pairs(counts, size), Finding(LOG_PROBABILITY, self._log_prob_p(counts, size), 1)]

    def log_prob_z(self, counts: Int, size: int) -> float | None:
        if self.rival_prob is None or self.log_weight[1] <= LEAST_VARIANCE:
            return None
        mean, variance = self.log_weight
        return float((self._mean_log_weight(counts, size) - mean) * np.sqrt(size / variance))

    @cached_property
    def log_weight(self) -> tuple[float, float]:
        """The mean and the variance of a tree's log-weight by the shifted scores: log p, but for a constant."""
        finite = np.where(np.isfinite(self._scores), self._scores, 0.0)
        covariance = self.distribution.factorisation.arc_covariance(finite)
        return float((self.distribution.marginals() * finite).sum()), float((covariance * finite).sum())

    def _log_prob_p(self, counts: Int, size: int) -> float:
        """Twice the smallest bound on the side of the mean, at most 1; 1 without a look at less than two deviations."""
        z_score = self.log_prob_z(counts, size)
        if z_score is None or abs(z_score) < 2.0:
            return 1.0
        mean, side = self._mean_log_weight(counts, size), np.sign(z_score) / np.sqrt(size * self.log_weight[1])
        exponents = [self._exponent(side * z, mean, size) for z in GRID if 1.0 + side * z >= SMALLEST_POWER]
        return min(1.0, 2.0 * float(np.exp(-max([0.0, *exponents]))))

    def _exponent(self, s: float, mean: float, size: int) -> float:
        """size (s a - K(s)) for a = mean - log_total, less what rounding may have added."""
        log_z = self.distribution.factorisation.shifted_log_z
        raised_to = float(self.distribution.space.factorise((1.0 + s) * self._scores).log_z)
        sizes = abs(mean) + abs(raised_to) + abs(log_z) + DEPTH
        rounding = 8.0 * float(np.finfo(float).eps) * (self.distribution.n + 1) * sizes
        return size * (s * mean - (raised_to - log_z) - rounding)

    def _numbers(self, heads: Integers) -> Int:
        n = heads.shape[1]
        return heads.astype(np.int64) * (n + 1) + np.arange(1, n + 1)

    @cached_property
    def _open_arcs(self) -> Bool:
        """Arcs that some trees have and others have not, (a,)."""
        support = self.distribution.support
        return np.asarray((support & (support.sum(axis=0) >= 2)).ravel())

    def _mean_log_weight(self, counts: Int, size: int) -> float:
        """Of the possible trees, by the counts of their arcs, so that their order does not matter."""
        used = counts[0] > 0
        return float((counts[0, used] * self._scores.ravel()[used]).sum() / size)

    def _pairs(self, counts: Int, size: int) -> Finding | None:
        """Exact tests of pairs of arcs, chosen by their marginals and the number of trees only."""
        probs = self.probs
        frequent = self._open_arcs & (np.minimum(probs, 1.0 - probs) * size >= OFTEN)
        rows = np.flatnonzero(frequent[self.paired])
        if not len(rows):
            return None
        tested = frequent & self._partners[rows]
        joint, drawn = self._joint(rows), counts[1 + rows]
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
        nodes, own = self.distribution.n + 1, self.probs[self.paired[rows], None]
        covariance = np.zeros((len(rows), nodes**2))
        covariance[np.arange(len(rows)), self.paired[rows]] = 1.0
        for row in covariance:
            row[:] = self.distribution.factorisation.arc_covariance(row.reshape(nodes, nodes)).ravel()
        return np.asarray(np.clip(covariance + self.probs * own, 0.0, np.minimum(self.probs, own)))


def _paired_arcs(distribution: ArcFactored) -> Int:
    """The most uncertain arcs by p (1-p), without each word's most likely head, which the others imply."""
    marginals, n = distribution.marginals(), distribution.n
    uncertainty = marginals * (1.0 - marginals)
    uncertainty[marginals.argmax(axis=0), np.arange(n + 1)] = 0.0
    most = max(min(PAIRED_WORK // n**3, MOST_PAIRED), min(FEWEST_WORK // n**3, FEWEST_PAIRED))
    ranked = np.argsort(-uncertainty, axis=None, kind="stable")[:most]
    return np.asarray(ranked[uncertainty.ravel()[ranked] > 0.0], dtype=np.int64)


Tests: TypeAlias = Enumerated | Summed

# What the trees drawn for a sentence tell, and the verdicts on the sentences of a file.

UNBIASED, BIASED, UNDECIDED = "no bias found", "biased", "undecided"

# With which probability a bias of `detectable_tvs` is found.
POWER = 0.9

# Nothing found by trees that would not show a total variation distance of this says nothing.
LARGEST_DETECTABLE = 0.25


@dataclass(frozen=True)
class Audit:
    """What the trees drawn for one sentence tell.

    Attributes:
        method: ``enumeration`` or ``marginals``.
        size: number of trees.
        evidence: the group of tests that the p-value comes from, a key of `SHARES`, or ``impossible trees``; None where
            there was nothing to test.
        statistic: the z-score whose two-sided p-value is the smallest of that group's, 37 at most.
        tests: the number of tests in all groups.
        p_value: of the null hypothesis; 0 if a tree of probability 0 was drawn.
        tv_distance: total variation distance of the observed from the exact distribution: of trees (enumeration), or
            the mean over words of that of their heads (marginals); None without trees.
        tv_expected_by_chance: what an unbiased sampler shows on average at this size.
        log_prob_z: by how many exact standard deviations the mean log-probability of the trees differs from minus the
            entropy; None without trees, with impossible ones, and where all trees are equally probable.
        impossible: number of trees that have probability 0 or are not trees of the space.
        slack, rival_prob, detectors: what `detectable_tvs` depends on.
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


def detectable_tvs(audits: Sequence[Audit], level: float) -> list[float | None]:
    """The total variation distances of biases that as many trees show with probability `POWER`; None if none is.

    The bias: trees from the mixture of the distribution with one other tree (`rival_tree`); found: by an exact binomial
    test of one event, at this level.
    """
    smallest = np.full(len(audits), np.inf)
    found = [
        (number, audit.size, one.probability, audit.slack if audit.rival_prob else 0.0, level * one.share)
        for number, audit in enumerate(audits)
        for one in audit.detectors
    ]
    if found:
        numbers, sizes, probs, slacks, levels = map(np.array, zip(*found, strict=True))
        np.minimum.at(smallest, numbers, shares_found(sizes, probs, slacks, levels, POWER))
    pairs = zip(audits, smallest.tolist(), strict=True)
    return [None if one.size == 0 or least > 1.0 else least * (1.0 - one.rival_prob) for one, least in pairs]


class Verdict(NamedTuple):
    """The verdict on one sentence, and its `detectable_tvs` at the level of the strictest of all sentences' tests.

    BIASED: the null hypothesis is rejected; UNDECIDED: it is not, but the trees would not have shown a total variation
    distance of `LARGEST_DETECTABLE` either; else UNBIASED.
    """

    verdict: str
    detectable_tv: float | None


def judge(audits: Sequence[Audit], alpha: float) -> list[Verdict]:
    """Verdicts on sentences that call an unbiased sampler biased anywhere with probability alpha at most (Holm)."""
    levels = holm([audit.p_value for audit in audits], alpha)
    found = []
    for audit, level, distance in zip(audits, levels, detectable_tvs(audits, alpha / (len(audits) or 1)), strict=True):
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
        impossible: how many of them have probability 0 or are not trees of the distribution's space.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        self.distribution = distribution
        self._tests: Tests = (Enumerated if distribution.n <= ENUMERATED_N else Summed)(distribution)
        self._counts = self._tests.empty()
        self.size = self.impossible = 0

    def add(self, heads: Integers, times: Integers | None = None) -> None:
        """Count trees (k, n), each once or times (k,) times."""
        if isinstance(heads, Draws):
            raise DeptreeError(WITHOUT_REPLACEMENT, INDEPENDENT)
        each: Int = np.ones(len(heads), dtype=np.int64) if times is None else times.astype(np.int64)
        self.size += int(each.sum())
        possible = self.distribution.space.contains(heads)
        possible[possible] = self.distribution.log_weights(heads[possible]) > -np.inf
        self.impossible += int(each[~possible].sum())
        self._tests.add(self._counts, heads[possible], each[possible])

    def audit(self) -> Audit:
        """Test the counts against the exact distribution."""
        size, tests, observed, by_chance = self.size, self._tests, None, None
        family = combine(tests.findings(self._counts, size) if size else [])
        if size:
            each = self.distribution.n if isinstance(tests, Summed) else 1  # what is counted of a tree: arcs, or itself
            apart = np.abs(np.atleast_2d(self._counts)[0] / size - tests.probs).sum()
            observed = 0.5 * float(apart + self.impossible * each / size) / each
            by_chance = 0.5 * float(mean_deviation(tests.probs, size).sum()) / each
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
