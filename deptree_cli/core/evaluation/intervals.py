"""How far scores would move with other sentences: bootstrap intervals, and a paired test between two systems.

Both resample sentences, the units that were drawn; words of a sentence are not independent. Scores are F1, as the CoNLL
2018 shared task has them: twice what is right by the words of both trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, islice
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Float, Int
from deptree_cli.core.evaluation.attachment import CORRECT, GOLD, PREDICTED

# How many resamples are summed at once: a product of matrices reads the counts once for all of them.
BLOCK = 32

# Degrees of freedom from which Student's t is so close to the normal that its expansion is exact.
MANY = 1000

# Differences below this are rounding.
_TIE = 1e-12


class Interval(NamedTuple):
    """The ends of an interval of each score, (...)."""

    low: Float
    high: Float


def f1(counts: Int | Float) -> Float:
    """2 correct / (gold + predicted) of counts (..., 3), (...); 0 without words."""
    words = counts[..., GOLD] + counts[..., PREDICTED]
    return np.where(words, 2 * counts[..., CORRECT] / np.maximum(words, 1), 0.0)


def bootstrap(counts: Int, resamples: int, rng: np.random.Generator) -> Float:
    """Scores of files of as many sentences, drawn with replacement, (resamples, ...) for counts (sentences, ..., 3).

    All scores are of the same drawn sentences, so that differences of two systems are paired (Efron and Tibshirani
    1993, chapter 10; Koehn 2004). O(resamples * sentences)
    """
    n = len(counts)
    draws = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(resamples))
    return f1(_sums(draws, counts, resamples))


def bootstrap_ratios(above: Float, below: Float, resamples: int, rng: np.random.Generator) -> Float:
    """Ratios of sums over as many sentences, drawn with replacement, (resamples, C) for (sentences, C) each.

    All are of the same drawn sentences, so that differences between columns are paired. NaN where a sum below is 0.
    """
    n = len(above)
    draws = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(resamples))
    return _ratios(*_both(draws, above, below, resamples))


def permuted_differences(
    above: Float, below: Float, first: Bool, resamples: int, rng: np.random.Generator
) -> tuple[Float, Float]:
    """Differences of ratios between two groups of sentences, (C,), and if these are dealt at random, (resamples, C).

    Args:
        above, below: (sentences, C), of both groups.
        first: (sentences,), which are of the first group; as many are dealt to it.
    """
    weights = chain([first], (rng.permutation(first) for _ in range(resamples)))
    ours = _both(weights, above, below, resamples + 1)
    theirs = above.sum(axis=0) - ours[0], below.sum(axis=0) - ours[1]
    found = _ratios(*ours) - _ratios(*theirs)
    return found[0], found[1:]


def permutation_test(observed: Float, permuted: Float) -> Float:
    """P-values, (C,): how often chance makes a difference as large as the observed one, which counts among them.

    Two-sided; see `randomisation_test`. NaN where the difference is not known.
    """
    as_large = (np.abs(permuted) >= np.abs(observed) * (1 - _TIE) - _TIE).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (1 + as_large) / (len(permuted) + 1))


def _both(weights: Iterator[Array], above: Float, below: Float, size: int) -> tuple[Float, Float]:
    """The sums of both by each of `size` arrays of weights, (size, C) each; equal columns below are summed once."""
    columns = [column.tobytes() for column in below.T]
    kept = {column: at for at, column in enumerate(columns)}
    sums = _sums(weights, np.hstack([above, below[:, list(kept.values())]]), size)
    places = {column: at for at, column in enumerate(kept)}
    ours = above.shape[1]
    return sums[:, :ours], sums[:, [ours + places[column] for column in columns]]


def _ratios(above: Float, below: Float) -> Float:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below == 0, np.nan, above / below)


def percentiles(found: Float, confidence: float, sentences: int) -> Interval:
    """The interval between the percentiles of resampled scores (resamples, ...) that leave out as much on each side.

    Of few sentences resamples are too much alike, so the percentiles are those of Student's t, and farther out by
    sqrt(n / (n - 1)) (Hesterberg 2015: expanded percentile intervals).

    Args:
        sentences: n, how many were resampled; at least 2.
    """
    freedom = sentences - 1
    beyond = NormalDist().cdf(-math.sqrt(sentences / freedom) * _student_quantile((1 + confidence) / 2, freedom))
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


def randomisation_test(first: Int, second: Int, resamples: int, rng: np.random.Generator) -> Float:
    """P-values of the difference of two systems, (...): how often it is as large if each sentence's two are swapped.

    Approximate randomisation (Noreen 1989; Yeh 2000), two-sided. The observed one counts among the `resamples` (Davison
    and Hinkley 1997, eq. 4.11), so that the test keeps its level, and p is never below 1 / (resamples + 1).

    Args:
        first, second: counts of each, (sentences, ..., 3).
    """
    swaps = (rng.random(len(first)) < 0.5 for _ in range(resamples))
    moved = _sums(swaps, second - first, resamples)
    total, ours = first.sum(axis=0), second.sum(axis=0)
    differences = np.abs(f1(ours - moved) - f1(total + moved))
    observed = np.abs(f1(ours) - f1(total))
    return (1 + (differences >= observed - _TIE).sum(axis=0)) / (resamples + 1)


def _sums(weights: Iterator[Array], counts: Int | Float, size: int) -> Float:
    """The sums of counts (sentences, ...) by each of `size` arrays of weights (sentences,), (size, ...)."""
    flat = counts.reshape(len(counts), -1).astype(np.float64)  # whole numbers, and sums of these are exact
    blocks = (np.array([*islice(weights, BLOCK)], dtype=np.float64) for _ in range(0, size, BLOCK))
    return np.concatenate([each @ flat for each in blocks]).reshape(size, *counts.shape[1:])
