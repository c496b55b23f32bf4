"""The kinds of numbers that the sweeps take (`kernels/numbers.py`), made of log-scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Float

Shape = int | tuple[int, ...]
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Kind:
    """How to make arrays of one kind of numbers.

    Attributes:
        name: of its constant in this file, by which it is pickled: there is one of each kind.
        exp: log-values -> numbers.
        zeros: a shape -> an array of zeros.
        scaled: array, float64 array -> their product.
        log: array -> its natural logarithms, float64.
        floats: array -> the nearest float64, 0 or inf beyond their range.
    """

    name: str
    exp: Callable[[Float], Any]
    zeros: Callable[[Shape], Any]
    scaled: Callable[[Any, Float], Any]
    log: Callable[[Any], Float]
    floats: Callable[[Any], Float]

    def __reduce__(self) -> str:
        return self.name

    def each(self, function: Callable[[Any], Any], array: Any) -> Any:
        """Return an array of numbers with the function applied to each of the arrays that it consists of."""
        return tuple(map(function, array)) if isinstance(array, tuple) else function(array)


def _wide(name: str) -> Callable[..., Any]:
    """A function of `kernels/numbers.py`, which loads kernels: when there is work."""

    def function(*arguments: Any) -> Any:
        from deptree_cli.kernels import numbers as wide

        return getattr(wide, name)(*arguments)

    return function


REAL = Kind("REAL", np.exp, np.zeros, np.multiply, np.log, lambda array: array)
WIDE = Kind("WIDE", *map(_wide, ("wide_exp", "wide_zeros", "wide_scaled", "wide_log", "wide_floats")))


def in_range(run: Callable[[Kind], tuple[Found, bool]], first: Kind = REAL) -> Found:
    """Return what is found with float64, or with wide numbers if float64 does not hold every term that counts."""
    found, is_in_range = run(first)
    return found if is_in_range or first is WIDE else run(WIDE)[0]
