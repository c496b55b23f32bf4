"""The bins of table sizes laid end to end, and linked again."""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.hpyp.restaurants import BIN, COUNT, DISH, ENTRIES, FIRST, NEXT, NEXT_BIN, NONE, SERVED, SIZE


@kernel
def write_bins(restaurants, sizes, counts):
    """Write the bins of all entries, in the order of entries and of each one's list; return how many there are.

    Without arrays to write to (of length 0) they are counted only.
    """
    entries, bins = restaurants.entries, restaurants.bins
    written = 0
    for entry in range(restaurants.used[ENTRIES]):
        at = entries[entry, BIN] if entries[entry, SERVED] > 1 else NONE
        while at != NONE:
            if sizes.shape[0]:
                sizes[written], counts[written] = bins[at, SIZE], bins[at, COUNT]
            written += 1
            at = bins[at, NEXT_BIN]
    return written


@kernel
def link(places, dishes, sizes, counts, nodes, entries, bins):
    """Link entries to their nodes, newest first as they were made, and bins, (B, 3), written, to their entries.

    entries (M, 5): customers and tables are there already.
    """
    taken = 0
    for entry in range(places.shape[0]):
        entries[entry, DISH], entries[entry, BIN] = dishes[entry], NONE
        entries[entry, NEXT] = nodes[places[entry], FIRST]
        nodes[places[entry], FIRST] = entry
        left = entries[entry, SERVED]
        last = NONE
        while left > 0 and entries[entry, SERVED] > 1:
            bins[taken, SIZE], bins[taken, COUNT], bins[taken, NEXT_BIN] = sizes[taken], counts[taken], NONE
            if last == NONE:
                entries[entry, BIN] = taken
            else:
                bins[last, NEXT_BIN] = taken
            left -= counts[taken]
            last = taken
            taken += 1
