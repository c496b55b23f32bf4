"""Log-scores less a constant for each word: what sums, samplers and expectations compute with, free of offsets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float


class Shifted(NamedTuple):
    """Log-scores less a constant for each word, so that the highest are 0; nothing is rounded off.

    Attributes:
        high, low: (n+1, n+1), the scores as float64 and what that rounds off, 0 where high is ``-inf``.
        constant: the pair of numbers that log Z loses by the shift: the same for every tree.
    """

    high: Float
    low: Float
    constant: tuple[float, float]


def shift(log_scores: Float, single_root: bool) -> Shifted:
    """Shift log-scores (n+1, n+1), each word's column to a maximum of 0; no distribution changes by it.

    Under the single-root constraint the maximum is over words as heads, and ROOT's row is shifted as a whole.
    """
    from deptree_cli.kernels.trees.elimination import shift_columns  # loads kernels: when there is work

    high, low = np.empty_like(log_scores), np.empty_like(log_scores)
    constant = shift_columns(log_scores, single_root, high, low)
    return Shifted(high, low, constant)
