"""The two kinds of numbers that the sweeps take (`kernels/wide.py`), and log-scores turned into either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.kernels import elimination as kernel
from deptree_cli.kernels.wide import SAFE_LOG, wide_exp, wide_scaled, wide_zeros

Float = NDArray[np.float64]
Shape = int | tuple[int, ...]

__all__ = ["REAL", "SAFE_LOG", "WIDE", "Float", "Kind", "shift_columns"]


class Kind(NamedTuple):
    """How to make arrays of one kind of numbers, and to apply something to the parts they consist of.

    Attributes:
        exp: log-values -> numbers.
        zeros: a shape -> an array of zeros.
        each: function, array -> the array with the function applied to its one or two parts.
        scaled: array, float64 array -> their product.
    """

    exp: Callable[[Float], Any]
    zeros: Callable[[Shape], Any]
    each: Callable[[Callable[[Any], Any], Any], Any]
    scaled: Callable[[Any, Float], Any]


REAL = Kind(np.exp, np.zeros, lambda function, array: function(array), np.multiply)
WIDE = Kind(wide_exp, wide_zeros, lambda function, array: (function(array[0]), function(array[1])), wide_scaled)


def shift_columns(log_scores: Float, single_root: bool) -> tuple[Float, float]:
    """Log-scores with each word's column shifted to a maximum of 0, and the constant that log Z loses by it.

    Shape (n+1, n+1) in and out; a constant for every tree, so that no distribution changes.
    """
    shifted = np.empty_like(log_scores)
    return shifted, kernel.shift_columns(log_scores, single_root, shifted)
