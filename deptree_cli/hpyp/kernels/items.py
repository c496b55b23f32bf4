"""Items: configurations that derivations have come to, with their particles and weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.elementary import exp
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform


class Items(NamedTuple):
    """Places (size,) for records on top of stacks, numbers of particles, and weights (or logarithms of weights)."""

    tops: Any
    particles: Any
    weights: Any


@kernel(allocates=True)
def new_items(size):
    """Return room for so many items."""
    return Items(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))


@kernel
def put(items, place, top, particles, weight):
    """Write an item; return the place behind it."""
    items.tops[place], items.particles[place], items.weights[place] = top, particles, weight
    return place + 1


@kernel(forceinline=True)
def systematic_count(reach, mass, particles, offset):
    """Return how many of the positions (offset + i) / particles, i = 0, 1, ..., are below reach / mass."""
    if reach >= mass * (1.0 - 1e-13):  # nothing is left but what sums were rounded by
        return particles
    return max(0, min(particles, np.int64(np.ceil(reach / mass * particles - offset))))


@kernel
def from_logs(items, count):
    """Turn logarithms of weights into weights, the largest of which is 1; return the logarithm that it had."""
    highest = -np.inf
    for i in range(count):
        highest = max(highest, items.weights[i])
    for i in range(count):
        items.weights[i] = exp(items.weights[i] - highest)
    return highest


@kernel
def total_weight(items, count):
    """Return the sum of particles times weights."""
    total = 0.0
    for i in range(count):
        total += items.particles[i] * items.weights[i]
    return total


@kernel
def drawn(items, count, state):
    """Return the record of an item, drawn in proportion to its weight."""
    rest = uniform(state) * total_weight(items, count)
    for i in range(count):
        rest -= items.particles[i] * items.weights[i]
        if rest < 0.0:
            return items.tops[i]
    return items.tops[count - 1]


@kernel
def resample(items, count, size, state):
    """Share `size` particles out in proportion to weights; return how many items have some, all of log-weight 0."""
    total = total_weight(items, count)
    reach, taken, offset, kept = 0.0, 0, uniform(state), 0
    for i in range(count):
        reach += items.particles[i] * items.weights[i]
        number = systematic_count(reach, total, size, offset) - taken
        if number > 0:
            taken += number
            kept = put(items, kept, items.tops[i], number, 0.0)
    return kept
