"""Hierarchical Pitman-Yor processes as a trie of restaurants (Teh 2006), and what they predict.

The restaurant of a context is reached from the trie's root (node 0) by the symbols of the context, the most important
first. Who sits where is `seating.py`; here are the arrays, and the probabilities of dishes given all that is seated:

    p_l(k) = (c - d t + (theta + d T) p_{l-1}(k)) / (theta + C),    p_{-1} = 1 / V,

with c customers at t tables for dish k, C at T in all, and discount d and strength theta of level l.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.hpyp.hashing import EMPTY, slot_of

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
def occupied(restaurants, context, start, path):
    """Walk down from path[start] along a context while there are customers; return the number of the last node.

    path: (levels,) int64, filled behind `start` with the nodes; path[0] is the root.
    """
    nodes, table = restaurants.nodes, restaurants.children
    deepest = start
    for level in range(start, context.shape[0]):
        node = find(table, path[level], context[level])
        if node == NONE or nodes[node, CUSTOMERS] == 0:
            break
        path[level + 1] = node
        deepest = level + 1
    return deepest


@kernel
def predict_all(restaurants, context, path, probs):
    """Write the probability of every dish in a context into probs (dishes,); path: (levels,) int64, room to work."""
    nodes, entries = restaurants.nodes, restaurants.entries
    discounts, strengths = restaurants.discounts, restaurants.strengths
    path[0] = 0
    probs[:] = 0.0
    left = 1.0
    for level in range(occupied(restaurants, context, 0, path), -1, -1):
        node = path[level]
        if nodes[node, CUSTOMERS] == 0:
            break
        discount = discounts[level]
        share = left / (strengths[level] + nodes[node, CUSTOMERS])
        entry = nodes[node, FIRST]
        while entry != NONE:
            probs[entries[entry, DISH]] += share * (entries[entry, SEATED] - discount * entries[entry, SERVED])
            entry = entries[entry, NEXT]
        left = share * (strengths[level] + discount * nodes[node, TABLES])
    left *= restaurants.base[0]
    for dish in range(probs.shape[0]):
        probs[dish] += left


@kernel
def predict(restaurants, context, path, dish):
    """Return the probability of one dish in a context."""
    path[0] = 0
    return predict_along(restaurants, path, 0, occupied(restaurants, context, 0, path), dish, restaurants.base[0])


@kernel
def predict_along(restaurants, path, start, deepest, dish, prob):
    """Return the probability of a dish at path[deepest], given that above path[start]."""
    nodes, entries = restaurants.nodes, restaurants.entries
    discounts, strengths = restaurants.discounts, restaurants.strengths
    for level in range(start, deepest + 1):
        node = path[level]
        if nodes[node, CUSTOMERS] == 0:
            break
        discount = discounts[level]
        mass = (strengths[level] + discount * nodes[node, TABLES]) * prob
        entry = find(restaurants.served, node, dish)
        if entry != NONE:
            mass += entries[entry, SEATED] - discount * entries[entry, SERVED]
        prob = mass / (strengths[level] + nodes[node, CUSTOMERS])
    return prob
