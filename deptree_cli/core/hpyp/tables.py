"""Hash tables of the right size (`kernels/hpyp/hashing.py`)."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Int
from deptree_cli.kernels.hpyp.hashing import EMPTY, fill, move

# The share of a table that may be in use.
LOAD = 0.6

_SMALLEST = 1024


def empty_table(size: int) -> Int:
    """A table with room for so many keys."""
    slots = _SMALLEST
    while slots * LOAD < size:
        slots *= 2
    return np.full((slots, 2), EMPTY, dtype=np.int64)


def table_of(keys: Int, values: Int) -> Int:
    """A table of these keys and their values."""
    table = empty_table(len(keys))
    fill(table, keys, values)
    return table


def larger_table(table: Int, size: int) -> Int:
    """A table of the same keys with room for so many, which may be the one that is there."""
    if len(table) * LOAD >= size:
        return table
    larger = empty_table(size)
    move(table, larger)
    return larger
