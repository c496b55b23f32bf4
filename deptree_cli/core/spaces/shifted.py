"""Log-scores less a constant for each word: what sums, samplers and expectations compute with, free of offsets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces.rules import Rules


class Shifted(NamedTuple):
    """Log-scores less a constant for each word, so that the highest are 0.

    Attributes:
        log_weights: (n+1, n+1), the shifted scores: logarithms of weights that are at most 1.
        constant: what log Z loses by the shift: the same for every tree.
    """

    log_weights: Float
    constant: float


def shift(log_scores: Float, space: Rules) -> Shifted:
    """Shift log-scores (n+1, n+1), each word's column to a maximum of 0; no distribution changes by it.

    Under the single-root constraint the maximum is over words as heads, and ROOT's row is shifted as a whole.
    """
    from deptree_cli.kernels.shift import shift_sentence  # loads kernels: when there is work

    log_weights, peaks = np.empty_like(log_scores), np.empty(len(log_scores))
    constant = shift_sentence(log_scores, np.inf, space.single_root, peaks, log_weights)[0]
    return Shifted(log_weights, float(constant))


def shift_batch(xp: Any, scores: Any, single_root: bool) -> tuple[Any, Any]:
    """Do what `shift` does with a batch (..., N, N) of PyTorch or JAX, by that library's functions `xp`.

    Returns the shifted scores, each rounded once; and what adds up to the constant (`constant_of`), (..., N), of which
    a mask that no tree needs is no part. Where a word's scores are none it is left as it is, for whoever checks them to
    report.
    """
    row = scores[..., 0, :]
    tops = xp.amax(scores[..., 1:, :] if single_root else scores, -2)
    tops = xp.where(tops == -xp.inf, row, tops)  # a word that only ROOT may govern
    tops = xp.where(abs(tops) <= MASK, tops, 0.0)
    below = scores - tops[..., None, :]
    if not single_root:
        return below, tops
    high = below[..., 0, :]
    shown = high - row
    low = xp.nan_to_num((row - (high - shown)) - (tops + shown), nan=0.0)  # what rounding took off (Knuth)
    highest = xp.nan_to_num(xp.amax(high, -1), nan=0.0, posinf=0.0, neginf=0.0)[..., None]
    is_best = high == highest
    is_best = is_best & (xp.cumsum(is_best, -1) == 1)  # one of them
    lowest = xp.where(is_best, low, 0.0).sum(-1)[..., None]
    of_root = (high - highest) + (low - lowest)
    return xp.concatenate([of_root[..., None, :], below[..., 1:, :]], -2), xp.where(is_best, row, tops)


def constant_of(xp: Any, parts: Any) -> Any:
    """Sum what `shift_batch` found (..., N), rounded once: digits beyond those that the largest sum has are apart."""
    largest = xp.amax(abs(parts), -1)[..., None] * (2.0 * parts.shape[-1])
    coarse = (parts + largest) - largest
    return coarse.sum(-1) + (parts - coarse).sum(-1)
