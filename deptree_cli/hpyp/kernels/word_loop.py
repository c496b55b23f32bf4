"""The loop over the words of a sentence that searches, the beam and particle filters share.

Between two words every derivation makes left-arcs and right-arcs, or none. A method is a named tuple; it says what an
item does next (`step`), which item is the next (`take_next`), and which items survive a word (`select`).
"""

from __future__ import annotations

from deptree_cli.hpyp.kernels.columns import ROOT
from deptree_cli.hpyp.kernels.configurations import new_arena, tidied, with_room
from deptree_cli.hpyp.kernels.particles import new_particles, pop, put, take
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.operations import operation

# Records for each word and the root that the loop begins with.
EACH = 64


@operation(forceinline=True)  # a method may be three hundred arguments
def step(method, arena, index, item, waiting, shifted):
    """Give an item its next actions: put it into `shifted` after a shift of word `index`, else into `waiting`."""
    raise NotImplementedError


@operation
def select(method, index, particles):
    """Keep those items that go on behind word `index`."""


@operation
def take_next(method, particles, waiting):
    """Return the item behind the last word that is to go on: depth first."""
    return pop(waiting) if waiting.used[0] > 0 else take(particles)


@kernel
def expand(method, arena, index, particles, waiting, shifted):
    """Take steps until all items have shifted word `index`, or the arena has no room for another step."""
    while are_left(particles, waiting) and arena.used[0] + method.room <= arena.records.shape[0]:
        step(method, arena, index, take_next(method, particles, waiting), waiting, shifted)


@kernel(forceinline=True)
def are_left(particles, waiting):
    """Return whether there are items that have not shifted the next word."""
    return waiting.used[0] > 0 or particles.used[1] < particles.used[0]


@kernel(allocates=True)
def follow(method, stages, size):
    """Follow derivations with `size` particles from ROOT alone, word by word; return the arena and the last items.

    method.room: the most records that one step adds.
    """
    arena = new_arena(EACH * (stages + 1))
    particles, waiting, shifted = new_particles(size), new_particles(size), new_particles(size)
    put(particles, ROOT, size, 0.0)
    for index in range(1, stages + 1):
        arena = tidied(arena, particles)
        shifted.used[:] = 0
        while are_left(particles, waiting):  # references to arrays are counted here, and not in the steps
            arena = with_room(arena, method.room)
            expand(method, arena, index, particles, waiting, shifted)
        particles, shifted = shifted, particles
        select(method, index, particles)
    return arena, particles
