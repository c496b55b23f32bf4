"""What many sentences come to: means with bootstrap intervals beside their baselines, and differences of two groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Int
from deptree_cli.core.evaluation.intervals import Interval, percentiles
from deptree_cli.core.evaluation.ratios import bootstrap_ratios, permutation_test, permuted_differences


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of the sentences of a group: a column for each quantity, and for each baseline of one.

    A mean is the sum of a column divided by the sum of what it counts for: of sentences 1, of arcs their number.

    Attributes:
        above, below: (sentences, columns), the two, 0 where the number is not defined.
        sds: (sentences, columns), standard deviations within sentences, NaN where there are none.
        errors: (sentences, columns), standard errors of sampled numbers, NaN of exact ones.
        lengths: (sentences,); sentences of a length may share what was sampled.
    """

    above: Float
    below: Float
    sds: Float
    errors: Float
    lengths: Int

    @property
    def size(self) -> int:
        """How many sentences there are."""
        return len(self.above)

    @property
    def means(self) -> Float:
        """The mean of each column."""
        total = self.below.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total == 0, np.nan, self.above.sum(axis=0) / total)


class Means(NamedTuple):
    """The means of columns, and of what each column's quantity exceeds it by; a number a column.

    Attributes:
        mean, low, high: the mean of the column and its bootstrap interval.
        difference, difference_low, difference_high: the mean of the quantity's own column less that of this one.
        p: of a difference of two groups, by permutation: of the means, for baselines of what they are exceeded by.
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
    p: Float
    sd: Float
    error: Float
    sentences: Float


@dataclass(frozen=True, eq=False)
class Question:
    """How means are found.

    Attributes:
        observed: of each column, the number of the column of its quantity itself.
        shared: of each column, whether sentences of a length share what was sampled.
        resamples, confidence: of intervals and tests.
    """

    observed: Sequence[int]
    shared: Sequence[bool]
    resamples: int
    confidence: float

    def means(self, numbers: Numbers, rng: np.random.Generator) -> Means:
        """Return the means of a group of sentences."""
        found = bootstrap_ratios(numbers.above, numbers.below, self.resamples, rng) if numbers.size > 1 else None
        known = ~np.isnan(numbers.sds)
        with np.errstate(invalid="ignore", divide="ignore"):
            sd = np.nansum(numbers.sds * numbers.below, axis=0) / (numbers.below * known).sum(axis=0)
        return self._with_intervals(numbers.means, found, numbers.size)._replace(
            sd=sd, error=self._error(numbers), sentences=(numbers.below > 0).sum(axis=0)
        )

    def difference(self, first: Numbers, second: Numbers, rng: np.random.Generator) -> Means:
        """Return what the means of one group of sentences exceed those of another by.

        Intervals are from resamples of each group, p from sentences that are dealt to the two at random.
        """
        groups, few = (first, second), min(first.size, second.size)
        found = None
        if few > 1:
            one, two = (bootstrap_ratios(each.above, each.below, self.resamples, rng) for each in groups)
            found = one - two
        above, below = (np.concatenate([getattr(each, name) for each in groups]) for name in ("above", "below"))
        observed, permuted = permuted_differences(above, below, np.arange(len(above)) < first.size, self.resamples, rng)
        exceeding = permutation_test(self._exceeding(observed), self._exceeding(permuted))
        p = np.where(self._is_own, permutation_test(observed, permuted), exceeding)
        result = self._with_intervals(first.means - second.means, found, few)
        return result._replace(
            p=p,
            error=np.hypot(self._error(first), self._error(second)),
            sentences=((first.below > 0).sum(axis=0) + (second.below > 0).sum(axis=0)),
        )

    @property
    def _is_own(self) -> Bool:
        """Which columns are of quantities themselves."""
        return np.asarray(self.observed) == np.arange(len(self.observed))

    def _exceeding(self, found: Float) -> Float:
        """What quantities exceed their columns by, (..., columns)."""
        return found[..., self.observed] - found

    def _with_intervals(self, point: Float, found: Float | None, sentences: int) -> Means:
        unknown = np.full(len(point), np.nan)
        own, exceeding = Interval(unknown, unknown), Interval(unknown, unknown)
        if found is not None:
            own = percentiles(found, self.confidence, sentences)
            exceeding = percentiles(self._exceeding(found), self.confidence, sentences)
        return Means(point, *own, self._exceeding(point), *exceeding, unknown, unknown, unknown, unknown)

    def _error(self, numbers: Numbers) -> Float:
        """The standard errors of means that are due to sampled trees, NaN of exact ones."""
        errors = numbers.errors * numbers.below
        by_length = np.zeros((int(numbers.lengths.max(initial=0)) + 1, errors.shape[1]))
        np.add.at(by_length, numbers.lengths, np.nan_to_num(errors))
        variance = np.where(self.shared, (by_length**2).sum(axis=0), np.nansum(errors**2, axis=0))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.sqrt(variance) / numbers.below.sum(axis=0)
        return np.where(np.isnan(errors).all(axis=0), np.nan, found)
