"""Hash tables from int64 keys to numbers: open addressing, linear probing, keys and values side by side.

A table is an int64 array (slots, 2), slots being a power of 2 of which at most 0.6 are in use; unused keys are EMPTY.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

EMPTY = -1
U64 = np.uint64


@kernel(forceinline=True)
def mixed(key):
    """Return the bits of a key stirred, so that neighbours are far apart (the finaliser of splitmix64)."""
    x = U64(key)
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    return x ^ (x >> U64(31))


@kernel(forceinline=True)
def slot_of(table, key):
    """Return the slot that holds a key, or the unused one where it belongs."""
    mask = U64(table.shape[0] - 1)
    slot = mixed(key) & mask
    while table[slot, 0] != key and table[slot, 0] != EMPTY:
        slot = (slot + U64(1)) & mask
    return slot


@kernel
def fill(table, keys, values):
    """Put keys with their values into a table."""
    for i in range(keys.shape[0]):
        slot = slot_of(table, keys[i])
        table[slot, 0] = keys[i]
        table[slot, 1] = values[i]
