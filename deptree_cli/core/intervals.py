"""Scores of parsers with confidence intervals, of one treebank and of several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Float, Int, Integers
from deptree_cli.core.evaluation import ALIGNED, CORRECT, GOLD, OF_SPANS, PREDICTED
from deptree_cli.core.streams import stream_of

# How far scores would move with other sentences: bootstrap intervals, and a paired test between two systems.
#
# Both resample units, what was drawn independently: words of a sentence are not. A unit is a sentence, or several
# that a system has cut otherwise. Scores are F1, as the CoNLL 2018 shared task has them: twice what is right by the
# words of both trees.


# Where units are so many times as many as there are different ones, those of the same counts are drawn together.
_FEW = 10

# So many weights are summed by at once.
_AT_ONCE = 1 << 19

# Degrees of freedom from which Student's t is so close to the normal that its expansion is exact.
MANY = 1000

# Differences below this are rounding.
TIE = 1e-12


class Interval(NamedTuple):
    """The ends of an interval of each score, (...)."""

    low: Float
    high: Float


def f1(counts: Integers | Float) -> Float:
    """2 correct / (gold + predicted) of counts (..., at least 3), (...); 0 without words."""
    return _share(2 * counts[..., CORRECT], counts[..., GOLD] + counts[..., PREDICTED])


def shares(counts: Integers | Float) -> Float:
    """F1, precision and recall of counts (..., at least 3), (..., 3); 0 without words."""
    correct = counts[..., CORRECT]
    of_each = _share(correct, counts[..., PREDICTED]), _share(correct, counts[..., GOLD])
    return np.stack([f1(counts), *of_each], axis=-1)


def _share(part: Integers | Float, whole: Integers | Float) -> Float:
    return np.where(whole, part / np.maximum(whole, 1), 0.0)


def bootstrap(
    counts: Integers, resamples: int, rng: np.random.Generator, of_sums: Callable[[Float], Float] = f1
) -> Float:
    """Scores `of_sums` of files of as many units, drawn with replacement, (resamples, ...) for counts (units, ..., 3).

    All are of the same drawn units, so that differences of two systems are paired (Efron and Tibshirani 1993, chapter
    10; Koehn 2004). Units of the same counts are drawn together, how many of them: that is as likely, and of many short
    sentences quicker. O(resamples * units)
    """
    n, kinds, sizes = len(counts), *_alike(counts)
    if len(kinds) * _FEW < n:
        draws = (rng.multinomial(n, sizes / n) for _ in range(resamples))
        return of_sums(resampled_sums(draws, kinds, resamples))
    draws = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(resamples))
    return of_sums(resampled_sums(draws, counts, resamples))


def _alike(counts: Integers) -> tuple[Integers, Int]:
    """The different counts of units, and how many have them: numbered column by column, which sorts only numbers."""
    keys = np.zeros(len(counts), dtype=np.int64)
    flat, _ = _columns(counts)
    for column in flat.T:
        both = keys * (int(np.ptp(column)) + 1) + column - column.min()
        _, first, keys, sizes = np.unique(both, return_index=True, return_inverse=True, return_counts=True)
    return counts[first], sizes


def _columns(counts: Array) -> tuple[Array, list[int]]:
    """The different columns of counts (units, ...), and which of these each is: many are equal."""
    flat = np.ascontiguousarray(counts.reshape(len(counts), -1).T)
    numbers: dict[bytes, int] = {}
    places = [numbers.setdefault(column.tobytes(), len(numbers)) for column in flat]
    return flat[[places.index(number) for number in range(len(numbers))]].T, places


def percentiles(found: Float, confidence: float, units: int) -> Interval:
    """The interval between the percentiles of resampled scores (resamples, ...) that leave out as much on each side.

    Resamples of few units, at least 2, are too much alike, so the percentiles are those of Student's t, and farther out
    by sqrt(n / (n - 1)) (Hesterberg 2015: expanded percentile intervals).
    """
    freedom = units - 1
    beyond = NormalDist().cdf(-math.sqrt(units / freedom) * _student_quantile((1 + confidence) / 2, freedom))
    low, high = np.quantile(found, [beyond, 1 - beyond], axis=0)
    return Interval(low, high)


def _student_quantile(share: float, freedom: int) -> float:
    """The quantile of Student's t; of many degrees of freedom by four terms of its expansion, all digits of it."""
    if freedom < MANY:
        from scipy.special import stdtrit  # loads 20 MB in a third of a second

        return float(stdtrit(freedom, share))
    z = NormalDist().inv_cdf(share)
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def normal_interval(mean: float, variance: float, confidence: float) -> tuple[float, float]:
    width = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance)
    return mean - width, mean + width


def randomisation_test(first: Integers, second: Integers, resamples: int, rng: np.random.Generator) -> Float:
    """Two-sided p-values, (...), of a difference: how often it is as large if each unit's two counts are swapped.

    Approximate randomisation (Noreen 1989; Yeh 2000). The observed one counts among the `resamples` (Davison and
    Hinkley 1997, eq. 4.11), so that the test keeps its level, and p is never below 1 / (resamples + 1).
    """
    kinds, sizes = _alike(second - first)
    if len(kinds) * _FEW < len(first):
        moved = resampled_sums((rng.binomial(sizes, 0.5) for _ in range(resamples)), kinds, resamples)
    else:
        moved = resampled_sums((rng.random(len(first)) < 0.5 for _ in range(resamples)), second - first, resamples)
    total, ours = first.sum(axis=0), second.sum(axis=0)
    differences = np.abs(f1(ours - moved) - f1(total + moved))
    observed = np.abs(f1(ours) - f1(total))
    return (1 + (differences >= observed - TIE).sum(axis=0)) / (resamples + 1)


def resampled_sums(weights: Iterator[Array], counts: Integers | Float, size: int) -> Float:
    """The sums of counts (units, ...) by each of `size` arrays of weights (units,), (size, ...)."""
    columns, places = _columns(counts)
    flat = columns.astype(np.float64)  # whole numbers, and sums of these are exact
    together = max(_AT_ONCE // len(counts), 1)
    found: list[Float] = [np.array([*islice(weights, together)]) @ flat for _ in range(0, size, together)]
    return np.concatenate(found)[:, places].reshape(size, *counts.shape[1:])


# Scores of systems: precision, recall and F1 of each metric with intervals, and the differences of two systems.


# Of fewer units than these nothing can be resampled.
_ENOUGH = 2


class Estimate(NamedTuple):
    """A share with its interval; without one if there is nothing to resample."""

    value: float
    low: float | None
    high: float | None


# Of F1, precision and recall.
_Three = tuple[Estimate, Estimate, Estimate]


@dataclass(frozen=True)
class Score:
    """A system's score by one metric, or the difference of a second system's score from it.

    `p` is of a difference of F1, the counts are of a score. `aligned` is how many of the gold file's words that the
    metric counts the system's file has; None of metrics of what is aligned itself.
    """

    metric: str
    f1: Estimate
    precision: Estimate
    recall: Estimate
    p: float | None = None
    correct: int | None = None
    gold: int | None = None
    predicted: int | None = None
    aligned: int | None = None

    @property
    def aligned_accuracy(self) -> float | None:
        return self.correct / self.aligned if self.aligned and self.correct is not None else None


class Resampling(NamedTuple):
    """How intervals and tests are made."""

    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 1


def scores(counts: Integers, metrics: Sequence[str], how: Resampling) -> tuple[list[list[Score]], list[Score]]:
    """Return each system's scores, and the second's less the first's; counts: (units, systems, metrics, 4)."""
    rng, total = stream_of(None, how.seed), counts.sum(axis=0, dtype=np.int64)
    drawn = bootstrap(counts, how.resamples, rng, shares) if len(counts) >= _ENOUGH else None
    values, found = shares(total), []
    for number, sums in enumerate(total.tolist()):
        ends = None if drawn is None else drawn[:, number]
        estimates = zip(metrics, _estimates(values[number], ends, how, len(counts)), sums, strict=True)
        found.append([_score(metric, each, row) for metric, each, row in estimates])
    if len(total) == 1:
        return found, []
    p = randomisation_test(counts[:, 0], counts[:, 1], how.resamples, rng).tolist()
    ends = None if drawn is None else drawn[:, 1] - drawn[:, 0]
    less = _estimates(values[1] - values[0], ends, how, len(counts))
    return found, [Score(metric, *each, own) for metric, each, own in zip(metrics, less, p, strict=True)]


def _score(metric: str, estimates: _Three, sums: Sequence[int]) -> Score:
    aligned = None if metric in OF_SPANS else sums[ALIGNED]
    return Score(metric, *estimates, None, sums[CORRECT], sums[GOLD], sums[PREDICTED], aligned)


def _estimates(values: Float, drawn: Float | None, how: Resampling, units: int) -> Iterator[_Three]:
    """The three estimates of each metric, from resampled ones if there are some."""
    ends = np.full((2, *values.shape), None) if drawn is None else np.array(percentiles(drawn, how.confidence, units))
    for numbers, low, high in zip(values.tolist(), *ends.tolist(), strict=True):
        f1, precision, recall = map(Estimate, numbers, low, high)
        yield f1, precision, recall


# What many sentences come to: means with bootstrap intervals, beside those of their baselines.


# Of intervals: how many times sentences are drawn, and what they cover.
RESAMPLES, CONFIDENCE = 1000, 0.95


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of sentences, (sentences, columns), NaN where not defined: a column for each quantity, and each baseline.

    `sds` are within sentences, `errors` of sampled numbers; sentences of a length may share what was sampled.
    """

    values: Float
    sds: Float
    errors: Float
    lengths: Int


class Means(NamedTuple):
    """The means of columns, a number a column, with bootstrap intervals.

    `difference` is the mean of the quantity's own column less this one's, `sd` the mean standard deviation within
    sentences, `error` the standard error due to sampled trees, `sentences` how many have the number.
    """

    mean: Float
    low: Float
    high: Float
    difference: Float
    difference_low: Float
    difference_high: Float
    sd: Float
    error: Float
    sentences: Int


def treebank_means(
    numbers: Numbers, observed: Sequence[int], shared: Sequence[bool], rng: np.random.Generator
) -> Means:
    """Return the means of columns.

    `observed` is the number of each one's quantity's own column; where `shared`, sentences of a length share samples.
    """
    known = ~np.isnan(numbers.values)
    above, below, n = np.where(known, numbers.values, 0.0), known.astype(np.float64), len(known)
    mean = _ratio(above.sum(axis=0), below.sum(axis=0))
    own = exceeding = Interval(*[np.full(len(mean), np.nan)] * 2)
    if n > 1:  # all columns are of the same drawn sentences, so that differences are paired
        draws = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(RESAMPLES))
        sums = resampled_sums(draws, np.stack([above, below], axis=1), RESAMPLES)
        found = _ratio(sums[:, 0], sums[:, 1])
        own, exceeding = (percentiles(each, CONFIDENCE, n) for each in (found, found[:, observed] - found))
    sd = _ratio(np.nansum(numbers.sds * below, axis=0), (below * ~np.isnan(numbers.sds)).sum(axis=0))
    errors = numbers.errors * below
    by_length = np.zeros((int(numbers.lengths.max(initial=0)) + 1, errors.shape[1]))
    np.add.at(by_length, numbers.lengths, np.nan_to_num(errors))
    variance = np.where(shared, (by_length**2).sum(axis=0), np.nansum(errors**2, axis=0))
    error = np.where(np.isnan(errors).all(axis=0), np.nan, _ratio(np.sqrt(variance), below.sum(axis=0)))
    return Means(mean, *own, mean[observed] - mean, *exceeding, sd, error, known.sum(axis=0))


def _ratio(above: Float, below: Float) -> Float:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below == 0, np.nan, above / below)
