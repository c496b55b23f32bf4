"""Many derivations of a sentence side by side, word by word; and the search for the most probable one.

Between two words every derivation makes left-arcs and right-arcs, or none. A method is a named tuple; it says what an
item does next (`step`), and which items survive a word (`select`): the search here, and the filters of `filter.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL, ROOT, SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    TRIED,
    is_alone,
    legal,
    new_arena,
    new_predictor,
    predict_actions,
    predict_tags,
    reduce,
    shift,
    tidied,
    with_room,
)
from deptree_cli.kernels.elementary import exp, log
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.operations import operation
from deptree_cli.kernels.xoshiro import uniform

# Particles: many that have the same derivation are one item, with their number and the weight of each.


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
    """Return room for this many items."""
    return Particles(np.empty(size, np.int64), np.ones(size, np.int64), np.empty(size), np.zeros(2, np.int64))


@kernel(forceinline=True)
def put(particles, top, number, weight):
    """Add an item."""
    place = particles.used[0]
    particles.tops[place], particles.numbers[place], particles.weights[place] = top, number, weight
    particles.used[0] = place + 1


@kernel(forceinline=True)
def next_item(particles, waiting, breadth_first):
    """Take an item that has not shifted the next word: the one that waits last or, breadth first, waits longest."""
    if breadth_first and particles.used[1] == particles.used[0]:
        particles.used[0], particles.used[1] = waiting.used[0], 0
        for i in range(waiting.used[0]):
            particles.tops[i], particles.weights[i] = waiting.tops[i], waiting.weights[i]
        waiting.used[0] = 0
    if waiting.used[0] > 0 and not breadth_first:
        place = waiting.used[0] - 1
        waiting.used[0] = place
        return Item(waiting.tops[place], waiting.numbers[place], waiting.weights[place])
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


# The loop over the words of a sentence.


# Records for each word and the root that the loop begins with.
EACH = 64


@operation(forceinline=True)  # a method may be three hundred arguments
def step(method, arena, index, item, waiting, shifted):
    """Give an item its next actions: put it into `shifted` after a shift of word `index`, else into `waiting`."""
    raise NotImplementedError


@operation
def select(method, index, particles):
    """Write the log of the mean weight behind word `index` into method.log_evidence, and resample but at the end.

    Weights, whose logarithms were there, are scaled to be at most 1. Resampling draws as many particles as there is
    room for in proportion to weights, systematically; their log-weights are then 0.
    """
    size, items, highest = particles.tops.shape[0], particles.used[0], -np.inf
    for i in range(items):
        highest = max(highest, particles.weights[i])
    for i in range(items):
        particles.weights[i] = exp(particles.weights[i] - highest)
    total = total_weight(particles)
    method.log_evidence[index - 1] = highest + log(total / size)
    if index == method.log_evidence.shape[0]:
        return
    reach, taken, offset = 0.0, 0, uniform(method.state)
    particles.used[0] = 0
    for i in range(items):
        reach += particles.numbers[i] * particles.weights[i]
        number = systematic_count(reach, total, size, offset) - taken
        if number > 0:
            taken += number
            put(particles, particles.tops[i], number, 0.0)


@kernel(forceinline=True)
def are_left(particles, waiting):
    """Return whether there are items that have not shifted the next word."""
    return waiting.used[0] > 0 or particles.used[1] < particles.used[0]


@kernel
def expand(method, arena, index, particles, waiting, shifted, breadth_first):
    """Take steps until all items have shifted word `index`, or the arena has no room for another step."""
    while are_left(particles, waiting) and arena.used[0] + method.room <= arena.records.shape[0]:
        step(method, arena, index, next_item(particles, waiting, breadth_first), waiting, shifted)


@kernel(allocates=True)
def follow(method, stages, size, breadth_first):
    """Follow derivations with `size` particles from ROOT alone, word by word; return the arena and the last items.

    method.room: the most records that one step adds. Depth first, `waiting` is a stack; breadth first it has those
    items that made one arc more than all in `particles`.
    """
    arena = new_arena(EACH * (stages + 1))
    particles, waiting, shifted = new_particles(size), new_particles(size), new_particles(size)
    put(particles, ROOT, size, 0.0)
    for index in range(1, stages + 1):
        arena = tidied(arena, particles)
        shifted.used[:] = 0
        while are_left(particles, waiting):  # references to arrays are counted here, and not in the steps
            arena = with_room(arena, method.room)
            expand(method, arena, index, particles, waiting, shifted, breadth_first)
        particles, shifted = shifted, particles
        select(method, index, particles)
    return arena, particles


# The most probable derivation, looked for by particles (Buys and Blunsom 2015, algorithm 1) or by a beam.
#
# Particles of an item are shared out among shift, left-arc and right-arc by probability, and after every word all in
# proportion to the weights of items. A beam, what this is compared with, asks for weights alone: after every word the
# heaviest items stay, as many as it has places; and between two words, of those that have made the same number of
# steps, or stacks of s words would have 2^s successors. Weights are logarithms.


# The share of a particle that an item may have lost for good: one that would get less of it is not followed any
# longer. The last particle of a deep stack would else reduce it to the bottom after every word.
NEGLIGIBLE = 1e-6


class Search(NamedTuple):
    """A search by particles or, if is_beam, by a beam; room: the most records that a step adds.

    heaviest: (1,), the log-share of the heaviest item behind the next word, the logarithm of its number of particles
    times their weight; negligible: how far others may be below it.
    """

    predictor: Any
    room: Any
    is_beam: Any
    negligible: Any
    heaviest: Any


@kernel(allocates=True)
def search(model, words, tags, size, is_beam):
    """Return an arena, the last record of the heaviest derivation found with `size` particles, its log-probability.

    is_beam: whether it is found by a beam of `size` places instead.
    """
    method = Search(new_predictor(model, words, tags), 2 + TRIED, is_beam, log(NEGLIGIBLE / size), np.full(1, -np.inf))
    arena, particles = follow(method, words.shape[0], size, is_beam)
    best, best_weight = 0, -np.inf
    for i in range(particles.used[0]):
        arena = with_room(arena, words.shape[0])
        before = arena.used[0]
        top, weight = complete(method.predictor, arena, particles.tops[i], particles.weights[i], best_weight)
        if weight > best_weight:
            best, best_weight = top, weight
        else:
            arena.used[0] = before
    return arena, best, best_weight


@kernel
def complete(predictor, arena, top, weight, lowest):
    """Take the best legal action until ROOT is alone; return the last record and its weight.

    Weights only fall: once it is not above `lowest` the rest is left out.
    """
    probs, labels = predictor.action_probs, predictor.model.labels
    while weight > lowest and not is_alone(arena, top):
        predict_actions(predictor, arena, top)
        _, may_left, _ = legal(arena, top, False)
        action, _ = best_of(probs, 1 if may_left else labels + 1, 2 * labels + 1)
        weight += log(probs[action])
        top = reduce(arena, top, action, labels)
    return top, weight


@step.register(Search)
def _step(method, arena, index, item, waiting, shifted):
    if method.is_beam:
        if not has_place(shifted, item.weight):  # weights only fall
            return
    elif log(item.number) + item.weight < method.heaviest[0] + method.negligible:
        return
    predictor, probs, labels = method.predictor, method.predictor.action_probs, method.predictor.model.labels
    predict_actions(predictor, arena, item.top)
    _, may_reduce, _ = legal(arena, item.top, True)  # a right-arc while words are left only where there is a left-arc
    staying = np.int64(np.rint(item.number * probs[SHIFT])) if may_reduce else item.number
    going = item.number - staying
    if may_reduce and (going > 0 or method.is_beam):
        left, left_mass = best_of(probs, 1, labels + 1)
        right, right_mass = best_of(probs, labels + 1, 2 * labels + 1)
        lefts = np.int64(np.rint(going * left_mass / (left_mass + right_mass)))
        for action, number in ((left, lefts), (right, going - lefts)):
            weight = item.weight + log(probs[action])
            if goes_on(method, waiting, number, weight):
                add(method, waiting, reduce(arena, item.top, action, labels), number, weight)
    weight = item.weight + log(probs[SHIFT])
    if not goes_on(method, shifted, staying, weight):
        return
    probs, best, mass, reach, taken = predictor.tag_probs, predictor.best, 0.0, 0.0, 0
    first, stop, _ = predict_tags(predictor, arena, item.top, index)
    best_tags(probs, first, stop, best)
    for tag in best:
        mass += probs[tag]
    for tag in best:
        if probs[tag] == 0.0:
            break
        reach += probs[tag]
        number = min(np.int64(np.ceil(staying * reach / mass)), staying) - taken  # rounded in favour of the better
        after = weight + log(probs[tag])
        if goes_on(method, shifted, number, after):
            taken += number
            add(method, shifted, shift(arena, item.top, index, tag, predictor.words[index - 1]), number, after)
            method.heaviest[0] = max(method.heaviest[0], log(number) + after)


@kernel(forceinline=True)
def goes_on(method, particles, number, weight):
    """Return whether an item with this many particles is followed: in a beam, whether its weight has a place."""
    return has_place(particles, weight) if method.is_beam else number > 0


@kernel(forceinline=True)
def add(method, particles, top, number, weight):
    """Add an item that goes on."""
    if method.is_beam:
        keep(particles, top, weight)
    else:
        put(particles, top, number, weight)


@kernel
def best_of(probs, start, stop):
    """Return the index of the largest of probs[start:stop], and their sum."""
    best, total = start, 0.0
    for i in range(start, stop):
        total += probs[i]
        if probs[i] > probs[best]:
            best = i
    return best, total


@kernel
def best_tags(weights, first, stop, best):
    """Write the tags of the largest among weights[first:stop], the largest first; null where there are no more."""
    best[:] = NULL_SYMBOL
    for tag in range(first, stop):
        place = TRIED
        while place > 0 and weights[tag] > weights[best[place - 1]]:
            place -= 1
            if place + 1 < TRIED:
                best[place + 1] = best[place]
        if place < TRIED:
            best[place] = tag


@select.register(Search)
def _select(method, index, particles):
    """Share out all particles by weight, rounded down; if no item would have any, the heaviest has all of them."""
    if method.is_beam:
        return
    tops, numbers, weights = particles.tops, particles.numbers, particles.weights
    items, size, heaviest = particles.used[0], tops.shape[0], 0
    for i in range(items):
        if weights[i] > weights[heaviest]:
            heaviest = i
    best, highest, total = tops[heaviest], weights[heaviest], 0.0
    for i in range(items):
        total += numbers[i] * exp(weights[i] - highest)
    particles.used[0] = 0
    for i in range(items):
        share = np.int64(size * (numbers[i] * exp(weights[i] - highest) / total))
        if share > 0:
            put(particles, tops[i], share, weights[i])
    if particles.used[0] == 0:
        put(particles, best, size, highest)
    method.heaviest[0] = -np.inf


@kernel(forceinline=True)
def has_place(particles, weight):
    """Return whether an item of this weight is among the heaviest, those of a heap."""
    return particles.used[0] < particles.weights.shape[0] or weight > particles.weights[0]


@kernel
def keep(particles, top, weight):
    """Put an item that has a place into a heap whose lightest item is the first; without room the lightest one goes."""
    tops, weights, count = particles.tops, particles.weights, particles.used[0]
    if count < weights.shape[0]:
        place = count
        particles.used[0] = count + 1
        while place > 0 and weights[(place - 1) // 2] > weight:
            above = (place - 1) // 2
            tops[place], weights[place], place = tops[above], weights[above], above
    else:
        place = 0
        while 2 * place + 1 < count:
            below = 2 * place + 1
            if below + 1 < count and weights[below + 1] < weights[below]:
                below += 1
            if weights[below] >= weight:
                break
            tops[place], weights[place], place = tops[below], weights[below], below
    tops[place], weights[place] = top, weight
