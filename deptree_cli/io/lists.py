"""Lists as text, of many lines at once."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from deptree_cli.core.dtypes import Array, Int, Integers

Names = tuple[str, ...]


def comma_lists(index: Integers, sizes: Int, names: Names) -> list[bytes]:
    """The names of each line with commas between them.

    Args:
        index: the numbers of the names of all lines, one after another.
        sizes: (L,), how many each line has.
    """
    from deptree_cli.kernels.text.lists import write_lists  # loads kernels: when there is work

    text, ends, longest = _table(names)
    out, stops = np.empty(len(index) * (longest + 1), dtype=np.uint8), np.empty(len(sizes), dtype=np.int64)
    used = write_lists(index, sizes, text, ends, out, stops)
    found = out[:used].tobytes()
    return [found[start:stop] for start, stop in pairwise([0, *stops.tolist()])]


@lru_cache(64)
def _table(names: Names) -> tuple[Array, Int, int]:
    """The bytes of all names, where each ends, and how many the longest has."""
    encoded = [name.encode() for name in names]
    sizes = [len(each) for each in encoded]
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), np.cumsum(sizes), max(sizes)


@lru_cache(1024)
def numerals(most: int) -> Names:
    """The numbers from 0 to this."""
    return tuple(map(str, range(most + 1)))
