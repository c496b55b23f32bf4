"""The most probable derivation, looked for by particles (Buys and Blunsom 2015, algorithm 1).

Every derivation under way has a number of particles; at every step they are shared out among shift, left-arc and
right-arc by probability, and after every word in proportion to the weights of derivations. Weights are logarithms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels import word_loop
from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL, SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    TRIED,
    is_alone,
    legal,
    new_predictor,
    predict_actions,
    predict_tags,
    reduce,
    shift,
    with_room,
)
from deptree_cli.hpyp.kernels.particles import put
from deptree_cli.kernels.elementary import exp, log
from deptree_cli.kernels.flags import kernel

# The share of a particle that an item may have lost for good: one that would get less of it is not followed any
# longer. The last particle of a deep stack would else reduce it to the bottom after every word.
NEGLIGIBLE = 1e-6


class Search(NamedTuple):
    """A search by particles; room: the most records that a step adds.

    heaviest: (1,), the log-share of the heaviest item behind the next word; negligible: how far others may be below it.
    """

    predictor: Any
    room: Any
    negligible: Any
    heaviest: Any


@kernel(allocates=True)
def search(model, words, tags, size):
    """Return an arena, the last record of the heaviest derivation found with `size` particles, its log-probability."""
    predictor = new_predictor(model, words, tags)
    method = Search(predictor, 2 + TRIED, log(NEGLIGIBLE / size), np.full(1, -np.inf))
    arena, particles = word_loop.follow(method, words.shape[0], size)
    return heaviest_completed(predictor, arena, particles)


@word_loop.step.register(Search)
def _step(method, arena, index, item, waiting, shifted):
    if log_share(item.number, item.weight) < method.heaviest[0] + method.negligible:
        return
    predictor = method.predictor
    predict_actions(predictor, arena, item.top)
    _, may_reduce, _ = legal(arena, item.top, True)
    staying = np.int64(np.rint(item.number * predictor.action_probs[SHIFT])) if may_reduce else item.number
    if staying < item.number:
        reduce_by_best(predictor, arena, item, item.number - staying, waiting)
    if staying > 0:
        shift_with_best(method, arena, index, item, staying, shifted)


@kernel(forceinline=True)
def log_share(number, weight):
    """Return the logarithm of an item's number of particles times their weight, of which `select` gives a share."""
    return log(number) + weight


@kernel(forceinline=True)
def reduce_by_best(predictor, arena, item, number, waiting):
    """Share out so many of an item's particles between its best left-arc and its best right-arc."""
    probs, labels = predictor.action_probs, predictor.model.labels
    left, left_mass = best_of(probs, 1, labels + 1)
    right, right_mass = best_of(probs, labels + 1, 2 * labels + 1)
    lefts = np.int64(np.rint(number * left_mass / (left_mass + right_mass)))
    for action, going in ((left, lefts), (right, number - lefts)):
        if going > 0:
            put(waiting, reduce(arena, item.top, action, labels), going, item.weight + log(probs[action]))


@kernel(forceinline=True)
def shift_with_best(method, arena, index, item, number, shifted):
    """Shift the next word for so many of an item's particles, shared out among its best tags by probability."""
    predictor, probs, best = method.predictor, method.predictor.tag_probs, method.predictor.best
    weight = item.weight + log(predictor.action_probs[SHIFT])
    first, stop, _ = predict_tags(predictor, arena, item.top, index)
    best_tags(probs, first, stop, best)
    mass, reach, taken = 0.0, 0.0, 0
    for tag in best:
        mass += probs[tag]
    for tag in best:
        reach += probs[tag]
        share = min(np.int64(np.ceil(number * reach / mass)), number) - taken  # rounded in favour of the better
        if share > 0:
            taken += share
            after = weight + log(probs[tag])
            put(shifted, shift(arena, item.top, index, tag, predictor.words[index - 1]), share, after)
            method.heaviest[0] = max(method.heaviest[0], log_share(share, after))


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


@word_loop.select.register(Search)
def _select(method, index, particles):
    method.heaviest[0] = -np.inf
    share_out(particles)


@kernel
def share_out(particles):
    """Share out all particles by weight, rounded down; if no item would have any, the heaviest has all of them."""
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


@kernel(allocates=True)
def heaviest_completed(predictor, arena, particles):
    """Complete items when all words are shifted; return the arena, the last record of the heaviest, its weight."""
    best, best_weight = 0, -np.inf
    for i in range(particles.used[0]):
        arena = with_room(arena, predictor.words.shape[0])
        before = arena.used[0]
        top, weight = complete(predictor, arena, particles.tops[i], particles.weights[i], best_weight)
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
