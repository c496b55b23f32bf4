"""The loop over the words of a sentence that searches, the beam and particle filters share.

Between two words every derivation makes left-arcs and right-arcs, or none. A method is a named tuple; it says how an
item gets to its next word (`step`, or `expand` for all items at once) and which items survive a word (`select`).
"""

from __future__ import annotations

from deptree_cli.hpyp.kernels.columns import ROOT
from deptree_cli.hpyp.kernels.configurations import new_arena, tidied, with_room
from deptree_cli.hpyp.kernels.particles import new_particles, pop, put
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operation import operation

# Records for each word and the root that the loop begins with.
EACH = 64


@operation
def step(method, arena, index, item, waiting, shifted):
    """Give an item its next actions: put it into `shifted` after a shift of word `index`, else into `waiting`."""
    raise NotImplementedError


@operation
def select(method, index, particles):
    """Keep those items that go on behind word `index`."""


@operation
def expand(method, arena, index, particles, waiting, shifted):
    """Take all items behind word `index`, depth first; return the arena, with room for what a step may add.

    method.room: the most records that one step adds.
    """
    for i in range(particles.used[0]):
        put(waiting, particles.tops[i], particles.numbers[i], particles.weights[i])
        while waiting.used[0] > 0:
            arena = with_room(arena, method.room)
            step(method, arena, index, pop(waiting), waiting, shifted)
    return arena


@kernel(allocates=True)
def follow(method, stages, size):
    """Follow derivations with `size` particles from ROOT alone, word by word; return the arena and the last items."""
    arena = new_arena(EACH * (stages + 1))
    particles, waiting, shifted = new_particles(size), new_particles(size), new_particles(size)
    put(particles, ROOT, size, 0.0)
    for index in range(1, stages + 1):
        arena = tidied(arena, particles)
        shifted.used[0] = 0
        arena = expand(method, arena, index, particles, waiting, shifted)
        particles, shifted = shifted, particles
        select(method, index, particles)
    return arena, particles
