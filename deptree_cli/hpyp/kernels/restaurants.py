"""Hierarchical Pitman-Yor processes as a trie of restaurants (Teh 2006), and what they predict.

The restaurant of a context is reached from the trie's root (node 0) by the symbols of the context, the most important
first. Who comes and goes is `seating.py`; here are the arrays, their bins laid end to end and linked again, and the
probabilities of dishes given all that is seated:

    p_l(k) = (c - d t + (theta + d T) p_{l-1}(k)) / (theta + C),    p_{-1} = 1 / V,

with c customers at t tables for dish k, C at T in all, and discount d and strength theta of level l.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels.hashing import EMPTY, slot_of
from deptree_cli.kernels.flags import kernel

# The columns of a node: customers, tables, its first entry, its level.
CUSTOMERS, TABLES, FIRST, LEVEL = range(4)

# The columns of an entry, a dish in a restaurant: the dish, the node's next entry, customers, tables, the first bin of
# table sizes, where there are several tables.
DISH, NEXT, SEATED, SERVED, BIN = range(5)

# The columns of a bin: so many tables of this size; the next bin.
SIZE, COUNT, NEXT_BIN = range(3)

# How many nodes, entries and bins are in use, and the first of the bins that are free again.
NODES, ENTRIES, BINS, FREE = range(4)

NONE = -1

# Symbols and dishes are below 2^20.
BITS = 20

# The most levels of a process, the empty context's included.
MOST_LEVELS = 16


class Restaurants(NamedTuple):
    """The restaurants of one process.

    nodes (N, 4), entries (M, 5), bins (B, 3) int32, with room to grow; children and served: hash tables of nodes by
    parent and symbol, of entries by node and dish; used: (4,) int64, see NODES; discounts and strengths: (levels,);
    base: (1,), the probability 1 / V of every dish before there are customers.
    """

    nodes: Any
    entries: Any
    bins: Any
    children: Any
    served: Any
    used: Any
    discounts: Any
    strengths: Any
    base: Any


@kernel(forceinline=True)
def key_of(number, symbol):
    """Return the key of a node's number and a symbol in hash tables."""
    return (np.int64(number) << BITS) | symbol


@kernel(forceinline=True)
def find(table, number, symbol):
    """Return what a table holds for a node's number and a symbol, or NONE."""
    slot = slot_of(table, key_of(number, symbol))
    return table[slot, 1] if table[slot, 0] != EMPTY else NONE


@kernel
def node_for(restaurants, parent, symbol):
    """Return the child of a node, made if there is none."""
    table, used, nodes = restaurants.children, restaurants.used, restaurants.nodes
    key = key_of(parent, symbol)
    slot = slot_of(table, key)
    if table[slot, 0] == EMPTY:
        node = used[NODES]
        table[slot, 0], table[slot, 1] = key, node
        nodes[node, CUSTOMERS], nodes[node, TABLES], nodes[node, FIRST] = 0, 0, NONE
        nodes[node, LEVEL] = nodes[parent, LEVEL] + 1
        used[NODES] += 1
    return table[slot, 1]


@kernel
def entry_for(restaurants, node, dish):
    """Return the entry of a dish in a restaurant, made if there is none."""
    table, used, entries = restaurants.served, restaurants.used, restaurants.entries
    key = key_of(node, dish)
    slot = slot_of(table, key)
    if table[slot, 0] == EMPTY:
        entry = used[ENTRIES]
        table[slot, 0], table[slot, 1] = key, entry
        entries[entry, DISH], entries[entry, NEXT] = dish, restaurants.nodes[node, FIRST]
        entries[entry, SEATED], entries[entry, SERVED], entries[entry, BIN] = 0, 0, NONE
        restaurants.nodes[node, FIRST] = entry
        used[ENTRIES] += 1
    return table[slot, 1]


@kernel
def predict(restaurants, context, dish):
    """Return the probability of a dish in a context, (length,) symbols, by restaurants as they are now."""
    nodes, entries = restaurants.nodes, restaurants.entries
    prob, node = restaurants.base[0], 0
    for level in range(context.shape[0] + 1):
        if node == NONE or nodes[node, CUSTOMERS] == 0:
            break
        discount, strength = restaurants.discounts[level], restaurants.strengths[level]
        mass = (strength + discount * nodes[node, TABLES]) * prob
        entry = find(restaurants.served, node, dish)
        if entry != NONE:
            mass += entries[entry, SEATED] - discount * entries[entry, SERVED]
        prob = mass / (strength + nodes[node, CUSTOMERS])
        if level < context.shape[0]:
            node = find(restaurants.children, node, context[level])
    return prob


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
