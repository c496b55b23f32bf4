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
    """How to make arrays of one kind of numbers."""

    name: str  # of its constant in this file, by which it is pickled: there is one of each kind
    exp: Callable[[Float], Any]  # of log-values
    zeros: Callable[[Shape], Any]
    scaled: Callable[[Any, Float], Any]  # an array times one of float64
    log: Callable[[Any], Float]
    floats: Callable[[Any], Float]  # the nearest, 0 or inf beyond their range

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


def in_wide_if_needed(run: Callable[[Kind], tuple[Found, bool]], first: Kind = REAL) -> Found:
    """Return what is found with float64, or with wide numbers if float64 does not hold every term that counts."""
    found, is_in_range = run(first)
    return found if is_in_range or first is WIDE else run(WIDE)[0]
