"""How far ratios of sums would move with other sentences, and whether two groups of sentences differ by more than that.

A mean over sentences is such a ratio, and so is one over the arcs of sentences.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.evaluation.intervals import TIE, resampled_sums


def bootstrap_ratios(above: Float, below: Float, resamples: int, rng: np.random.Generator) -> Float:
    """Ratios of sums over as many sentences, drawn with replacement, (resamples, C) for (sentences, C) each.

    All are of the same drawn sentences, so that differences between columns are paired. NaN where a sum below is 0.
    """
    n = len(above)
    draws = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(resamples))
    return _ratios(resampled_sums(draws, np.stack([above, below], axis=1), resamples))


def permuted_differences(
    above: Float, below: Float, first: Bool, resamples: int, rng: np.random.Generator
) -> tuple[Float, Float]:
    """Differences of ratios between two groups of sentences, (C,), and if these are dealt at random, (resamples, C).

    Args:
        above, below: (sentences, C), of both groups.
        first: (sentences,), which are of the first group; as many are dealt to it.
    """
    weights = chain([first], (rng.permutation(first) for _ in range(resamples)))
    both = np.stack([above, below], axis=1)
    ours = resampled_sums(weights, both, resamples + 1)
    found = _ratios(ours) - _ratios(both.sum(axis=0) - ours)
    return found[0], found[1:]


def permutation_test(observed: Float, permuted: Float) -> Float:
    """P-values, (C,): how often chance makes a difference as large as the observed one, which counts among them.

    Two-sided; see `intervals.randomisation_test`. NaN where the difference is not known.
    """
    as_large = (np.abs(permuted) >= np.abs(observed) * (1 - TIE) - TIE).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (1 + as_large) / (len(permuted) + 1))


def _ratios(sums: Float) -> Float:
    """Sums (..., 2, columns), the first divided by the second."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sums[..., 1, :] == 0, np.nan, sums[..., 0, :] / sums[..., 1, :])
