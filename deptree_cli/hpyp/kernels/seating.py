"""Customers who come and go: Gibbs sampling of seating arrangements, with histograms of table sizes.

An event is a dish in a context. Its path, the nodes and entries from the empty context to the whole one, is looked up
once (`index`), so a sweep does no hashing. Of the tables that serve a dish only their sizes matter, and of those how
many there are of each (Blunsom et al. 2009); where there is one table its size is the number of customers.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.hpyp.kernels.restaurants import (
    BIN,
    BINS,
    COUNT,
    CUSTOMERS,
    FREE,
    MOST_LEVELS,
    NEXT_BIN,
    NONE,
    SEATED,
    SERVED,
    SIZE,
    TABLES,
    entry_for,
    node_for,
)
from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform

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
