"""Particle filters over the derivations of a sentence, or of its tree: unbiased evidence of words, weighted samples.

Particles shift, make left-arcs and right-arcs in proportion to the probability of all that are legal, and what illegal
actions would have had is lost from their weights; after every word they are resampled. Labels are in no context, so
they are summed out, and drawn for trees that are wanted. All draws of one configuration, and of one resampling, are
systematic: positions of equal distance with one random offset, so that every outcome has its share, rounded up or down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels.columns import ACTION, BELOW, INDEX, NULL_SYMBOL, PREVIOUS, ROOT, SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    ACTIONS,
    EVENTS,
    TAGS,
    WORDS,
    choices,
    context_of,
    is_alone,
    legal,
    new_predictor,
    predict_actions,
    predict_tags,
    read_actions,
    read_tree,
    record_events,
    reduce,
    shift,
    tree_of,
)
from deptree_cli.hpyp.kernels.restaurants import MOST_LEVELS, Paths, add, predict, remove
from deptree_cli.hpyp.kernels.restaurants import index as look_up
from deptree_cli.hpyp.kernels.search import draw, follow, put, step, systematic_count, total_weight
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
    """Filter a sentence with this many particles; return the arena, the weighted items at its end, the log-evidence."""
    stages = words.shape[0] + 1
    method = Filter(new_predictor(model, words, tags), 2 + model.tags, np.empty(stages), state)
    arena, particles = follow(method, stages, size, False)
    return arena, particles, method.log_evidence


@step.register(Filter)
def _step(method, arena, index, item, waiting, shifted):
    words_left = index < method.log_evidence.shape[0]
    if not words_left and is_alone(arena, item.top):
        put(shifted, item.top, item.number, item.weight)
        return
    predictor, probs, labels = method.predictor, method.predictor.action_probs, method.predictor.model.labels
    predict_actions(predictor, arena, item.top)
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
    if staying > 0:
        first, stop, mass = predict_tags(predictor, arena, item.top, index)
        weight += log(mass)
        reach, taken, offset = 0.0, 0, uniform(method.state) if predictor.tags[index - 1] == NULL_SYMBOL else 0.0
        for tag in range(first, stop):
            reach += predictor.tag_probs[tag]
            number = systematic_count(reach, mass, staying, offset) - taken
            if number > 0:
                taken += number
                put(shifted, shift(arena, item.top, index, tag, predictor.words[index - 1]), number, weight)


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


# Derivations of known trees, drawn given all that is seated elsewhere (Buys and Blunsom 2015, section 2).
#
# This filter goes ways of the tree only: the choice is between a left-arc and a shift that lets it wait.


class Grammar(NamedTuple):
    """A parser in training: the restaurants and codes of actions, tags and words, and how many labels there are.

    Codes of length 0 stand for words that are not generated.
    """

    restaurants: Any
    codes: Any
    labels: Any


class Treebank(NamedTuple):
    """Sentences end to end: where the words of each begin, (sentences + 1,); and of all words, (words,) int32 each,
    their numbers, tags, heads and labels (from 0). Trees are projective; of text without trees these three are empty.
    """

    cuts: Any
    words: Any
    tags: Any
    heads: Any
    deprels: Any


class TreeFilter(NamedTuple):
    """A particle filter over the derivations of a sentence's tree, whose words begin at `start` in a treebank.

    context: room for one; the last three are a `Filter`'s.
    """

    grammar: Any
    treebank: Any
    start: Any
    tree: Any
    context: Any
    room: Any
    log_evidence: Any
    state: Any


@kernel(allocates=True)
def draw_derivation(grammar, treebank, sentence, size, state, actions):
    """Draw a derivation of the tree of a sentence, by number, with `size` particles; actions (2 n,) int32, written."""
    start, stop, context = treebank.cuts[sentence], treebank.cuts[sentence + 1], np.empty(MOST_LEVELS, np.int32)
    tree = tree_of(treebank.heads[start:stop], treebank.deprels[start:stop], grammar.labels)
    stages = stop - start + 1
    method = TreeFilter(grammar, treebank, start, tree, context, 2, np.empty(stages), state)
    arena, particles = follow(method, stages, size, False)
    read_actions(arena, draw(particles, state), actions, np.empty(stop - start, np.int32))


@step.register(TreeFilter)
def _step_in_tree(method, arena, index, item, waiting, shifted):
    may_shift, reduction = choices(arena, item.top, index - 1, method.tree)
    if not may_shift and reduction == SHIFT:
        put(shifted, item.top, item.number, item.weight)
        return
    to_shift = prob_of(method, ACTIONS, arena, item.top, 0, SHIFT) if may_shift else 0.0
    mass = to_shift
    if reduction != SHIFT:
        mass += prob_of(method, ACTIONS, arena, item.top, 0, reduction)
    weight = item.weight + log(mass)
    staying = systematic_count(to_shift, mass, item.number, uniform(method.state))
    if staying < item.number:
        put(waiting, reduce(arena, item.top, reduction, method.grammar.labels), item.number - staying, weight)
    if staying > 0:
        place = method.start + index - 1
        tag, word = method.treebank.tags[place], method.treebank.words[place]
        weight += log(prob_of(method, TAGS, arena, item.top, 0, tag))
        if method.grammar.codes[WORDS].shape[0]:
            weight += log(prob_of(method, WORDS, arena, item.top, tag, word))
        put(shifted, shift(arena, item.top, index, tag, word), staying, weight)


@kernel(forceinline=True)
def prob_of(method, process, arena, top, next_tag, dish):
    """Return the probability of a dish in a configuration, by one of the processes."""
    codes = method.grammar.codes[process]
    context = method.context[: codes.shape[0]]
    context_of(arena, top, codes, next_tag, context)
    return predict(method.grammar.restaurants[process], context, dish)


@kernel(allocates=True)
def resample_derivations(grammar, treebank, paths, order, size, actions, state):
    """Draw the derivations of sentences in this order anew, each given all other sentences; there is room for them.

    An approximation: all events of a sentence leave, restaurants stay as they then are while its particles move, and
    what they propose is seated without a Metropolis-Hastings step that might refuse it.

    paths: of the events of each process, overwritten, as are the actions (2 words,).
    """
    processes = range(WORDS + 1 if grammar.codes[WORDS].shape[0] else WORDS)
    for sentence in order:
        start, stop = treebank.cuts[sentence], treebank.cuts[sentence + 1]
        for process in processes:
            restaurants, own = grammar.restaurants[process], paths[process]
            for event in range(EVENTS[process] * start, EVENTS[process] * stop):
                remove(restaurants, own.nodes[event], own.entries[event], state)
        words, tags, derivation = treebank.words[start:stop], treebank.tags[start:stop], actions[2 * start : 2 * stop]
        draw_derivation(grammar, treebank, sentence, size, state, derivation)
        cuts, dishes = np.array([0, stop - start]), (derivation, tags, words)
        contexts = record_events(cuts, words, tags, grammar.labels, derivation, grammar.codes)
        for process in processes:
            restaurants, events = grammar.restaurants[process], slice(EVENTS[process] * start, EVENTS[process] * stop)
            nodes, entries = paths[process].nodes[events], paths[process].entries[events]
            look_up(restaurants, contexts[process], dishes[process], np.arange(len(nodes)), Paths(nodes, entries))
            for event in range(len(nodes)):
                add(restaurants, nodes[event], entries[event], state)
