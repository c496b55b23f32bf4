"""Particles: many that have the same derivation are one item, with their number and the weight of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.elementary import exp
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform


class Item(NamedTuple):
    """The top of a stack, how many particles have come to it, and the weight of each (or its logarithm)."""

    top: Any
    number: Any
    weight: Any


class Particles(NamedTuple):
    """Room for items, (size,) of each of their parts; used: (2,), how many items there are, and how many are taken."""

    tops: Any
    numbers: Any
    weights: Any
    used: Any


@kernel(allocates=True)
def new_particles(size):
    """Return room for so many items."""
    return Particles(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size), np.zeros(2, np.int64))


@kernel(forceinline=True)
def put(particles, top, number, weight):
    """Add an item."""
    place = particles.used[0]
    particles.tops[place], particles.numbers[place], particles.weights[place] = top, number, weight
    particles.used[0] = place + 1


@kernel(forceinline=True)
def pop(particles):
    """Remove the last item and return it."""
    place = particles.used[0] - 1
    particles.used[0] = place
    return Item(particles.tops[place], particles.numbers[place], particles.weights[place])


@kernel(forceinline=True)
def take(particles):
    """Return the first item that is not taken, and take it."""
    place = particles.used[1]
    particles.used[1] = place + 1
    return Item(particles.tops[place], particles.numbers[place], particles.weights[place])


@kernel(forceinline=True)
def systematic_count(reach, mass, particles, offset):
    """Return how many of the positions (offset + i) / particles, i = 0, 1, ..., are below reach / mass."""
    if reach >= mass * (1.0 - 1e-13):  # nothing is left but what sums were rounded by
        return particles
    return max(0, min(particles, np.int64(np.ceil(reach / mass * particles - offset))))


@kernel
def normalise(particles):
    """Turn log-weights into weights, the largest of which is 1; return its log-weight."""
    highest = -np.inf
    for i in range(particles.used[0]):
        highest = max(highest, particles.weights[i])
    for i in range(particles.used[0]):
        particles.weights[i] = exp(particles.weights[i] - highest)
    return highest


@kernel
def total_weight(particles):
    """Return the sum of the weights of all particles."""
    total = 0.0
    for i in range(particles.used[0]):
        total += particles.numbers[i] * particles.weights[i]
    return total


@kernel
def draw(particles, state):
    """Return the top of an item, drawn in proportion to the weight of its particles."""
    rest = uniform(state) * total_weight(particles)
    for i in range(particles.used[0]):
        rest -= particles.numbers[i] * particles.weights[i]
        if rest < 0.0:
            return particles.tops[i]
    return particles.tops[particles.used[0] - 1]


@kernel
def resample(particles, state):
    """Draw as many particles as there is room for in proportion to weights, systematically; log-weights are then 0."""
    size, items, total = particles.tops.shape[0], particles.used[0], total_weight(particles)
    reach, taken, offset = 0.0, 0, uniform(state)
    particles.used[0] = 0
    for i in range(items):
        reach += particles.numbers[i] * particles.weights[i]
        number = systematic_count(reach, total, size, offset) - taken
        if number > 0:
            taken += number
            put(particles, particles.tops[i], number, 0.0)
