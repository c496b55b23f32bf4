"""A set of trees: a hash table of their indices, with linear probing."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

NONE = -1


@kernel(allocates=True)
def hash_table(heads, count):
    """Return a new hash table of the first `count` trees of heads (k, n), at most a quarter full.

    An entry is the index of a tree, or NONE.
    """
    capacity = 64
    while capacity < 4 * (count + 1):
        capacity *= 2
    table = np.full(capacity, NONE, np.int64)
    for tree in range(count):
        table[place_of(heads, heads[tree], table)] = tree
    return table


@kernel
def place_of(heads, row, table):
    """Return the place in a hash table where the tree `row` (n,) is, or belongs if it is not among heads (k, n)."""
    hashed = np.uint64(14695981039346656037)  # FNV-1a, then its high bits mixed in
    for word in range(row.shape[0]):
        hashed = (hashed ^ np.uint64(row[word])) * np.uint64(1099511628211)
    place = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(table.shape[0] - 1))
    while table[place] != NONE and not same(heads[table[place]], row):
        place = (place + 1) & (table.shape[0] - 1)
    return place


@kernel
def same(first, second):
    """Return whether two trees (n,) have the same heads."""
    word = 0
    while word < first.shape[0] and first[word] == second[word]:
        word += 1
    return word == first.shape[0]
