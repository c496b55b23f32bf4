"""Numbers of several sentences side by side, a sentence in each lane of a vector (`vectors.py`): float64 or float32.

An array of them is a plain array with one axis more, of as many numbers as a cache line holds, and a number is such a
line, loaded as a whole: LLVM does not vectorise over sentences by itself, since a store could change what is loaded
next. What one lane holds never depends on the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.numbers import operations as ops
from deptree_cli.kernels.numbers.vectors import everywhere, load, store


class Lanes(NamedTuple):
    """An array of numbers: values has one axis more, the lanes."""

    values: Any


@ops.get.register(Lanes)
def _get(array, index):
    return load(array.values[index])


@ops.put.register(Lanes)
def _put(array, index, x):
    store(array.values[index], x)


@ops.row.register(Lanes)
def _row(array, i):
    return Lanes(array.values[i])


@ops.length.register(Lanes)
def _length(array):
    return array.values.shape[0]


@ops.zero.register(Lanes)
def _zero(array):
    return everywhere(array.values.dtype.type(0.0))


@ops.one.register(Lanes)
def _one(array):
    return everywhere(array.values.dtype.type(1.0))


@ops.is_positive.register(np.ndarray)
def _is_positive(x):
    return True  # nobody's sum stops that of others: what a pivot of 0 leads to, stays in its lane
