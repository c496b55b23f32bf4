"""Hash tables of the right size (`hpyp/kernels/hashing.py`)."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Int
from deptree_cli.hpyp.kernels.hashing import EMPTY, fill

# The share of a table that may be in use.
LOAD = 0.6

_SMALLEST = 1024


def empty_table(size: int) -> Int:
    """A table with room for so many keys."""
    slots = _SMALLEST
    while slots * LOAD < size:
        slots *= 2
    return np.full((slots, 2), EMPTY, dtype=np.int64)


def table_of(keys: Int, values: Int, size: int = 0) -> Int:
    """A table of these keys and their values, with room for so many in all."""
    table = empty_table(max(size, len(keys)))
    fill(table, keys, values)
    return table


def entries_of(table: Int) -> Int:
    """The keys in a table and their values, (2, keys)."""
    return np.ascontiguousarray(table[table[:, 0] != EMPTY].T)


def larger_table(table: Int, size: int) -> Int:
    """A table of the same keys with room for so many, which may be the one that is there."""
    if len(table) * LOAD >= size:
        return table
    keys, values = entries_of(table)
    return table_of(keys, values, size)
