"""Scores of parsers with confidence intervals, of one treebank and of several."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Float, Int, Integers, ratio
from deptree_cli.core.evaluation import CORRECT, GOLD, OF_SPANS, PREDICTED
from deptree_cli.core.streams import stream_of

# How far scores would move with other sentences: bootstrap intervals, and a paired test between two systems.
#
# Both resample units, what was drawn independently: words of a sentence are not. A unit is a sentence, or several
# that a system has cut otherwise. Scores are F1, as the CoNLL 2018 shared task has them: twice what is right by the
# words of both trees.

# Where units are this many times as many as there are different ones, those of the same counts are drawn together.
_FEW = 10

# So many weights are drawn at once, which fit a core's cache, but of no fewer resamples: sums by one take as long.
_AT_ONCE, _FEWEST = 1 << 15, 8

# The same of fractions, whose sums depend on this number in their last digits.
_OF_FRACTIONS = 1 << 19, 1

# Degrees of freedom from which Student's t is so close to the normal that its expansion is exact.
MANY = 1000

# Differences below this are rounding.
TIE = 1e-12

# Weights of units, (size, units), for this many resamples.
Draw = Callable[[int], Array]


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
    n = len(counts)
    together = lambda sizes, size: rng.multinomial(n, sizes / n, size)  # noqa: E731
    return of_sums(_resampled(counts, resamples, partial(_with_replacement, n, rng), together))


def _with_replacement(n: int, rng: np.random.Generator, size: int) -> Int:
    """How often each of n units is drawn in each of `size` resamples of n, (size, n)."""
    places = rng.integers(n, size=(size, n))
    places += np.arange(0, size * n, n)[:, None]
    return np.bincount(places.ravel(), minlength=size * n).reshape(size, n)


def _resampled(counts: Integers, size: int, draw: Draw, together: Callable[[Int, int], Array]) -> Float:
    """The sums of counts (units, ...) by each of `size` weights of units, (size, ...).

    `together` draws the weights of units of the same counts, of which there are this many each.
    """
    n = len(counts)
    columns, places = _different(counts.reshape(n, -1).T)
    order = np.lexsort(columns[::-1])
    first = np.flatnonzero(np.append(True, (np.diff(columns[:, order]) != 0).any(axis=0)))
    if len(first) * _FEW < n:
        columns, draw = columns[:, order[first]], partial(together, np.diff(first, append=n))
    columns = columns.astype(np.float64)  # whole numbers, and sums of these are exact
    return _sums(draw, columns, size)[:, places].reshape(size, *counts.shape[1:])


def _different(columns: Iterable[Array]) -> tuple[Array, list[int]]:
    """The different ones of columns (units,), and which of these each is: many are equal."""
    numbers: dict[bytes, int] = {}
    different, places = list[Array](), list[int]()
    for column in columns:
        places.append(numbers.setdefault(blake2b(column.tobytes()).digest(), len(numbers)))
        if len(numbers) > len(different):
            different.append(column)
    return np.array(different), places


def percentiles(found: Float, confidence: float, units: int) -> tuple[Float, Float]:
    """The ends (...) between the percentiles of resampled scores (resamples, ...) that leave out as much on each side.

    Resamples of few units, at least 2, are too much alike, so the percentiles are those of Student's t, and farther out
    by sqrt(n / (n - 1)) (Hesterberg 2015: expanded percentile intervals).
    """
    freedom = units - 1
    beyond = NormalDist().cdf(-math.sqrt(units / freedom) * _student_quantile((1 + confidence) / 2, freedom))
    low, high = np.quantile(found, [beyond, 1 - beyond], axis=0)
    return low, high


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
    one_by_one = lambda size: rng.random((size, len(first))) < 0.5  # noqa: E731
    together = lambda sizes, size: rng.binomial(sizes, 0.5, (size, len(sizes)))  # noqa: E731
    moved = _resampled(second - first, resamples, one_by_one, together)
    total, ours = first.sum(axis=0), second.sum(axis=0)
    differences = np.abs(f1(ours - moved) - f1(total + moved))
    observed = np.abs(f1(ours) - f1(total))
    return (1 + (differences >= observed - TIE).sum(axis=0)) / (resamples + 1)


def _sums(draw: Draw, columns: Array, size: int, at_once: int = _AT_ONCE, fewest: int = _FEWEST) -> Float:
    """The sums of columns (columns, units) by each of `size` weights of units, (size, columns)."""
    together = max(at_once // columns.shape[1], fewest)
    sizes = [min(together, size - start) for start in range(0, size, together)]
    return np.concatenate([draw(each) @ columns.T for each in sizes])


# Scores of systems: precision, recall and F1 of each metric with intervals, and the differences of two systems.


class Interval(NamedTuple):
    """A share with its interval; without one if there is nothing to resample."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Score:
    """A system's score by one metric, or the difference of a second system's score from it.

    `p` is of a difference of F1, the counts are of a score. `aligned` is how many of the gold file's words that the
    metric counts the system's file has; None of metrics of what is aligned itself.
    """

    metric: str
    f1: Interval
    precision: Interval
    recall: Interval
    p: float | None = None
    correct: int | None = None
    gold: int | None = None
    predicted: int | None = None
    aligned: int | None = None

    @property
    def aligned_accuracy(self) -> float | None:
        return self.correct / self.aligned if self.aligned and self.correct is not None else None


def scores(
    counts: Integers, metrics: Sequence[str], confidence: float, resamples: int, seed: int
) -> tuple[list[list[Score]], list[Score]]:
    """Return each system's scores, and the second's less the first's; counts: (units, systems, metrics, 4)."""
    rng, total = stream_of(None, seed), counts.sum(axis=0, dtype=np.int64)
    values, drawn = shares(total), bootstrap(counts, resamples, rng, shares) if len(counts) > 1 else None
    if len(total) > 1:
        values = np.concatenate([values, np.diff(values, axis=0)])
        drawn = None if drawn is None else np.concatenate([drawn, np.diff(drawn, axis=1)], axis=1)
    ends = np.full((2, *values.shape), None) if drawn is None else percentiles(drawn, confidence, len(counts))
    intervals = [[map(Interval._make, three) for three in each] for each in np.stack([values, *ends], axis=-1).tolist()]
    found = [
        [
            Score(metric, f, p, r, None, correct, gold, predicted, None if metric in OF_SPANS else shared)
            for metric, (f, p, r), (correct, gold, predicted, shared) in zip(metrics, each, sums, strict=True)
        ]
        for each, sums in zip(intervals, total.tolist(), strict=False)
    ]
    if len(total) == 1:
        return found, []
    tested = randomisation_test(counts[:, 0], counts[:, 1], resamples, rng).tolist()
    less = zip(metrics, intervals[-1], tested, strict=True)
    return found, [Score(metric, f, p, r, own) for metric, (f, p, r), own in less]


# What many sentences come to: means with bootstrap intervals, beside those of their baselines.

# Of intervals: how many times sentences are drawn, and what they cover.
RESAMPLES, CONFIDENCE = 1000, 0.95


def treebank_means(
    values: Float,
    sds: Mapping[int, Float],
    errors: Mapping[int, Float],
    lengths: Int,
    observed: Sequence[int],
    shared: Collection[int],
    rng: np.random.Generator,
) -> dict[str, Float | Int]:
    """Return the means of columns, one for each quantity, and each baseline, with bootstrap intervals: (columns,) each.

    Args:
        values: of sentences, (sentences, columns), NaN where not defined; written over.
        sds, errors: by column, (sentences,): standard deviations within sentences, and errors of sampled numbers.
        observed: the number of each column's quantity's own column.
        shared: columns of which sentences of a length share what was sampled.

    Returns:
        mean, low, high; the same of `difference`, the mean of the quantity's own column less this one's; sd, the mean
        standard deviation; error, the standard error due to sampled trees; sentences, how many have the number.
    """
    known, n = ~np.isnan(values), len(values)
    np.copyto(values, 0.0, where=~known)
    sizes = known.sum(axis=0)
    mean = ratio(values.sum(axis=0), sizes)
    own = exceeding = (np.full(len(mean), np.nan),) * 2
    if n > 1:  # all columns are of the same drawn sentences, so that differences are paired
        columns, places = _different(chain(values.T, (each.astype(np.float64) for each in known.T)))
        drawn = _sums(partial(_with_replacement, n, rng), columns, RESAMPLES, *_OF_FRACTIONS)[:, places]
        found = ratio(drawn[:, : len(mean)], drawn[:, len(mean) :])
        own, exceeding = (percentiles(each, CONFIDENCE, n) for each in (found, found[:, observed] - found))
    sd, error = np.full(len(mean), np.nan), np.full(len(mean), np.nan)
    for column, each in sds.items():
        each = each[known[:, column] & ~np.isnan(each)]
        if len(each):
            sd[column] = each.cumsum()[-1] / len(each)
    for column, each in errors.items():
        of_known = np.where(known[:, column], np.nan_to_num(each), 0.0)
        if sizes[column] and not np.isnan(each).all():
            sums: Array = np.bincount(lengths, of_known) if column in shared else of_known
            error[column] = np.sqrt((sums**2).cumsum()[-1]) / sizes[column]
    means = {"mean": mean, "low": own[0], "high": own[1], "difference": mean[observed] - mean}
    means |= {"difference_low": exceeding[0], "difference_high": exceeding[1]}
    return means | {"sd": sd, "error": error, "sentences": sizes}
