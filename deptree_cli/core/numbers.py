"""The two kinds of numbers that the sweeps take (`kernels/numbers/`), and log-scores turned into either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.kernels.numbers.wide import SAFE_LOG, Wide, wide_exp, wide_scaled, wide_zeros
from deptree_cli.kernels.trees import elimination as kernel

Shape = int | tuple[int, ...]

__all__ = ["REAL", "SAFE_LOG", "WIDE", "Kind", "shift_columns"]


@dataclass(frozen=True)
class Kind:
    """How to make arrays of one kind of numbers, and to apply something to the parts that they consist of.

    Attributes:
        exp: log-values -> numbers.
        zeros: a shape -> an array of zeros.
        each: function, array -> the array with the function applied to its one or two parts.
        scaled: array, float64 array -> their product.
    """

    name: str
    exp: Callable[[Float], Any]
    zeros: Callable[[Shape], Any]
    each: Callable[[Callable[[Any], Any], Any], Any]
    scaled: Callable[[Any, Float], Any]


def _whole(function: Callable[[Any], Any], array: Float) -> Any:
    return function(array)


def _parts(function: Callable[[Any], Any], array: Wide) -> Any:
    return function(array[0]), function(array[1])


REAL = Kind("float64", np.exp, np.zeros, _whole, np.multiply)
WIDE = Kind("wide", wide_exp, wide_zeros, _parts, wide_scaled)


def shift_columns(log_scores: Float, single_root: bool) -> tuple[Float, float]:
    """Log-scores with each word's column shifted to a maximum of 0, and the constant that log Z loses by it.

    Shape (n+1, n+1) in and out; a constant for every tree, so that no distribution changes.
    """
    shifted = np.empty_like(log_scores)
    return shifted, kernel.shift_columns(log_scores, single_root, shifted)
