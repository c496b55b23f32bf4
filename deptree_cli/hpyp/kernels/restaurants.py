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


# Customers who come and go: Gibbs sampling of seating arrangements, with histograms of table sizes.
#
# An event is a dish in a context. Its path, the nodes and entries from the empty context to the whole one, is looked up
# once (`index`), so a sweep does no hashing. Of the tables that serve a dish only their sizes matter, and of those how
# many there are of each (Blunsom et al. 2009); where there is one table its size is the number of customers.


# The nodes and entries of no events.
NOBODY = np.empty((0, 0), np.int32), np.empty((0, 0), np.int32)


@kernel
def index(restaurants, contexts, dishes, order, nodes, entries):
    """Look up the paths of events in this order, making what is missing, for which there is room.

    contexts: (events, L); dishes: (events,); order: numbers of events, best sorted by their contexts. nodes and
    entries: (events, L + 1) int32, written.
    """
    levels = contexts.shape[1] + 1
    for place in range(order.shape[0]):
        event = order[place]
        level = 0
        if place > 0:  # what is shared with the event before need not be looked up
            before = order[place - 1]
            while level < levels - 1 and contexts[event, level] == contexts[before, level]:
                level += 1
            for above in range(level + 1):
                nodes[event, above] = nodes[before, above]
        else:
            nodes[event, 0] = 0
        for below in range(level, levels - 1):
            nodes[event, below + 1] = node_for(restaurants, nodes[event, below], contexts[event, below])
        for each in range(levels):
            entries[event, each] = entry_for(restaurants, nodes[event, each], dishes[event])


@kernel(allocates=True)
def add(restaurants, path, served, state):
    """Seat a customer at the end of a path of nodes, whose entries are `served`; return its probability before."""
    nodes, entries = restaurants.nodes, restaurants.entries
    discounts, strengths = restaurants.discounts, restaurants.strengths
    levels = path.shape[0]
    above = np.empty(MOST_LEVELS)
    prob = restaurants.base[0]
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
    entries, bins = restaurants.entries, restaurants.bins
    entries[entry, SEATED] += 1
    if entries[entry, SERVED] == 1:
        return
    rest = uniform(state) * total
    before, at = NONE, entries[entry, BIN]
    while True:
        rest -= (bins[at, SIZE] - discount) * bins[at, COUNT]
        if rest < 0.0 or bins[at, NEXT_BIN] == NONE:
            break
        before, at = at, bins[at, NEXT_BIN]
    size = bins[at, SIZE]
    take_from_bin(restaurants, entry, before, at)
    put_into_bin(restaurants, entry, size + 1)


@kernel
def open_table(restaurants, entry):
    """Seat a customer at a new table of this dish."""
    entries = restaurants.entries
    if entries[entry, SERVED] == 1:  # the table that was alone gets a bin too
        put_into_bin(restaurants, entry, entries[entry, SEATED])
    if entries[entry, SERVED] >= 1:
        put_into_bin(restaurants, entry, 1)
    entries[entry, SEATED] += 1
    entries[entry, SERVED] += 1


@kernel
def leave_table(restaurants, entry, state):
    """Send one of the customers of a dish away, each as likely; return whether their table is given up."""
    entries, bins = restaurants.entries, restaurants.bins
    entries[entry, SEATED] -= 1
    if entries[entry, SERVED] == 1:
        entries[entry, SERVED] -= entries[entry, SEATED] == 0
        return entries[entry, SEATED] == 0
    rest = np.int64(uniform(state) * (entries[entry, SEATED] + 1))
    before, at = NONE, entries[entry, BIN]
    while True:
        rest -= bins[at, SIZE] * bins[at, COUNT]
        if rest < 0:
            break
        before, at = at, bins[at, NEXT_BIN]
    size = bins[at, SIZE]
    take_from_bin(restaurants, entry, before, at)
    if size > 1:
        put_into_bin(restaurants, entry, size - 1)
        return False
    entries[entry, SERVED] -= 1
    if entries[entry, SERVED] == 1:
        take_from_bin(restaurants, entry, NONE, entries[entry, BIN])
    return True


@kernel
def take_from_bin(restaurants, entry, before, at):
    """Count one table less in a bin, which is free again if it was the last; before: the bin in front, or NONE."""
    bins, used = restaurants.bins, restaurants.used
    bins[at, COUNT] -= 1
    if bins[at, COUNT] > 0:
        return
    if before == NONE:
        restaurants.entries[entry, BIN] = bins[at, NEXT_BIN]
    else:
        bins[before, NEXT_BIN] = bins[at, NEXT_BIN]
    bins[at, NEXT_BIN] = used[FREE]
    used[FREE] = at


@kernel
def put_into_bin(restaurants, entry, size):
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
def resample(restaurants, nodes, entries, start, stop, seated, state):
    """Seat the customers of the events start..stop-1 anew, one after another; they are seated already or not.

    One alone leaves and comes back before the next one goes: only then is its seat drawn from its distribution given
    all others' seats, and the posterior stays as it is (Teh 2006, section 5). nodes, entries: the paths of all events.
    Returns the sum of their log-probabilities, each given who sat there when it was seated.
    """
    log_prob = 0.0
    for event in range(start, stop):
        if seated:
            remove(restaurants, nodes[event], entries[event], state)
        log_prob += log(add(restaurants, nodes[event], entries[event], state))
    return log_prob


@kernel
def sweep(restaurants, nodes, entries, cuts, order, seated, old, log_prob, state):
    """Resample the events of sentences in this order, one by one; there is room for the sizes of their tables.

    cuts: (sentences + 1,), where each sentence's events begin; old: the nodes and entries of as many other events, or
    `NOBODY`: of each sentence these customers leave before those of the new events are seated. Returns log_prob with
    those of the events added.
    """
    for sentence in order:
        first, last = cuts[sentence], cuts[sentence + 1]
        for event in range(first, min(last, old[0].shape[0])):
            remove(restaurants, old[0][event], old[1][event], state)
        log_prob += resample(restaurants, nodes, entries, first, last, seated, state)
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
    """Return the probability of one dish in a context."""
    deepest = path_of(tables, root, context, path)
    return predict_below(tables, path, deepest, dish, tables.full[tables.rows[root] + dish])


@kernel
def predict_below(tables, path, deepest, dish, prob):
    """Return the probability of a dish at path[deepest], given that at path[0]."""
    for level in range(1, deepest + 1):
        node = path[level]
        prob *= tables.factors[node]
        entry = find(tables.served, node, dish)
        if entry != NONE:
            prob += tables.masses[entry]
    return prob


@kernel
def write_out(tables, nodes, parents, base):
    """Write the probabilities of all dishes out in `full`, for nodes that come behind their parents.

    parents: NONE for a root, whose dishes have the probabilities base (dishes,) before there are customers.
    """
    dishes = base.shape[0]
    for i in range(nodes.shape[0]):
        node = nodes[i]
        probs = tables.full[tables.rows[node] : tables.rows[node] + dishes]
        above = base
        if parents[i] != NONE:
            above = tables.full[tables.rows[parents[i]] : tables.rows[parents[i]] + dishes]
        for dish in range(dishes):
            probs[dish] = tables.factors[node] * above[dish]
        for entry in range(tables.starts[node], tables.starts[node + 1]):
            probs[tables.dishes[entry]] += tables.masses[entry]


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
    customers, tables, sizes = counts
    discount, strength = (value, strength) if which == 0 else (discount, value)
    return log_likelihood(discount, strength, customers, tables, sizes)


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


@kernel
def resample_level(restaurants, level, counts, state):
    """Draw a level's discount and strength anew, given its histograms (`log_likelihood`)."""
    discounts, strengths = restaurants.discounts, restaurants.strengths
    discounts[level] = slice_sample(0, discounts[level], strengths[level], counts, state)
    strengths[level] = slice_sample(1, discounts[level], strengths[level], counts, state)


@kernel(allocates=True)
def pairs_of(counts):
    """Return the values that occur in a histogram and how often they do, (distinct values, 2)."""
    values = np.flatnonzero(counts)
    pairs = np.empty((values.shape[0], 2))
    pairs[:, 0], pairs[:, 1] = values, counts[values]
    return pairs


@kernel(allocates=True)
def resample_levels(restaurants, state):
    """Draw the discounts and strengths of all levels anew."""
    most = restaurants.nodes[0, CUSTOMERS] + 1
    for node in range(restaurants.used[NODES]):
        most = max(most, restaurants.nodes[node, CUSTOMERS] + 1)
    customers, tables, sizes = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    for level in range(restaurants.discounts.shape[0]):
        histograms(restaurants, level, customers, tables, sizes)
        resample_level(restaurants, level, (pairs_of(customers), pairs_of(tables), pairs_of(sizes)), state)
