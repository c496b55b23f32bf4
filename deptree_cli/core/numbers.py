"""The kinds of numbers that the sweeps take (`kernels/numbers/`), made of log-scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.kernels.numbers.precise import precise_exp, precise_floats, precise_scaled, precise_zeros
from deptree_cli.kernels.numbers.wide import SAFE_LOG, wide_exp, wide_floats, wide_scaled, wide_zeros

Shape = int | tuple[int, ...]

__all__ = ["PRECISE", "REAL", "SAFE_LOG", "WIDE", "Kind"]


@dataclass(frozen=True)
class Kind:
    """How to make arrays of one kind of numbers.

    Attributes:
        exp: log-values, what they have rounded off (0 if left out) -> numbers.
        zeros: a shape -> an array of zeros.
        scaled: array, float64 array -> their product.
        floats: array -> the nearest float64, 0 or inf beyond their range.
    """

    name: str
    exp: Callable[..., Any]
    zeros: Callable[[Shape], Any]
    scaled: Callable[[Any, Float], Any]
    floats: Callable[[Any], Float]

    def each(self, function: Callable[[Any], Any], array: Any) -> Any:
        """Return an array of numbers with the function applied to each of the arrays that it consists of."""
        if not isinstance(array, tuple):
            return function(array)
        parts = [self.each(function, part) for part in array]
        return type(array)(*parts) if hasattr(array, "_fields") else tuple(parts)


def _real_exp(log_values: Float, rest: Float | float = 0.0) -> Float:
    values: Float = np.exp(log_values)
    values *= 1.0 + rest
    return values


def _as_it_is(array: Float) -> Float:
    return array


REAL = Kind("float64", _real_exp, np.zeros, np.multiply, _as_it_is)
WIDE = Kind("wide", wide_exp, wide_zeros, wide_scaled, wide_floats)
PRECISE = Kind("precise", precise_exp, precise_zeros, precise_scaled, precise_floats)
