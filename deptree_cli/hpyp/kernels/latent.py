"""Derivations of known trees, drawn given all that is seated elsewhere (Buys and Blunsom 2015, section 2).

A particle filter that goes ways of the tree only: the choice is between a left-arc and a shift that lets it wait.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels import word_loop
from deptree_cli.hpyp.kernels.columns import SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    ACTIONS,
    TAGS,
    WORDS,
    choices,
    context_of,
    new_contexts,
    read_actions,
    record_events,
    reduce,
    shift,
    tree_of,
)
from deptree_cli.hpyp.kernels.filter import resample_word
from deptree_cli.hpyp.kernels.particles import draw, put, systematic_count
from deptree_cli.hpyp.kernels.restaurants import MOST_LEVELS, predict, remove
from deptree_cli.hpyp.kernels.restaurants import index as look_up
from deptree_cli.hpyp.kernels.restaurants import resample as seat
from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform


class Grammar(NamedTuple):
    """A parser in training: the restaurants and codes of actions, tags and words, and how many labels there are.

    Codes of length 0 stand for words that are not generated.
    """

    restaurants: Any
    codes: Any
    labels: Any


class Treebank(NamedTuple):
    """The words, tags, heads and labels (from 0) of a sentence, (n,) each, or of several end to end; projective."""

    words: Any
    tags: Any
    heads: Any
    deprels: Any


class TreeFilter(NamedTuple):
    """A particle filter over the derivations of a tree; context: room for one; the last three are a `Filter`'s."""

    grammar: Any
    sentence: Any
    tree: Any
    context: Any
    room: Any
    log_evidence: Any
    state: Any


@kernel(allocates=True)
def draw_derivation(grammar, sentence, size, state, actions):
    """Draw a derivation of a sentence's tree with `size` particles; actions (2 n,) int32, written."""
    stages = sentence.words.shape[0] + 1
    tree, context = tree_of(sentence.heads, sentence.deprels, grammar.labels), np.empty(MOST_LEVELS, np.int32)
    method = TreeFilter(grammar, sentence, tree, context, 2, np.empty(stages), state)
    arena, particles = word_loop.follow(method, stages, size)
    read_actions(arena, draw(particles, state), actions, np.empty_like(sentence.tags))


@word_loop.step.register(TreeFilter)
def _step(method, arena, index, item, waiting, shifted):
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
        tag, word = method.sentence.tags[index - 1], method.sentence.words[index - 1]
        weight += log(prob_of(method, TAGS, arena, item.top, 0, tag))
        if method.grammar.codes[WORDS].shape[0]:
            weight += log(prob_of(method, WORDS, arena, item.top, tag, word))
        put(shifted, shift(arena, item.top, index, tag, word), staying, weight)


@word_loop.select.register(TreeFilter)
def _select(method, index, particles):
    resample_word(method.log_evidence, method.state, index, particles)


@kernel(forceinline=True)
def prob_of(method, process, arena, top, next_tag, dish):
    """Return the probability of a dish in a configuration, by one of the processes."""
    codes = method.grammar.codes[process]
    context = method.context[: codes.shape[0]]
    context_of(arena, top, codes, next_tag, context)
    return predict(method.grammar.restaurants[process], context, dish)


@kernel(allocates=True)
def resample_derivations(grammar, treebank, cuts, paths, order, size, actions, state):
    """Draw the derivations of sentences in this order anew, each given all other sentences; there is room for them.

    An approximation: all events of a sentence leave, restaurants stay as they then are while its particles move, and
    what they propose is seated without a Metropolis-Hastings step that might refuse it.

    cuts: where the events of each sentence begin, for each process; paths: nodes and entries of the events of each
    process, overwritten, as are the actions (2 words,).
    """
    for sentence in order:
        resample_derivation(grammar, treebank, cuts, paths, sentence, size, actions, state)


@kernel(forceinline=True)
def processes_of(grammar):
    """Return the numbers of the processes there are: words may not be generated."""
    return range(WORDS + 1 if grammar.codes[WORDS].shape[0] else WORDS)


@kernel(allocates=True)
def resample_derivation(grammar, treebank, cuts, paths, sentence, size, actions, state):
    """Draw the derivation of one sentence anew: its events leave, and those of the new derivation are seated."""
    for process in processes_of(grammar):
        nodes, entries = paths[process]
        for event in range(cuts[process][sentence], cuts[process][sentence + 1]):
            remove(grammar.restaurants[process], nodes[event], entries[event], state)
    own = slice(cuts[WORDS][sentence], cuts[WORDS][sentence + 1])
    words, tags, derivation = treebank.words[own], treebank.tags[own], actions[2 * own.start : 2 * own.stop]
    draw_derivation(grammar, Treebank(words, tags, treebank.heads[own], treebank.deprels[own]), size, state, derivation)
    contexts, dishes = new_contexts(grammar.codes, words.shape[0]), (derivation, tags, words)
    record_events(words, tags, grammar.labels, derivation, grammar.codes, contexts)
    for process in processes_of(grammar):
        events = slice(cuts[process][sentence], cuts[process][sentence + 1])
        nodes, entries, restaurants = paths[process][0][events], paths[process][1][events], grammar.restaurants[process]
        look_up(restaurants, contexts[process], dishes[process], np.arange(len(nodes)), nodes, entries)
        seat(restaurants, nodes, entries, 0, len(nodes), False, state)


@kernel
def are_derivations(cuts, labels, actions):
    """Return whether the actions (2 words,) of every sentence lead from ROOT alone to ROOT alone, words all shifted."""
    for sentence in range(cuts.shape[0] - 1):
        first, last = cuts[sentence], cuts[sentence + 1]
        on_stack, shifted = 0, 0
        for step in range(2 * first, 2 * last):
            action = actions[step]
            if action == SHIFT:
                on_stack += 1
                shifted += 1
            else:
                lowest = 2 if action <= labels or shifted < last - first else 1  # ROOT has no head, and one dependent
                if not 0 < action <= 2 * labels or on_stack < lowest:
                    return False
                on_stack -= 1
        if on_stack != 0 or shifted != last - first:
            return False
    return True
