"""How well probabilities of heads tell whether heads are right: reliability bins and expected calibration error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Bool, Float, Heads, Integers
from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.labels import tempered_log_probs
from deptree_cli.core.spaces import TreeSpace

BINS = 10

# What is known of each tenth of probability.
COLUMNS = ("probability", "words", "confidence", "accuracy")


class Calibration:
    """Counts over words, by tenths of the probability of the head that was predicted."""

    def __init__(self) -> None:
        self.words, self.right, self.confidence = np.zeros((3, BINS))

    def add(self, probs: ArrayLike, right: ArrayLike) -> None:
        """Count words: the probabilities of their heads, and whether those are right."""
        probs = np.asarray(probs, dtype=np.float64)
        bins = np.minimum((probs * BINS).astype(np.int64), BINS - 1)
        np.add.at(self.words, bins, 1.0)
        np.add.at(self.right, bins, np.asarray(right, dtype=np.float64))
        np.add.at(self.confidence, bins, probs)

    @property
    def accuracy(self) -> float:
        return float(self.right.sum() / max(self.words.sum(), 1.0))

    @property
    def mean_confidence(self) -> float:
        """The share of words that the parser expects to be right."""
        return float(self.confidence.sum() / max(self.words.sum(), 1.0))

    @property
    def error(self) -> float:
        """Expected calibration error (Naeini et al. 2015): the mean gap between confidence and accuracy over words."""
        return float(np.abs(self.confidence - self.right).sum() / max(self.words.sum(), 1.0))

    def rows(self) -> list[list[object]]:
        """A line per tenth that has words: its range, words, mean confidence, accuracy."""
        return [
            [f"{i / BINS:.1f} to {(i + 1) / BINS:.1f}", int(words), float(confidence / words), float(right / words)]
            for i, (words, confidence, right) in enumerate(zip(self.words, self.confidence, self.right, strict=True))
            if words
        ]


# Temperatures are looked for between these; calibration error, which has many minima, at this many for each doubling.
LOWEST, HIGHEST = 1 / 16, 16.0
PER_DOUBLING = 16

OTHER_CRITERION = Setting("criterion", "calibration-error")

# So many sentences are summed at once: what that takes beside the scores does not grow with their number.
TOGETHER = 256


class Likelihood(NamedTuple):
    """The log-likelihood of gold at an inverse temperature, in nats, with its derivative and the number of words."""

    value: float = 0.0
    slope: float = 0.0
    words: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class GoldArcs:
    """A sentence's scores of arcs, the highest of each word 0, with its gold heads, -1 where none is known.

    `best` are the heads of the best tree, at any temperature. There is a likelihood only if gold is a possible tree.
    """

    log_scores: Float
    heads: Heads
    best: Heads
    is_tree: bool

    @classmethod
    def of(cls, distribution: Any, heads: Heads) -> GoldArcs:
        scores = distribution.log_scores[:, 1:]
        shifted = np.full_like(distribution.log_scores, -np.inf)
        shifted[:, 1:] = scores - scores.max(axis=0)
        is_tree = bool((heads >= 0).all()) and math.isfinite(distribution.log_prob(heads))
        return cls(shifted, heads, distribution.argmax(), is_tree)


def _of_arcs(values: Float, heads: Heads) -> Float:
    return values[heads, np.arange(1, len(heads) + 1)]


@dataclass(frozen=True, eq=False)
class ArcEvidence:
    """Sentences with gold heads, to which a temperature is fitted; `space`: of their trees."""

    sentences: Sequence[GoldArcs]
    space: TreeSpace

    def at(self, temperature: float) -> Iterator[tuple[GoldArcs, Float, float]]:
        """Each sentence with its marginals, (n+1, n+1), and log Z at a temperature."""
        from deptree_cli.core.batches import TreeDistributions  # loads kernels: when there is work

        for start in range(0, len(self.sentences), TOGETHER):
            some = self.sentences[start : start + TOGETHER]
            found = TreeDistributions([each.log_scores / temperature for each in some], "log", self.space)
            yield from zip(some, found.marginals(), found.log_partition.tolist(), strict=True)

    def likelihood(self, temperature: float) -> Likelihood:
        """The log-likelihood of gold, of sentences whose gold heads are a possible tree."""
        value, slope, words = Likelihood()
        for sentence, marginals, log_z in self.at(temperature):
            if sentence.is_tree:
                gold = float(_of_arcs(sentence.log_scores, sentence.heads).sum())
                expected = float(np.vdot(marginals, np.where(marginals > 0, sentence.log_scores, 0.0)))
                value, slope = value + (gold / temperature - log_z), slope + (gold - expected)
                words += len(sentence.heads)
        return Likelihood(value, slope, words)

    def count(self, temperature: float, calibration: Calibration) -> None:
        """Count the heads of best trees, of words whose head is known."""
        for sentence, marginals, _ in self.at(temperature):
            known = sentence.heads >= 0
            probs, right = _of_arcs(marginals, sentence.best), sentence.best == sentence.heads
            calibration.add(probs[known], right[known])


@dataclass(frozen=True, eq=False)
class LabelEvidence:
    """Words with gold labels (m,), and log P(label | gold arc), (m, L), -inf for labels that the arc cannot have."""

    log_probs: Float
    labels: Integers

    def likelihood(self, temperature: float) -> Likelihood:
        at = tempered_log_probs(self.log_probs, temperature)
        possible, words = np.isfinite(self.log_probs), np.arange(len(self.labels))
        expected = np.vdot(np.exp(at), np.where(possible, self.log_probs, 0.0))
        slope = self.log_probs[words, self.labels].sum() - expected
        return Likelihood(float(at[words, self.labels].sum()), float(slope), len(words))

    def count(self, temperature: float, calibration: Calibration) -> None:
        """Count the most probable label of each gold arc."""
        if len(self.labels):
            at = tempered_log_probs(self.log_probs, temperature)
            calibration.add(np.exp(at.max(axis=1)), at.argmax(axis=1) == self.labels)


# Gold beside scores: what a temperature is fitted to.
Evidence = ArcEvidence | LabelEvidence


def by_likelihood(parts: Sequence[Evidence]) -> tuple[float, list[float]]:
    """Return the temperatures of the highest likelihood; an end of the range if it is beyond that, NaN without gold."""
    words = [part.likelihood(1.0).words for part in parts]

    def best(left_out: int | None = None) -> float:
        from scipy.optimize import brentq  # loads scipy: when there is work

        kept = [part for place, part in enumerate(parts) if words[place] and place != left_out]

        def slope(log_beta: float) -> float:
            return sum(part.likelihood(math.exp(-log_beta)).slope for part in kept)

        low, high = -math.log(HIGHEST), -math.log(LOWEST)
        if not kept:
            return math.nan
        if slope(high) >= 0:
            return LOWEST
        return HIGHEST if slope(low) <= 0 else math.exp(-brentq(slope, low, high, xtol=1e-9))

    if not any(words):
        remedy = f"Give whole trees that the scores allow, or choose {OTHER_CRITERION}"
        problem = "no sentence has a gold tree that is complete and possible"
        raise DeptreeError(problem, remedy, options=[OTHER_CRITERION])
    return best(), [best(left_out) for left_out in range(len(parts))]


def by_calibration_error(parts: Sequence[Evidence]) -> tuple[float, list[float]]:
    """Return temperatures of the least expected calibration error, of a grid as it is not smooth; NaN without gold."""
    grid = np.geomspace(LOWEST, HIGHEST, int(PER_DOUBLING * math.log2(HIGHEST / LOWEST)) + 1)
    found = [[Calibration() for _ in parts] for _ in grid]
    for row, temperature in zip(found, grid.tolist(), strict=True):
        for part, calibration in zip(parts, row, strict=True):
            part.count(temperature, calibration)
    gaps = np.array([[each.confidence - each.right for each in row] for row in found])  # add up over parts
    words = np.array([each.words.sum() for each in found[0]])

    def best(kept: Bool) -> float:
        errors = np.abs(gaps[:, kept].sum(axis=1)).sum(axis=-1)
        return float(grid[errors.argmin()]) if words[kept].any() else math.nan

    every = np.ones(len(parts), dtype=np.bool_)
    return best(every), [best(np.arange(len(parts)) != part) for part in range(len(parts))]


# Each finds the temperature of all parts, and of all parts but each in turn.
CRITERIA = {"likelihood": by_likelihood, "calibration-error": by_calibration_error}


class Quality(NamedTuple):
    """How well probabilities fit gold; log-likelihood in nats per word, None without a complete, possible gold tree."""

    log_likelihood: float | None
    calibration: Calibration

    @classmethod
    def of(cls, parts: Sequence[Evidence], temperatures: Sequence[float]) -> Quality:
        found, value, words = Calibration(), 0.0, 0
        for part, each in zip(parts, temperatures, strict=True):
            likelihood = part.likelihood(each)
            value, words = value + likelihood.value, words + likelihood.words
            part.count(each, found)
        return cls(value / words if words else None, found)

    def row(self) -> dict[str, Any]:
        found = self.calibration
        return {
            "log_likelihood": self.log_likelihood,
            "calibration_error": found.error,
            "accuracy": found.accuracy,
            "confidence": found.mean_confidence,
            "bins": [dict(zip(COLUMNS, row, strict=True)) for row in found.rows()],
        }


@dataclass(frozen=True)
class Fit:
    """A temperature fitted to all parts, with those fitted to all but one part (`others`).

    Quality is `before` at temperature 1, and `after` of each part at the temperature of the others: cross-validated.
    """

    temperature: float
    others: list[float]
    before: Quality
    after: Quality

    @classmethod
    def of(cls, parts: Sequence[Evidence], criterion: str) -> Fit:
        """Fit by one of the `CRITERIA`; no part has a say in the temperature that it is judged at."""
        temperature, others = CRITERIA[criterion](parts)
        if any(map(math.isnan, others)):
            gold = "gold labels" if isinstance(parts[0], LabelEvidence) else "a gold tree that is complete and possible"
            raise DeptreeError(f"too few sentences have {gold}", "Give at least two, better hundreds")
        return cls(temperature, others, Quality.of(parts, [1.0] * len(parts)), Quality.of(parts, others))

    @property
    def at_the_end(self) -> bool:
        return not LOWEST < self.temperature < HIGHEST


def nonconformity(marginals: Float) -> Float:
    """The score of each head, (n+1, n), from marginals (n+1, n+1); infinite for the word itself."""
    probs = marginals[:, 1:]
    words = np.arange(probs.shape[1])
    scores = 1.0 - probs
    scores[probs.argmax(axis=0), words] = 0.0
    scores[words + 1, words] = np.inf
    return scores


def threshold(scores: Float, coverage: float) -> float:
    """The score up to which heads are in the sets, from those of m gold heads, (m,): their ceil((m+1) coverage)-th.

    It is 1, which leaves out no head, if there are too few words for such a coverage, and 0, that of the most probable
    heads, for a coverage of 0. Coverages count as the decimal numbers that they are written as.
    """
    rank = math.ceil((len(scores) + 1) * Fraction(str(coverage)))
    if rank == 0:
        return 0.0
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= len(scores) else 1.0


def head_sets(marginals: Float, limit: float) -> list[list[int]]:
    """The set of heads of each word, the most probable first, from marginals (n+1, n+1) and a threshold."""
    scores = nonconformity(marginals)
    order = np.argsort(scores, axis=0, kind="stable")
    sizes = (scores <= limit).sum(axis=0)
    return [heads[:size] for heads, size in zip(order.T.tolist(), sizes.tolist(), strict=True)]


@dataclass(frozen=True)
class HeadSets:
    """A threshold of `nonconformity` for sets that contain the right head with probability `coverage`.

    `covered` and `heads` are cross-validated: how often they do, and how many heads they have on average.
    """

    coverage: float
    threshold: float
    covered: float
    heads: float

    @classmethod
    def of(cls, parts: Sequence[ArcEvidence], fit: Fit, coverages: Sequence[float]) -> list[HeadSets]:
        """Fit one for each coverage; no part has a say in the threshold and temperature that it is judged at."""
        if not coverages:
            return []
        tried = np.zeros((len(coverages), 3))
        for number, (part, temperature) in enumerate(zip(parts, fit.others, strict=True)):
            others = [gold_scores(each, temperature) for each in (*parts[:number], *parts[number + 1 :])]
            limits = [threshold(np.concatenate(others), each) for each in coverages]
            tried += tried_on(part, temperature, limits)
        scores = np.concatenate([gold_scores(part, fit.temperature) for part in parts])
        return [
            cls(coverage, threshold(scores, coverage), float(covered / words), float(heads / words))
            for coverage, (words, covered, heads) in zip(coverages, tried, strict=True)
        ]


def _scores(part: ArcEvidence, temperature: float) -> Iterator[tuple[Float, Float]]:
    """Of each sentence's words whose head is known the scores of gold heads, (m,), and of all heads, (n+1, m)."""
    for sentence, marginals, _ in part.at(temperature):
        scores, words = nonconformity(marginals), np.flatnonzero(sentence.heads >= 0)
        yield scores[sentence.heads[words], words], scores[:, words]


def gold_scores(part: ArcEvidence, temperature: float) -> Float:
    """The scores of the gold heads of all words that have one, (m,)."""
    return np.concatenate([np.empty(0), *(gold for gold, _ in _scores(part, temperature))])


def tried_on(part: ArcEvidence, temperature: float, limits: Sequence[float]) -> Float:
    """For each threshold the words that have a gold head, those whose set contains it, and the heads in their sets."""
    counts = np.zeros((len(limits), 3))
    for gold, scores in _scores(part, temperature):
        counts += [(len(gold), (gold <= limit).sum(), (scores <= limit).sum()) for limit in limits]
    return counts
