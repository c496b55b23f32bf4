"""Vectors: as many float64 or float32 as a cache line holds, loaded, stored and computed with as a whole.

In machine code they are registers (`registers.py`), in Python arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.kernels.budget import when_compiled
from deptree_cli.kernels.portable import LINE


def lane_count(dtype: Any) -> int:
    """Return how many numbers a vector holds."""
    return LINE // np.dtype(dtype).itemsize


def load(line: Any) -> Any:
    """Return the numbers that a line of an array holds."""
    return line.copy()


def store(line: Any, x: Any) -> None:
    """Overwrite a line of an array."""
    line[:] = x


def load_from(x: Any, j: int, stop: int) -> Any:
    """Return the numbers j, j + 1, ... of a row as a vector; 0 for those from `stop` on, which are not read."""
    found = np.zeros(lane_count(x.dtype), x.dtype)
    given = x[j : min(stop, j + len(found))]
    found[: len(given)] = given
    return found


def store_from(x: Any, j: int, stop: int, vector: Any) -> None:
    """Overwrite the numbers j, j + 1, ... of a row by a vector, up to `stop`."""
    into = x[j : min(stop, j + len(vector))]
    into[:] = vector[: len(into)]


def everywhere(x: Any) -> Any:
    """Return a vector that is x in each lane."""
    return np.full(lane_count(type(x)), x)


def larger(x: Any, y: Any) -> Any:
    """Return the larger number of each lane."""
    return np.maximum(x, y)


def add_across(x: Any) -> Any:
    """Return the sum of a vector's numbers: the halves are added, then the halves of that, and so on."""
    while len(x) > 1:
        x = x[: len(x) // 2] + x[len(x) // 2 :]
    return x[0]


def largest(x: Any) -> Any:
    """Return the largest of a vector's numbers."""
    return x.max()


def _implement() -> None:
    from deptree_cli.kernels.numbers.registers import implement

    implement(load, store, load_from, store_from, everywhere, larger, largest, add_across)


when_compiled(_implement)
