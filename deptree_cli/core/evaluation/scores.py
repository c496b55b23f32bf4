"""Scores of systems: precision, recall and F1 of each metric with intervals, and the differences of two systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Integers
from deptree_cli.core.evaluation.counts import ALIGNED, CORRECT, GOLD, OF_SPANS, PREDICTED
from deptree_cli.core.evaluation.intervals import bootstrap, percentiles, randomisation_test, shares
from deptree_cli.core.streams import stream_of

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

    Attributes:
        metric: its name.
        f1, precision, recall: shares from 0 to 1, or differences of these.
        p: the p-value of the difference of F1; None for a score.
        correct, gold, predicted: the counts that the shares are made of; None for a difference.
        aligned: of the words of the gold file that the metric counts, how many the system's file has; None of metrics
            of what is aligned itself.
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
        """The share of right words among aligned ones."""
        return self.correct / self.aligned if self.aligned and self.correct is not None else None


class Resampling(NamedTuple):
    """How intervals and tests are made."""

    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 1


def scores(counts: Integers, metrics: Sequence[str], how: Resampling) -> tuple[list[list[Score]], list[Score]]:
    """Return each system's scores, and what the second has more than the first if there are two.

    Args:
        counts: (units, systems, metrics, 4), at least one unit.
    """
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
