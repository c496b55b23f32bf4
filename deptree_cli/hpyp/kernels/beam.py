"""The most probable derivation, looked for with a beam of fixed size: what particles are compared with.

After every word the heaviest configurations stay. Between two words they are reduced step by step; of those that have
made the same number of steps the heaviest go on, or stacks of s words would have 2^s successors. Weights are
logarithms; how many particles an item has is never asked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.hpyp.kernels import word_loop
from deptree_cli.hpyp.kernels.columns import SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    TRIED,
    legal,
    new_predictor,
    predict_actions,
    predict_tags,
    reduce,
    shift,
)
from deptree_cli.hpyp.kernels.particles import take
from deptree_cli.hpyp.kernels.search import best_of, best_tags, heaviest_completed
from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel


class Beam(NamedTuple):
    """A search by a beam; room: the most records that a step adds."""

    predictor: Any
    room: Any


@kernel(allocates=True)
def beam_search(model, words, tags, size):
    """Return what `search` returns, found by a beam of `size`."""
    method = Beam(new_predictor(model, words, tags), 2 + TRIED)
    arena, particles = word_loop.follow(method, words.shape[0], size)
    return heaviest_completed(method.predictor, arena, particles)


@word_loop.take_next.register(Beam)
def _take_next(method, particles, waiting):
    """Breadth first: `waiting` has those items that made one more arc."""
    if particles.used[1] == particles.used[0]:
        particles.used[0], particles.used[1] = waiting.used[0], 0
        for i in range(waiting.used[0]):
            particles.tops[i], particles.weights[i] = waiting.tops[i], waiting.weights[i]
        waiting.used[0] = 0
    return take(particles)


@word_loop.step.register(Beam)
def _step(method, arena, index, item, waiting, shifted):
    if has_place(shifted, item.weight):  # weights only fall
        predict_actions(method.predictor, arena, item.top)
        reduce_both(method.predictor, arena, item, waiting)
        shift_best(method.predictor, arena, index, item, shifted)


@kernel(forceinline=True)
def reduce_both(predictor, arena, item, waiting):
    """Offer a place to an item after its best left-arc, and after its best right-arc."""
    probs, labels = predictor.action_probs, predictor.model.labels
    _, may_reduce, _ = legal(arena, item.top, True)  # a right-arc while words are left only where there is a left-arc
    if may_reduce:
        for first in (1, labels + 1):
            action, _ = best_of(probs, first, first + labels)
            weight = item.weight + log(probs[action])
            if has_place(waiting, weight):
                keep(waiting, reduce(arena, item.top, action, labels), weight)


@kernel(forceinline=True)
def shift_best(predictor, arena, index, item, shifted):
    """Offer a place to an item after it has shifted the next word, with each of its best tags if that is not known."""
    weight = item.weight + log(predictor.action_probs[SHIFT])
    if not has_place(shifted, weight):
        return
    first, stop, _ = predict_tags(predictor, arena, item.top, index)
    best_tags(predictor.tag_probs, first, stop, predictor.best)
    for tag in predictor.best:
        after = weight + log(predictor.tag_probs[tag])
        if predictor.tag_probs[tag] > 0.0 and has_place(shifted, after):
            keep(shifted, shift(arena, item.top, index, tag, predictor.words[index - 1]), after)


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
