"""Logarithms and exponentials by C's library, sums from first to last: NumPy's have digits of their own.

And what numba takes seconds to compile for arrays.
"""

from __future__ import annotations

import math

from deptree_cli.kernels.flags import kernel


@kernel
def log(x):
    """Return the natural logarithm of a number that is not negative, -inf of 0."""
    return math.log(x) if x > 0.0 else -math.inf


@kernel
def exp(x):
    """Return e^x of a number that is at most 0."""
    return math.exp(x)


@kernel
def total(x):
    """Return the sum of a row."""
    found = x.dtype.type(0.0)
    for i in range(x.shape[0]):
        found += x[i]
    return found


@kernel
def largest(x):
    """Return the largest number of a row that has some."""
    found = x[0]
    for i in range(1, x.shape[0]):
        found = max(found, x[i])
    return found


@kernel
def fill(x, value):
    """Overwrite a row with a value."""
    for i in range(x.shape[0]):
        x[i] = value
