"""Derivations of known trees, drawn given all that is seated elsewhere (Buys and Blunsom 2015, section 2).

A filter that goes ways of the tree only: the choice is between a left-arc and a shift that lets it wait.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.hpyp.kernels.columns import ROOT
from deptree_cli.hpyp.kernels.configurations import EACH, SHIFT, begin, context_of, grown, read_actions, reduce, shift
from deptree_cli.hpyp.kernels.items import drawn, from_logs, new_items, put, resample, systematic_count
from deptree_cli.hpyp.kernels.model import ACTIONS, TAGS, WORDS
from deptree_cli.hpyp.kernels.oracle import choices, new_contexts, record_events, rightmost_dependents
from deptree_cli.hpyp.kernels.restaurants import MOST_LEVELS, predict
from deptree_cli.hpyp.kernels.seating import has_room, remove
from deptree_cli.hpyp.kernels.seating import index as look_up
from deptree_cli.hpyp.kernels.seating import resample as seat
from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform


@kernel(allocates=True)
def draw_derivation(restaurants, codes, words, tags, heads, deprels, labels, size, state, actions):
    """Draw a derivation of a projective tree with `size` particles; actions (2 n,) int32, written.

    restaurants, codes: of actions, tags and words, three each, codes of length 0 for words that are not generated;
    words, tags, heads, deprels: (n,), labels from 0; labels: how many there are.
    """
    n = words.shape[0]
    rightmost = np.empty(n + 1, np.int32)
    rightmost_dependents(heads, rightmost)
    records, used = begin(EACH * (n + 1))
    workspace = np.empty(MOST_LEVELS, np.int32)
    items, after, waiting = new_items(size), new_items(size), new_items(size)
    count = put(items, 0, ROOT, size, 0.0)
    for index in range(1, n + 2):
        done = 0
        for i in range(count):
            waits = put(waiting, 0, items.tops[i], items.particles[i], items.weights[i])
            while waits > 0:
                waits -= 1
                top, particles, weight = waiting.tops[waits], waiting.particles[waits], waiting.weights[waits]
                may_shift, reduction = choices(records, top, index - 1, heads, deprels, labels, rightmost)
                if not may_shift and reduction == SHIFT:
                    done = put(after, done, top, particles, weight)
                    continue
                records = grown(records, used, 2)
                to_shift = prob_of(restaurants, codes, ACTIONS, records, top, 0, SHIFT, workspace) if may_shift else 0.0
                mass = to_shift
                if reduction != SHIFT:
                    mass += prob_of(restaurants, codes, ACTIONS, records, top, 0, reduction, workspace)
                weight += log(mass)
                staying = systematic_count(to_shift, mass, particles, uniform(state))
                if staying < particles:
                    waits = put(waiting, waits, used, particles - staying, weight)
                    used = reduce(records, used, top, reduction, labels)
                if staying > 0:
                    tag, word = tags[index - 1], words[index - 1]
                    weight += log(prob_of(restaurants, codes, TAGS, records, top, 0, tag, workspace))
                    if codes[WORDS].shape[0]:
                        weight += log(prob_of(restaurants, codes, WORDS, records, top, tag, word, workspace))
                    done = put(after, done, used, staying, weight)
                    used = shift(records, used, top, index, tag, word)
        from_logs(after, done)
        items, after = after, items
        count = done if index > n else resample(items, done, size, state)
    read_actions(records, drawn(items, count, state), actions, np.empty_like(tags))


@kernel
def prob_of(restaurants, codes, process, records, top, next_tag, dish, workspace):
    """Return the probability of a dish in a configuration, by one of the processes."""
    context = workspace[: codes[process].shape[0]]
    context_of(records, top, codes[process], next_tag, context)
    return predict(restaurants[process], context, dish)


@kernel(allocates=True)
def resample_derivations(processes, count, codes, labels, cuts, treebank, paths, order, start, size, actions, state):
    """Draw the derivations of sentences in this order anew, from place `start` on, each given all other sentences.

    An approximation: all events of a sentence leave, restaurants stay as they then are while its particles move, and
    what they propose is seated without a Metropolis-Hastings step that might refuse it.

    processes, codes: the restaurants of actions, tags and words, of which the first `count` are there; labels: how many
    there are; cuts: where the events of each sentence begin, for each process; treebank: words, tags, heads, deprels,
    sentences end to end; paths: nodes and entries of the events of each process, overwritten, as are the actions
    (2 words,). Returns the place up to which there was room.
    """
    for place in range(start, order.shape[0]):
        sentence = order[place]
        for number in range(count):
            rows = (cuts[number][sentence + 1] - cuts[number][sentence]) * paths[number][0].shape[1]
            if not has_room(processes[number], rows, 2 * rows):
                return place
        for number in range(count):
            nodes, entries = paths[number]
            for event in range(cuts[number][sentence], cuts[number][sentence + 1]):
                remove(processes[number], nodes[event], entries[event], state)
        own = slice(cuts[WORDS][sentence], cuts[WORDS][sentence + 1])
        words, tags, heads, deprels = treebank[0][own], treebank[1][own], treebank[2][own], treebank[3][own]
        derivation = actions[2 * own.start : 2 * own.stop]
        draw_derivation(processes, codes, words, tags, heads, deprels, labels, size, state, derivation)
        contexts, dishes = new_contexts(codes, words.shape[0]), (derivation, tags, words)
        record_events(words, tags, labels, derivation, codes, contexts)
        for number in range(count):
            begins, ends = cuts[number][sentence], cuts[number][sentence + 1]
            nodes, entries = paths[number][0][begins:ends], paths[number][1][begins:ends]
            look_up(processes[number], contexts[number], dishes[number], np.arange(ends - begins), 0, nodes, entries)
            seat(processes[number], nodes, entries, 0, ends - begins, False, state)
    return order.shape[0]


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
