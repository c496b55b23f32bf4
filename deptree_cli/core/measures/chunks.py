"""What several quantities of a chunk of trees are computed from is computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Int, read_only

Numbers = NDArray[Any]


def once_a_chunk(compute: Callable[[Int, Int], Numbers]) -> Callable[[Int, Int], Numbers]:
    """Return a function that keeps the numbers of its last chunk, as constants; a decorator.

    A chunk is the same if its heads and starts are equal, which is much quicker to see than what they are asked for.
    """
    kept: list[tuple[Int, Int, Numbers]] = []

    @wraps(compute)
    def of_chunk(heads: Int, starts: Int) -> Numbers:
        for known_heads, known_starts, numbers in kept[:]:
            if np.array_equal(starts, known_starts) and np.array_equal(heads, known_heads):
                return numbers
        numbers = read_only(compute(heads, starts))
        kept[:] = [(heads.copy(), starts.copy(), numbers)]
        return numbers

    return of_chunk
