"""Restaurants of Pitman-Yor processes: their tables, seating, predictions and hyperparameters."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform

# Hash tables from int64 keys to numbers: open addressing, linear probing, keys and values side by side.
#
# A table is an int64 array (slots, 2), slots being a power of 2 of which at most 0.6 are in use; unused keys are EMPTY.


EMPTY = -1
U64 = np.uint64


@kernel(forceinline=True)
def slot_of(table, key):
    """Return the slot that holds a key, or the unused one where it belongs.

    The bits of a key are stirred, so that neighbours are far apart (the finaliser of splitmix64).
    """
    x, mask = U64(key), U64(table.shape[0] - 1)
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    slot = (x ^ (x >> U64(31))) & mask
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


# Hierarchical Pitman-Yor processes as a trie of restaurants (Teh 2006), and what they predict.
#
# The restaurant of a context is reached from the trie's root (node 0) by the symbols of the context, the most important
# first. Who comes and goes stands below; here are the arrays, their bins laid end to end and linked again, and the
# probabilities of dishes given all that is seated:
#
#     p_l(k) = (c - d t + (theta + d T) p_{l-1}(k)) / (theta + C),    p_{-1} = 1 / V,
#
# with c customers at t tables for dish k, C at T in all, and discount d and strength theta of level l.


# The columns of a node: customers, tables, its first entry, its level.
CUSTOMERS, TABLES, FIRST, LEVEL = range(4)

# The columns of an entry, a dish in a restaurant: the dish, the node's next entry, customers, tables, the first bin of
# table sizes, where there are several tables.
DISH, NEXT, SEATED, SERVED, BIN = range(5)

# The columns of a bin: this many tables of this size; the next bin.
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
    """Write the bins of all entries, in the order of entries and of each one's list; return how many there are."""
    entries, bins = restaurants.entries, restaurants.bins
    written = 0
    for entry in range(restaurants.used[ENTRIES]):
        at = entries[entry, BIN] if entries[entry, SERVED] > 1 else NONE
        while at != NONE:
            sizes[written], counts[written] = bins[at, SIZE], bins[at, COUNT]
            written += 1
            at = bins[at, NEXT_BIN]
    return written


# Customers who come and go: Gibbs sampling of seating arrangements, with histograms of table sizes.
#
# An event is a dish in a context. Its path, the nodes and entries from the empty context to the whole one, is looked up
# once (`index`), so a sweep does no hashing. Of the tables that serve a dish only their sizes matter, and of those how
# many there are of each (Blunsom et al. 2009); where there is one table its size is the number of customers.


class Paths(NamedTuple):
    """Events that are looked up: the nodes and entries of each, (events, levels) int32."""

    nodes: Any
    entries: Any


NOBODY = Paths(np.empty((0, 0), np.int32), np.empty((0, 0), np.int32))


@kernel
def number_for(table, key, used, which):
    """Return what a table holds for a key, and whether that is new: the next number of those in use then."""
    slot = slot_of(table, key)
    is_new = table[slot, 0] == EMPTY
    if is_new:
        table[slot, 0], table[slot, 1] = key, used[which]
        used[which] += 1
    return table[slot, 1], is_new


@kernel
def index(restaurants, contexts, dishes, order, paths):
    """Look up the paths of events in this order, making what is missing, for which there is room.

    contexts: (events, L); dishes: (events,); order: numbers of events, best sorted by their contexts; paths: written.
    """
    nodes, entries, used = restaurants.nodes, restaurants.entries, restaurants.used
    levels, before = contexts.shape[1] + 1, -1
    for event in order:
        level, on_path, served = 0, paths.nodes[event], paths.entries[event]
        on_path[0] = 0
        if before >= 0:  # what is shared with the event before need not be looked up
            while level < levels - 1 and contexts[event, level] == contexts[before, level]:
                level += 1
                on_path[level] = paths.nodes[before, level]
        for below in range(level, levels - 1):
            node, is_new = number_for(restaurants.children, key_of(on_path[below], contexts[event, below]), used, NODES)
            if is_new:
                nodes[node, CUSTOMERS], nodes[node, TABLES], nodes[node, FIRST] = 0, 0, NONE
                nodes[node, LEVEL] = below + 1
            on_path[below + 1] = node
        for each in range(levels):
            node, dish = on_path[each], dishes[event]
            entry, is_new = number_for(restaurants.served, key_of(node, dish), used, ENTRIES)
            if is_new:
                entries[entry, DISH], entries[entry, NEXT] = dish, nodes[node, FIRST]
                entries[entry, SEATED], entries[entry, SERVED], entries[entry, BIN] = 0, 0, NONE
                nodes[node, FIRST] = entry
            served[each] = entry
        before = event


@kernel(allocates=True)
def add(restaurants, path, served, state):
    """Seat a customer at the end of a path of nodes, whose entries are `served`; return its probability before."""
    nodes, entries = restaurants.nodes, restaurants.entries
    discounts, strengths = restaurants.discounts, restaurants.strengths
    levels, above, prob = path.shape[0], np.empty(MOST_LEVELS), restaurants.base[0]
    for level in range(levels):
        node, entry = path[level], served[level]
        above[level] = prob
        if nodes[node, CUSTOMERS] > 0:
            own = entries[entry, SEATED] - discounts[level] * entries[entry, SERVED]
            more = strengths[level] + discounts[level] * nodes[node, TABLES]
            prob = (own + more * prob) / (strengths[level] + nodes[node, CUSTOMERS])
    for level in range(levels - 1, -1, -1):
        node, entry = path[level], served[level]
        nodes[node, CUSTOMERS] += 1
        if entries[entry, SEATED] > 0:
            own = entries[entry, SEATED] - discounts[level] * entries[entry, SERVED]
            new = (strengths[level] + discounts[level] * nodes[node, TABLES]) * above[level]
            if uniform(state) * (own + new) < own:
                join_table(restaurants, entry, discounts[level], own, state)
                break
        open_table(restaurants, entry)
        nodes[node, TABLES] += 1
    return prob


@kernel
def remove(restaurants, path, served, state):
    """Send a customer at the end of a path away, drawn at random among those of its dish."""
    nodes = restaurants.nodes
    for level in range(path.shape[0] - 1, -1, -1):
        node = path[level]
        nodes[node, CUSTOMERS] -= 1
        if not leave_table(restaurants, served[level], state):
            break
        nodes[node, TABLES] -= 1


@kernel
def join_table(restaurants, entry, discount, total, state):
    """Seat a customer at a table of this dish, drawn in proportion to its size less the discount (`total` in all)."""
    entries = restaurants.entries
    entries[entry, SEATED] += 1
    if entries[entry, SERVED] > 1:
        put_table(restaurants, entry, take_table(restaurants, entry, uniform(state) * total, discount) + 1)


@kernel
def open_table(restaurants, entry):
    """Seat a customer at a new table of this dish."""
    entries = restaurants.entries
    if entries[entry, SERVED] == 1:  # the table that was alone gets a bin too
        put_table(restaurants, entry, entries[entry, SEATED])
    if entries[entry, SERVED] >= 1:
        put_table(restaurants, entry, 1)
    entries[entry, SEATED] += 1
    entries[entry, SERVED] += 1


@kernel
def leave_table(restaurants, entry, state):
    """Send one of the customers of a dish away, each as likely; return whether their table is given up."""
    entries = restaurants.entries
    entries[entry, SEATED] -= 1
    if entries[entry, SERVED] == 1:
        entries[entry, SERVED] -= entries[entry, SEATED] == 0
        return entries[entry, SEATED] == 0
    size = take_table(restaurants, entry, uniform(state) * (entries[entry, SEATED] + 1), 0.0)
    if size > 1:
        put_table(restaurants, entry, size - 1)
        return False
    entries[entry, SERVED] -= 1
    if entries[entry, SERVED] == 1:  # the table that is alone has no bin
        take_table(restaurants, entry, 0.0, 0.0)
    return True


@kernel
def take_table(restaurants, entry, rest, discount):
    """Count one table less, that at which the sum of sizes less discounts exceeds `rest`, and return its size.

    A bin of which it was the last table is free again.
    """
    entries, bins, used = restaurants.entries, restaurants.bins, restaurants.used
    before, at = NONE, entries[entry, BIN]
    while True:
        rest -= (bins[at, SIZE] - discount) * bins[at, COUNT]
        if rest < 0.0 or bins[at, NEXT_BIN] == NONE:
            break
        before, at = at, bins[at, NEXT_BIN]
    bins[at, COUNT] -= 1
    if bins[at, COUNT] == 0:
        if before == NONE:
            entries[entry, BIN] = bins[at, NEXT_BIN]
        else:
            bins[before, NEXT_BIN] = bins[at, NEXT_BIN]
        bins[at, NEXT_BIN] = used[FREE]
        used[FREE] = at
    return bins[at, SIZE]


@kernel
def put_table(restaurants, entry, size):
    """Count one table more of a size."""
    entries, bins, used = restaurants.entries, restaurants.bins, restaurants.used
    at = entries[entry, BIN]
    while at != NONE and bins[at, SIZE] != size:
        at = bins[at, NEXT_BIN]
    if at != NONE:
        bins[at, COUNT] += 1
        return
    at = used[FREE]
    if at != NONE:
        used[FREE] = bins[at, NEXT_BIN]
    else:
        at = used[BINS]
        used[BINS] += 1
    bins[at, SIZE], bins[at, COUNT], bins[at, NEXT_BIN] = size, 1, entries[entry, BIN]
    entries[entry, BIN] = at


@kernel
def sweep(restaurants, paths, cuts, order, seated, old, log_prob, state):
    """Seat the customers of events of sentences in this order anew; there is room for the sizes of their tables.

    cuts: (sentences + 1,), where each sentence's events begin; seated: whether they are seated already. One alone then
    leaves and comes back before the next one goes: only so is its seat drawn from its distribution given all others'
    seats, and the posterior stays as it is (Teh 2006, section 5). old: the paths of as many other events, or `NOBODY`:
    of each sentence these customers leave before those of the new events are seated. Returns log_prob with the
    log-probabilities of the events added, each given who sat there when it was seated.
    """
    for sentence in order:
        first, last, own = cuts[sentence], cuts[sentence + 1], 0.0
        for event in range(first, min(last, old.nodes.shape[0])):
            remove(restaurants, old.nodes[event], old.entries[event], state)
        for event in range(first, last):
            if seated:
                remove(restaurants, paths.nodes[event], paths.entries[event], state)
            own += log(add(restaurants, paths.nodes[event], paths.entries[event], state))
        log_prob += own
    return log_prob


# What processes predict once nobody comes or goes any more: tables from which probabilities are read off.
#
# With f = (theta + d T) / (theta + C) of a restaurant and m = (c - d t) / (theta + C) of a dish in it, the recursion
# is p_l(k) = m + f p_{l-1}(k). Restaurants with many dishes have p_l written out for every dish.


class Predictions(NamedTuple):
    """The tables of all processes of a parser together: a trie with a root for each.

    Attributes:
        children, served: hash tables as those of `Restaurants`.
        factors: (N,), f of every node.
        starts: (N + 1,) int32, where the entries of every node begin.
        dishes, masses: (M,) int32 and float64, dish and m of every entry.
        rows: (N,) int32, where the probabilities of a node's dishes are written out in `full`, or NONE. Those of roots
            are, and those of the parents of nodes whose are.
        full: all these probabilities, end to end.
    """

    children: Any
    served: Any
    factors: Any
    starts: Any
    dishes: Any
    masses: Any
    rows: Any
    full: Any


@kernel
def path_of(tables, root, context, path):
    """Walk from a root along a context while there are customers; return the level of the last node.

    path: (levels,) int64, written down to that level.
    """
    path[0] = root
    for level in range(context.shape[0]):
        node = find(tables.children, path[level], context[level])
        if node == NONE:
            return level
        path[level + 1] = node
    return context.shape[0]


@kernel
def predict_dishes(tables, root, context, path, probs):
    """Write the probability of every dish in a context into probs (dishes,); path: (levels,) int64, room to work."""
    factors, starts, dishes, masses, rows = tables.factors, tables.starts, tables.dishes, tables.masses, tables.rows
    deepest = path_of(tables, root, context, path)
    level, left = deepest, 1.0
    while rows[path[level]] == NONE:
        left *= factors[path[level]]
        level -= 1
    written_out = tables.full[rows[path[level]] :]
    for dish in range(probs.shape[0]):
        probs[dish] = left * written_out[dish]
    left = 1.0
    for below in range(deepest, level, -1):
        node = path[below]
        for entry in range(starts[node], starts[node + 1]):
            probs[dishes[entry]] += left * masses[entry]
        left *= factors[node]


@kernel
def predict_dish(tables, root, context, path, dish):
    """Return the probability of one dish in a context; path: (levels,) int64, room to work."""
    prob = tables.full[tables.rows[root] + dish]
    for level in range(1, path_of(tables, root, context, path) + 1):
        prob *= tables.factors[path[level]]
        entry = find(tables.served, path[level], dish)
        if entry != NONE:
            prob += tables.masses[entry]
    return prob


# Discounts and strengths: their likelihood given all that is seated, and slice sampling (Neal 2003).
#
# The likelihood of a level depends on three histograms: of customers and of tables per restaurant, and of the sizes of
# tables. Each is a pair of arrays, values and how often there are, so that nothing is summed event by event.


# A discount is between these.
SMALLEST, LARGEST = 1e-6, 1.0 - 1e-6

# The width of a step out, and the most steps, those to the left and to the right together.
WIDTH, MOST_STEPS = 0.2, 100


@kernel
def histograms(restaurants, level, customers, tables, sizes):
    """Count restaurants of a level by customers and by tables, and tables by size, into arrays long enough for each."""
    nodes, entries, bins = restaurants.nodes, restaurants.entries, restaurants.bins
    customers[:] = tables[:] = sizes[:] = 0
    for node in range(restaurants.used[NODES]):
        if nodes[node, LEVEL] != level or nodes[node, CUSTOMERS] == 0:
            continue
        customers[nodes[node, CUSTOMERS]] += 1
        tables[nodes[node, TABLES]] += 1
        entry = nodes[node, FIRST]
        while entry != NONE:
            if entries[entry, SERVED] == 1:
                sizes[entries[entry, SEATED]] += 1
            elif entries[entry, SERVED] > 1:
                at = entries[entry, BIN]
                while at != NONE:
                    sizes[bins[at, SIZE]] += bins[at, COUNT]
                    at = bins[at, NEXT_BIN]
            entry = entries[entry, NEXT]


@kernel
def log_likelihood(discount, strength, customers, tables, sizes):
    """Return the log-likelihood of a level, with the priors d ~ Beta(1, 1) and theta + d ~ Gamma(1, 1).

    customers, tables, sizes: histograms, each (distinct values, 2): the values and how often there are. -inf outside
    0 < d < 1, theta > -d.
    """
    if not (SMALLEST < discount < LARGEST and strength > -discount):
        return -math.inf
    total = -(discount + strength)
    constant = math.lgamma(strength + 1.0)
    for i in range(customers.shape[0]):
        total += customers[i, 1] * (constant - math.lgamma(strength + customers[i, 0]))
    constant, log_discount = math.lgamma(strength / discount + 1.0), math.log(discount)
    for i in range(tables.shape[0]):
        value = tables[i, 0]
        total += tables[i, 1] * ((value - 1.0) * log_discount + math.lgamma(strength / discount + value) - constant)
    constant = math.lgamma(1.0 - discount)
    for i in range(sizes.shape[0]):
        total += sizes[i, 1] * (math.lgamma(sizes[i, 0] - discount) - constant)
    return total


@kernel
def likelihood_at(which, value, discount, strength, counts):
    """Return the log-likelihood with another discount (which = 0) or strength (which = 1)."""
    if which == 0:
        return log_likelihood(value, strength, *counts)
    return log_likelihood(discount, value, *counts)


@kernel
def slice_sample(which, discount, strength, counts, state):
    """Return a discount (which = 0) or strength (which = 1) drawn by one step of slice sampling, stepping out."""
    start = discount if which == 0 else strength
    height = likelihood_at(which, start, discount, strength, counts) + math.log(1.0 - uniform(state))
    low = start - WIDTH * uniform(state)
    high = low + WIDTH
    lefts = np.int64(MOST_STEPS * uniform(state))
    for _ in range(lefts):
        if likelihood_at(which, low, discount, strength, counts) <= height:
            break
        low -= WIDTH
    for _ in range(MOST_STEPS - 1 - lefts):
        if likelihood_at(which, high, discount, strength, counts) <= height:
            break
        high += WIDTH
    while True:
        value = low + (high - low) * uniform(state)
        if likelihood_at(which, value, discount, strength, counts) > height or high - low < 1e-12:
            return value
        if value < start:
            low = value
        else:
            high = value


@kernel(allocates=True)
def pairs_of(counts):
    """Return the values that occur in a histogram and how often they do, (distinct values, 2)."""
    values = np.flatnonzero(counts)
    pairs = np.empty((values.shape[0], 2))
    pairs[:, 0], pairs[:, 1] = values, counts[values]
    return pairs


@kernel(allocates=True)
def resample_levels(restaurants, state):
    """Draw the discounts and strengths of all levels anew, each given the histograms of its level."""
    most, discounts, strengths = 1, restaurants.discounts, restaurants.strengths
    for node in range(restaurants.used[NODES]):
        most = max(most, restaurants.nodes[node, CUSTOMERS] + 1)
    customers, tables, sizes = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    for level in range(discounts.shape[0]):
        histograms(restaurants, level, customers, tables, sizes)
        counts = pairs_of(customers), pairs_of(tables), pairs_of(sizes)
        discounts[level] = slice_sample(0, discounts[level], strengths[level], counts, state)
        strengths[level] = slice_sample(1, discounts[level], strengths[level], counts, state)
