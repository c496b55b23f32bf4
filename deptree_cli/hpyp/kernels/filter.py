"""A particle filter over derivations: unbiased evidence of every word, and weighted samples of trees.

Particles shift, make left-arcs and right-arcs in proportion to the probability of all that are legal, and what illegal
actions would have had is lost from their weights; after every word they are resampled. Labels are in no context, so
they are summed out, and drawn for trees that are wanted. All draws of one configuration, and of one resampling, are
systematic: positions of equal distance with one random offset, so that every outcome has its share, rounded up or down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels import word_loop
from deptree_cli.hpyp.kernels.columns import ACTION, BELOW, INDEX, NULL_SYMBOL, PREVIOUS, ROOT, SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    is_alone,
    legal,
    new_predictor,
    predict_actions,
    predict_tags,
    read_tree,
    reduce,
    shift,
)
from deptree_cli.hpyp.kernels.particles import draw, normalise, put, resample, systematic_count, total_weight
from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elementary import log, total
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform


class Filter(NamedTuple):
    """A particle filter; room: the most records that a step adds; state: of random bits.

    log_evidence: (n + 1,), written: log p(w_i | w_1, ..., w_(i-1)) of each word, and of the end.
    """

    predictor: Any
    room: Any
    log_evidence: Any
    state: Any


@kernel(allocates=True)
def run_filter(model, words, tags, size, state):
    """Filter a sentence with so many particles; return the arena, the weighted items at its end, the log-evidence."""
    stages = words.shape[0] + 1
    method = Filter(new_predictor(model, words, tags), 2 + model.tags, np.empty(stages), state)
    arena, particles = word_loop.follow(method, stages, size)
    return arena, particles, method.log_evidence


@word_loop.step.register(Filter)
def _step(method, arena, index, item, waiting, shifted):
    words_left = index < method.log_evidence.shape[0]
    if not words_left and is_alone(arena, item.top):
        put(shifted, item.top, item.number, item.weight)
        return
    staying, weight = split_actions(method, arena, words_left, item, waiting)
    if staying > 0:
        split_tags(method, arena, index, item.top, staying, weight, shifted)


@kernel(forceinline=True)
def split_actions(method, arena, words_left, item, waiting):
    """Split an item among shift, left-arc and right-arc, each with any label.

    Returns how many particles shift, and the logarithm of their weight, which has lost the share of illegal actions.
    """
    probs, labels = method.predictor.action_probs, method.predictor.model.labels
    predict_actions(method.predictor, arena, item.top)
    may_shift, may_left, may_right = legal(arena, item.top, words_left)
    to_shift = probs[SHIFT] if may_shift else 0.0
    to_left = total(probs[1 : labels + 1]) if may_left else 0.0
    to_right = total(probs[labels + 1 :]) if may_right else 0.0
    mass, offset = to_shift + to_left + to_right, uniform(method.state)
    weight = item.weight + log(mass)
    staying = systematic_count(to_shift, mass, item.number, offset)
    lefts = systematic_count(to_shift + to_left, mass, item.number, offset) - staying
    for action, number in ((1, lefts), (labels + 1, item.number - staying - lefts)):
        if number > 0:
            put(waiting, reduce(arena, item.top, action, labels), number, weight)
    return staying, weight


@kernel(forceinline=True)
def split_tags(method, arena, index, top, number, weight, shifted):
    """Shift the next word for so many particles with its tag, or split them among all tags."""
    predictor = method.predictor
    first, stop, mass = predict_tags(predictor, arena, top, index)
    reach, taken, offset = 0.0, 0, uniform(method.state) if predictor.tags[index - 1] == NULL_SYMBOL else 0.0
    for tag in range(first, stop):
        reach += predictor.tag_probs[tag]
        share = systematic_count(reach, mass, number, offset) - taken
        if share > 0:
            taken += share
            put(shifted, shift(arena, top, index, tag, predictor.words[index - 1]), share, weight + log(mass))


@word_loop.select.register(Filter)
def _select(method, index, particles):
    resample_word(method.log_evidence, method.state, index, particles)


@kernel
def resample_word(log_evidence, state, index, particles):
    """Write the logarithm of the mean weight of particles behind word `index`; resample them but at the end."""
    size = particles.tops.shape[0]
    log_evidence[index - 1] = normalise(particles) + log(total_weight(particles) / size)
    if index < log_evidence.shape[0]:
        resample(particles, state)


@kernel(allocates=True)
def draw_parse(model, words, size, state):
    """Filter words without tags; return an arena, and the last record of a derivation drawn by weight.

    Labels are in no context, and are all the first.
    """
    arena, particles, _ = run_filter(model, words, np.zeros_like(words), size, state)
    return arena, draw(particles, state)


@kernel(allocates=True)
def filter_trees(model, words, tags, size, draws, state):
    """Filter a sentence (`run_filter`), and draw some of its trees by weight, with labels.

    Returns the heads and tags of all trees (trees, n) and their weights, whose sum is 1; which trees were drawn,
    (draws,), and their labels (draws, n), from 0; and the log-evidence.
    """
    n = words.shape[0]
    arena, particles, log_evidence = run_filter(model, words, tags, size, state)
    count, mass = particles.used[0], total_weight(particles)
    heads, found_tags, weights = np.empty((count, n), np.int32), np.empty((count, n), np.int32), np.empty(count)
    for i in range(count):
        read_tree(arena, particles.tops[i], model.labels, heads[i], np.empty(n, np.int32), found_tags[i])
        weights[i] = particles.numbers[i] * particles.weights[i] / mass
    drawn, deprels = np.empty(draws, np.int64), np.empty((draws, n), np.int32)
    predictor = new_predictor(model, words, tags)
    for i in range(draws):
        drawn[i] = draw_categorical(weights, 0, count, 1.0, state)
        draw_labels(predictor, arena, particles.tops[drawn[i]], state, deprels[i])
    return heads, found_tags, weights, drawn, deprels, log_evidence


@kernel(allocates=True)
def draw_labels(predictor, arena, last, state, deprels):
    """Draw the labels of a derivation given all else: they are in no context, so each is drawn by itself."""
    records, top, labels = arena.records, last, predictor.model.labels
    while top > ROOT:
        before, action = records[top, PREVIOUS], records[top, ACTION]
        if action != SHIFT:
            predict_actions(predictor, arena, before)
            is_left = action <= labels
            probs = predictor.action_probs[1 : labels + 1] if is_left else predictor.action_probs[labels + 1 :]
            dependent = records[before, BELOW] if is_left else before
            deprels[records[dependent, INDEX] - 1] = draw_categorical(probs, 0, labels, total(probs), state)
        top = before
