"""How far scores would move with other sentences: bootstrap intervals, and a paired test between two systems.

Both resample sentences, the units that were drawn; words of a sentence are not independent. Scores are F1, as the CoNLL
2018 shared task has them: twice what is right by the words of both trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Float, Int
from deptree_cli.core.evaluation.attachment import CORRECT, GOLD, PREDICTED

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


def percentiles(found: Float, confidence: float, sentences: int) -> Interval:
    """The interval between the percentiles of resampled scores (resamples, ...) that leave out as much on each side.

    Of few sentences resamples are too much alike, so the percentiles are those of Student's t, and farther out by
    sqrt(n / (n - 1)) (Hesterberg 2015: expanded percentile intervals).

    Args:
        sentences: n, how many were resampled; at least 2.
    """
    from scipy.special import ndtr, stdtrit  # a tenth of a second, where there is something to resample

    freedom = sentences - 1
    beyond = ndtr(-np.sqrt(sentences / freedom) * stdtrit(freedom, (1 + confidence) / 2))
    low, high = np.quantile(found, [beyond, 1 - beyond], axis=0)
    return Interval(low, high)


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


def _sums(weights: Iterator[Array], counts: Int, size: int) -> Float:
    """The sums of counts (sentences, ..., 3) by each of `size` arrays of weights (sentences,), (size, ..., 3)."""
    flat = counts.reshape(len(counts), -1).astype(np.float64)  # whole numbers, and sums of these are exact
    return np.array([each @ flat for each in weights]).reshape(size, *counts.shape[1:])
