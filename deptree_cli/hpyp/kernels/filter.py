"""A particle filter over derivations: unbiased evidence of every word, and weighted samples of trees.

Particles shift, make left-arcs and right-arcs in proportion to the probability of all that are legal, and what illegal
actions would have had is lost from their weights; after every word they are resampled. Labels are in no context, so
they are summed out, and drawn for trees that are wanted. All draws of one configuration, and of one resampling, are
systematic: positions of equal distance with one random offset, so that every outcome has its share, rounded up or down.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.hpyp.kernels.columns import ACTION, BELOW, BOTTOM, INDEX, PREVIOUS, ROOT
from deptree_cli.hpyp.kernels.configurations import (
    EACH,
    NULL_SYMBOL,
    SHIFT,
    begin,
    grown,
    legal,
    read_tree,
    reduce,
    shift,
    tidied,
)
from deptree_cli.hpyp.kernels.items import drawn, from_logs, new_items, put, resample, systematic_count, total_weight
from deptree_cli.hpyp.kernels.model import new_workspace, predict_actions, weigh_tags
from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elementary import log, total
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform


@kernel(allocates=True)
def run_filter(model, words, tags, size, state):
    """Filter a sentence; return the records, the items at the end of it, how many there are, and the log-evidence.

    words, tags: (n,) symbols; a null tag is not known, and is summed out; size: how many particles. The log-evidence,
    (n + 1,), is the logarithm of the mean weight of each word given those before, and of the end. The items carry the
    weights of the end; between words their weights are logarithms.
    """
    n = words.shape[0]
    log_evidence = np.empty(n + 1)
    workspace = new_workspace(model)
    records, used = begin(EACH * (n + 1))
    items, after, waiting = new_items(size), new_items(size), new_items(size)
    count = put(items, 0, ROOT, size, 0.0)
    for index in range(1, n + 2):
        records, used = tidied(records, used, items.tops, count)
        done = 0
        for i in range(count):
            waits = put(waiting, 0, items.tops[i], items.particles[i], items.weights[i])
            while waits > 0:
                waits -= 1
                top, particles, weight = waiting.tops[waits], waiting.particles[waits], waiting.weights[waits]
                if index > n and records[top, BELOW] == BOTTOM:
                    done = put(after, done, top, particles, weight)
                    continue
                records = grown(records, used, 2 + workspace.tags.shape[0])
                waits, used, staying, weight = split_actions(
                    model, records, used, index <= n, workspace, waiting, waits, state
                )
                if staying > 0:
                    word, tag = words[index - 1], tags[index - 1]
                    done, used = split_tags(
                        model, records, used, index, word, tag, workspace, top, staying, weight, after, done, state
                    )
        log_evidence[index - 1] = from_logs(after, done) + log(total_weight(after, done) / size)
        items, after = after, items
        count = done if index > n else resample(items, done, size, state)
    return records, items, count, log_evidence


@kernel(allocates=True)
def split_actions(model, records, used, words_left, workspace, waiting, waits, state):
    """Split the last of the waiting items among shift, left-arc and right-arc, each with any label.

    Reductions wait in turn. Returns how many items wait, the number of records, how many particles shift, and the
    logarithm of their weight, which has lost the share of illegal actions.
    """
    top, particles, weight = waiting.tops[waits], waiting.particles[waits], waiting.weights[waits]
    predict_actions(model, records, top, workspace)
    may_shift, may_left, may_right = legal(records, top, words_left)
    to_shift = workspace.actions[SHIFT] if may_shift else 0.0
    to_left = total(workspace.actions[1 : model.labels + 1]) if may_left else 0.0
    to_right = total(workspace.actions[model.labels + 1 :]) if may_right else 0.0
    mass = to_shift + to_left + to_right
    weight += log(mass)
    offset = uniform(state)
    staying = systematic_count(to_shift, mass, particles, offset)
    lefts = systematic_count(to_shift + to_left, mass, particles, offset) - staying
    rights = particles - staying - lefts
    if lefts > 0:
        waits = put(waiting, waits, used, lefts, weight)
        used = reduce(records, used, top, 1, model.labels)
    if rights > 0:
        waits = put(waiting, waits, used, rights, weight)
        used = reduce(records, used, top, model.labels + 1, model.labels)
    return waits, used, staying, weight


@kernel
def split_tags(model, records, used, index, word, tag, workspace, top, particles, weight, after, done, state):
    """Shift a word with its tag, or particles split among all; return how many items are done, and records."""
    first, stop, mass = weigh_tags(model, records, top, tag, word, workspace)
    reach, taken, offset = 0.0, 0, uniform(state) if tag == NULL_SYMBOL else 0.0
    for each in range(first, stop):
        reach += workspace.tags[each]
        number = systematic_count(reach, mass, particles, offset) - taken
        if number > 0:
            taken += number
            done = put(after, done, used, number, weight + log(mass))
            used = shift(records, used, top, index, each, word)
    return done, used


@kernel(allocates=True)
def draw_reading(model, words, size, state):
    """Filter words without tags; return records, and the last one of a derivation drawn by weight.

    Labels are in no context, and are all the first.
    """
    records, items, count, _ = run_filter(model, words, np.zeros_like(words), size, state)
    return records, drawn(items, count, state)


@kernel(allocates=True)
def filter_trees(model, words, tags, size, draws, state):
    """Filter a sentence (`run_filter`), and draw some of its trees by weight, with labels.

    Returns the heads and tags of all trees (trees, n) and their weights, whose sum is 1; which trees were drawn,
    (draws,), and their labels (draws, n), from 0; and the log-evidence.
    """
    n = words.shape[0]
    records, items, count, log_evidence = run_filter(model, words, tags, size, state)
    heads, found_tags, weights = np.empty((count, n), np.int32), np.empty((count, n), np.int32), np.empty(count)
    total = total_weight(items, count)
    for i in range(count):
        read_tree(records, items.tops[i], model.labels, heads[i], np.empty(n, np.int32), found_tags[i])
        weights[i] = items.particles[i] * items.weights[i] / total
    numbers, deprels, workspace = np.empty(draws, np.int64), np.empty((draws, n), np.int32), new_workspace(model)
    for i in range(draws):
        numbers[i] = draw_categorical(weights, 0, count, 1.0, state)
        draw_labels(model, records, items.tops[numbers[i]], workspace, state, deprels[i])
    return heads, found_tags, weights, numbers, deprels, log_evidence


@kernel(allocates=True)
def draw_labels(model, records, last, workspace, state, deprels):
    """Draw the labels of a derivation given all else: they are in no context, so each is drawn by itself."""
    at, labels = last, model.labels
    while at > ROOT:
        before, action = records[at, PREVIOUS], records[at, ACTION]
        if action != SHIFT:
            predict_actions(model, records, before, workspace)
            is_left = action <= labels
            probs = workspace.actions[1 : labels + 1] if is_left else workspace.actions[labels + 1 :]
            dependent = records[before, BELOW] if is_left else before
            deprels[records[dependent, INDEX] - 1] = draw_categorical(probs, 0, labels, total(probs), state)
        at = before
