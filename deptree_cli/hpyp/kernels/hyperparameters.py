"""Discounts and strengths: their likelihood given all that is seated, and slice sampling (Neal 2003).

The likelihood of a level depends on three histograms: of customers and of tables per restaurant, and of the sizes of
tables. Each is a pair of arrays, values and how often there are, so that nothing is summed event by event.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.hpyp.kernels.restaurants import (
    BIN,
    COUNT,
    CUSTOMERS,
    FIRST,
    LEVEL,
    NEXT,
    NEXT_BIN,
    NODES,
    NONE,
    SEATED,
    SERVED,
    SIZE,
    TABLES,
)
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform

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
