"""The two kinds of numbers that the sweeps take (`kernels/wide.py`), and log-scores turned into either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.kernels.wide import wide_exp, wide_float, wide_zeros

Float = NDArray[np.float64]
Shape = int | tuple[int, ...]

# Below this, the product of the column-shifted weights of all trees may have lost terms that underflowed on the way
# (the smallest normal float64 is e^-708); the sweep is then repeated with wide numbers.
SAFE_LOG = -300.0


class Kind(NamedTuple):
    """How to make, cut and read arrays of one kind of numbers.

    Attributes:
        exp: log-values -> numbers.
        zeros: a shape -> an array of zeros.
        product: the elementwise product of two arrays as float64.
    """

    exp: Callable[[Float], Any]
    zeros: Callable[[Shape], Any]
    product: Callable[[Any, Any], Float]


def _wide_product(x: Any, y: Any) -> Float:
    return wide_float((x[0] * y[0], x[1] + y[1]))


REAL = Kind(np.exp, np.zeros, np.multiply)
WIDE = Kind(wide_exp, wide_zeros, _wide_product)


def shift_columns(log_scores: Float, single_root: bool) -> tuple[Float, float]:
    """Log-scores with each word's column shifted to a maximum of 0, and the constant that log Z loses by it.

    Under the single-root constraint the maximum is over the arcs from words, and ROOT's row is then shifted as a whole:
    every tree has exactly one of its arcs. Shape (n+1, n+1) in and out.
    """
    shifted = log_scores.copy()
    peaks = log_scores[1 if single_root else 0 :, 1:].max(axis=0)
    peaks = np.where(np.isfinite(peaks), peaks, log_scores[0, 1:])  # a word that only ROOT may govern
    shifted[:, 1:] -= peaks
    constant = float(peaks.sum())
    if single_root:
        root_peak = float(shifted[0, 1:].max())
        shifted[0, 1:] -= root_peak
        constant += root_peak
    return shifted, constant
