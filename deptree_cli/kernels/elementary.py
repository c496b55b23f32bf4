"""Logarithms and exponentials by C's library, in machine code as in Python: NumPy has digits of its own."""

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
