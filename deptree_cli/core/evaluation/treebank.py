"""What many sentences come to: means with bootstrap intervals, beside those of their baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.evaluation.intervals import Interval, percentiles, resampled_sums

# Of intervals: how many times sentences are drawn, and what they cover.
RESAMPLES, CONFIDENCE = 1000, 0.95


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of sentences: a column for each quantity, and for each baseline of one.

    Attributes:
        values: (sentences, columns), NaN where a number is not defined.
        sds: (sentences, columns), standard deviations within sentences, NaN where there are none.
        errors: (sentences, columns), standard errors of sampled numbers, NaN of exact ones.
        lengths: (sentences,); sentences of a length may share what was sampled.
    """

    values: Float
    sds: Float
    errors: Float
    lengths: Int


class Means(NamedTuple):
    """The means of columns, and of what each column's quantity exceeds it by; a number a column.

    Attributes:
        mean, low, high: the mean of the column and its bootstrap interval.
        difference, difference_low, difference_high: the mean of the quantity's own column less that of this one.
        sd: the mean standard deviation within sentences.
        error: the standard error of the mean that is due to sampled trees.
        sentences: how many have the number.
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

    Args:
        observed: of each column, the number of the column of its quantity itself.
        shared: of each column, whether sentences of a length share what was sampled.
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
