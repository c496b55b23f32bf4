"""A set of trees: their numbers by the hash of their heads, in a table with linear probing."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel

NONE = -1


@kernel
def hash_table(heads, count):
    """The numbers of the first `count` trees by the hash of their heads, at most a quarter full."""
    capacity = 64
    while capacity < 4 * (count + 1):
        capacity *= 2
    table = np.full(capacity, NONE, np.int64)
    for tree in range(count):
        table[place_of(heads, heads[tree], table)] = tree
    return table


@kernel
def place_of(heads, row, table):
    """Where in a hash table a tree is, or should be."""
    hashed = np.uint64(14695981039346656037)  # FNV-1a, then its high bits mixed in
    for word in range(row.shape[0]):
        hashed = (hashed ^ np.uint64(row[word])) * np.uint64(1099511628211)
    place = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(table.shape[0] - 1))
    while table[place] != NONE and not same(heads[table[place]], row):
        place = (place + 1) & (table.shape[0] - 1)
    return place


@kernel
def same(first, second):
    """Whether two trees have the same heads."""
    word = 0
    while word < first.shape[0] and first[word] == second[word]:
        word += 1
    return word == first.shape[0]
