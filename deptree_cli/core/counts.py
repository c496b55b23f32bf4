"""How many trees somebody asks for: the one check of such numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from typing import SupportsIndex

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.memory import memory_for

# No memory holds this many trees, and an array of them still has a size that NumPy can name.
MOST = 1 << 40

# Trees that are ranked at most, unless more are asked for: if scores are flat, millions may be needed.
MOST_RANKED = 1000

# How many maximum trees each tree that keeps rules may cost.
BUDGET = 300


def how_many(k: SupportsIndex, what: str = "trees", least: int = 0) -> int:
    """Return how many trees, or whatever else, are asked for."""
    try:
        if isinstance(k, bool | np.bool_):
            raise TypeError
        count = index(k)
    except TypeError:  # JAX's of traced numbers is one
        raise DeptreeError(f"{k!r} is not a number of {what}", "Ask for 1 or more") from None
    if count < least:
        raise DeptreeError(f"{count} {what} are asked for", "Ask for 1 or more")
    return count


@contextmanager
def room_for_trees(count: int, what: str = "trees") -> Iterator[int]:
    """Yield the number, at most `MOST`: a MemoryError within becomes a DeptreeError."""
    with memory_for(0, f"{count:,} {what}", "Ask for fewer"):
        yield min(count, MOST)
