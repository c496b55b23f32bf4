"""How far scores would move with other sentences: bootstrap intervals, and a paired test between two systems.

Both resample units, what was drawn independently: words of a sentence are not. A unit is a sentence, or several that a
system has cut otherwise. Scores are F1, as the CoNLL 2018 shared task has them: twice what is right by the words of
both trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Float, Int, Integers
from deptree_cli.core.evaluation.counts import CORRECT, GOLD, PREDICTED

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
    """Scores of files of as many units, drawn with replacement, (resamples, ...) for counts (units, ..., 3).

    All scores are of the same drawn units, so that differences of two systems are paired (Efron and Tibshirani 1993,
    chapter 10; Koehn 2004). Units of the same counts are drawn together, how many of them: that is as likely, and of
    many short sentences quicker. O(resamples * units)

    Args:
        of_sums: the scores of summed counts.
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

    Of few units resamples are too much alike, so the percentiles are those of Student's t, and farther out by
    sqrt(n / (n - 1)) (Hesterberg 2015: expanded percentile intervals).

    Args:
        units: n, how many were resampled; at least 2.
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
    """The interval of a sum of many independent numbers, of this mean and variance together."""
    width = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance)
    return mean - width, mean + width


def randomisation_test(first: Integers, second: Integers, resamples: int, rng: np.random.Generator) -> Float:
    """P-values of the difference of two systems, (...): how often it is as large if each unit's two are swapped.

    Approximate randomisation (Noreen 1989; Yeh 2000), two-sided. The observed one counts among the `resamples` (Davison
    and Hinkley 1997, eq. 4.11), so that the test keeps its level, and p is never below 1 / (resamples + 1).

    Args:
        first, second: counts of each, (units, ..., 3).
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
