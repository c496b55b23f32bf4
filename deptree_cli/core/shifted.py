"""Log-scores less a constant for each word: what sums, samplers and expectations compute with, free of offsets.

Where every tree needs a mask, no shift removes it: the differences between trees then are digits that float64 does not
hold beside it. So a score is a pair from here on (`kernels/numbers/paired.py`), and what takes differences of scores
asks `is_large` whether it has to look at both parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float

# From here on what float64 rounds off a score may be seen beside 1: more than 1e-12.
LARGE = 1e4


class Shifted(NamedTuple):
    """Log-scores less a constant for each word, so that the highest are 0; nothing is rounded off.

    Attributes:
        high, low: (n+1, n+1), the scores as float64 and what that rounds off, 0 where high is ``-inf``.
        constant: the pair of numbers that log Z loses by the shift: the same for every tree.
    """

    high: Float
    low: Float
    constant: tuple[float, float]


def shift(log_scores: Float, single_root: bool, rest: Float | None = None) -> Shifted:
    """Shift log-scores (n+1, n+1), each word's column to a maximum of 0; no distribution changes by it.

    Under the single-root constraint the maximum is over words as heads, and ROOT's row is shifted as a whole.

    Args:
        rest: what the log-scores round off, if they are not as they were given; ignored beside ``-inf``.
    """
    from deptree_cli.kernels.shift import shift_sentence  # loads kernels: when there is work

    high, low, peaks = np.empty_like(log_scores), np.empty_like(log_scores), np.empty(len(log_scores))
    constant = shift_sentence(log_scores, np.inf, single_root, peaks, high, low)[0]
    if rest is None:
        return Shifted(high, low, constant)
    from deptree_cli.kernels.numbers.paired import Paired, paired_sums

    rests = np.where(high > -np.inf, rest, 0.0)
    return Shifted(*paired_sums(Paired(high, low), Paired(rests, np.zeros_like(rests))), constant)


def is_large(scores: Float, probs: Float | float = 1.0) -> bool:
    """Whether a finite score that counts, one with a positive probability, is too large to be taken for a float64."""
    return bool((np.isfinite(scores) & (np.abs(scores) > LARGE) & (np.asarray(probs) > 0)).any())
