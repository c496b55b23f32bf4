"""The arrays that stand in signatures, by their dtype (shapes are in the docstrings), and what is a mask in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Int = NDArray[np.int64]

# Trees: the head of each word, 0 for ROOT; shape (n,), or (k, n) for k trees.
Heads = NDArray[np.int32]
Integers = NDArray[np.integer]

# From here on float64 no longer tells neighbouring log-scores apart: below it stand the masks that parsers pad with
# (-1e32, the smallest float32), above it nothing that was ever a score. It is 1e15 as the coarsest type rounds it:
# bfloat16 makes 0.9984e15 of that, float32 0.99999999e15.
MASK = 0.998e15


def ratio(above: Float | Int, below: Float | Int) -> Float:
    """Return a quotient, nan where a number is divided by 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below == 0, np.nan, np.divide(above, below))


def read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def smallest_type(n: int) -> np.dtype[Any]:
    """The smallest signed integers that hold n and -n: of 128 eight bits hold the latter only."""
    return np.min_scalar_type(-max(1, n) - 1)


def smallest(heads: Integers) -> Integers:
    """The same heads in the smallest signed integers that hold the number of words: a quarter of the bytes, mostly."""
    return heads.astype(smallest_type(heads.shape[-1]), copy=False)
