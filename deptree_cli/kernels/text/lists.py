"""Lists of names by their numbers, as text."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

COMMA = np.uint8(ord(","))


@kernel
def write_lists(index, sizes, names, ends, out, stops):
    """Write a list for each line, names by their numbers with commas between them; return how many bytes these are.

    index: the numbers of all lines, of which line i has sizes[i]. names: the bytes of all names, of which name i has
    those up to ends[i]. stops (L,): filled with where each list ends in `out`.
    """
    at = place = 0
    for line in range(sizes.shape[0]):
        for i in range(sizes[line]):
            if i > 0:
                out[at] = COMMA
                at += 1
            name = index[place]
            for byte in range(ends[name - 1] if name > 0 else 0, ends[name]):
                out[at] = names[byte]
                at += 1
            place += 1
        stops[line] = at
    return at
