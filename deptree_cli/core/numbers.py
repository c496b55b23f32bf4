"""The kinds of numbers that the sweeps take (`kernels/numbers/`), made of log-scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.kernels.numbers.precise import Precise, precise_exp, precise_floats, precise_scaled, precise_zeros
from deptree_cli.kernels.numbers.wide import SAFE_LOG, Wide, wide_exp, wide_floats, wide_scaled, wide_zeros

Shape = int | tuple[int, ...]

__all__ = ["PRECISE", "REAL", "SAFE_LOG", "WIDE", "Kind"]


@dataclass(frozen=True)
class Kind:
    """How to make arrays of one kind of numbers, and to apply something to the parts that they consist of.

    Attributes:
        exp: log-values, what they have rounded off (0 if left out) -> numbers.
        zeros: a shape -> an array of zeros.
        each: function, array -> the array with the function applied to each of its parts.
        scaled: array, float64 array -> their product.
        floats: array -> the nearest float64, 0 or inf beyond their range.
    """

    name: str
    exp: Callable[..., Any]
    zeros: Callable[[Shape], Any]
    each: Callable[[Callable[[Any], Any], Any], Any]
    scaled: Callable[[Any, Float], Any]
    floats: Callable[[Any], Float]


def _whole(function: Callable[[Any], Any], array: Float) -> Any:
    return function(array)


def _parts(function: Callable[[Any], Any], array: Wide) -> Any:
    return function(array[0]), function(array[1])


def _precise_parts(function: Callable[[Any], Any], array: Precise) -> Any:
    return Precise(*map(function, array))


def _real_exp(log_values: Float, rest: Float | float = 0.0) -> Float:
    values: Float = np.exp(log_values)
    values *= 1.0 + rest
    return values


def _as_it_is(array: Float) -> Float:
    return array


REAL = Kind("float64", _real_exp, np.zeros, _whole, np.multiply, _as_it_is)
WIDE = Kind("wide", wide_exp, wide_zeros, _parts, wide_scaled, wide_floats)
PRECISE = Kind("precise", precise_exp, precise_zeros, _precise_parts, precise_scaled, precise_floats)
