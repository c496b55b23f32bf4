"""Log-scores less a constant for each word: what sums, samplers and expectations compute with, free of offsets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float
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
