"""The most probable derivation, looked for by particles (Buys and Blunsom 2015, algorithm 1).

Every derivation under way has a number of particles; at every step they are shared out among shift, left-arc and
right-arc by probability, and after every word in proportion to the weights of derivations. Weights are logarithms.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.hpyp.kernels.columns import BELOW, BOTTOM, ROOT
from deptree_cli.hpyp.kernels.configurations import (
    EACH,
    NULL_SYMBOL,
    SHIFT,
    begin,
    grown,
    legal,
    reduce,
    shift,
    tidied,
)
from deptree_cli.hpyp.kernels.items import new_items, put
from deptree_cli.hpyp.kernels.model import TRIED, new_workspace, predict_actions, weigh_tags
from deptree_cli.kernels.elementary import exp, log
from deptree_cli.kernels.flags import kernel

# The share of a particle that an item may have lost for good: one that would get less of it is not followed any
# longer. The last particle of a deep stack would else reduce it to the bottom after every word.
NEGLIGIBLE = 1e-6


@kernel(allocates=True)
def search(model, words, tags, size):
    """Return records, the last one of the heaviest derivation found with `size` particles, and its log-probability.

    words, tags: (n,) symbols; a null tag is not known, and is predicted.
    """
    n = words.shape[0]
    workspace = new_workspace(model)
    records, used = begin(EACH * (n + 1))
    items, shifted, waiting = new_items(size), new_items(size), new_items(size)
    count = put(items, 0, ROOT, size, 0.0)
    negligible = log(NEGLIGIBLE / size)
    for index in range(1, n + 1):
        records, used = tidied(records, used, items.tops, count)
        total, heaviest = 0, -np.inf
        for i in range(count):
            waits = put(waiting, 0, items.tops[i], items.particles[i], items.weights[i])
            while waits > 0:
                waits -= 1
                if share_of(waiting, waits) < heaviest + negligible:
                    continue
                records = grown(records, used, 2 + TRIED)
                before, word, tag = total, words[index - 1], tags[index - 1]
                waits, total, used = expand(
                    model, records, used, index, word, tag, workspace, waiting, waits, shifted, total
                )
                for new in range(before, total):
                    heaviest = max(heaviest, share_of(shifted, new))
        items, shifted = shifted, items
        count = select(items, total, size)
    return heaviest_completed(model, records, used, n, items, count, workspace)


@kernel(forceinline=True)
def share_of(items, place):
    """Return the logarithm of an item's particles times its weight, of which `select` gives a share."""
    return log(items.particles[place]) + items.weights[place]


@kernel
def expand(model, records, used, index, word, tag, workspace, waiting, waits, shifted, total):
    """Share out the particles of the last of the waiting items; return how many wait, have shifted, and records."""
    top, particles, weight = waiting.tops[waits], waiting.particles[waits], waiting.weights[waits]
    predict_actions(model, records, top, workspace)
    _, may_left, _ = legal(records, top, True)
    staying = np.int64(np.rint(particles * workspace.actions[SHIFT])) if may_left else particles
    if staying < particles:
        left, left_mass = best_of(workspace.actions, 1, model.labels + 1)
        right, right_mass = best_of(workspace.actions, model.labels + 1, 2 * model.labels + 1)
        going = particles - staying
        to_left = np.int64(np.rint(going * left_mass / (left_mass + right_mass)))
        if to_left > 0:
            waits = put(waiting, waits, used, to_left, weight + log(workspace.actions[left]))
            used = reduce(records, used, top, left, model.labels)
        if going > to_left:
            waits = put(waiting, waits, used, going - to_left, weight + log(workspace.actions[right]))
            used = reduce(records, used, top, right, model.labels)
    if staying > 0:
        weight += log(workspace.actions[SHIFT])
        first, stop, _ = weigh_tags(model, records, top, tag, word, workspace)
        best_tags(workspace.tags, first, stop, workspace.best)
        total, used = share_among_tags(
            records, used, index, word, workspace.tags, workspace.best, top, staying, weight, shifted, total
        )
    return waits, total, used


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
def share_among_tags(records, used, index, word, weights, best, top, particles, weight, shifted, total):
    """Shift a word with each of its best tags, particles shared in proportion; return how many shifted, and records."""
    mass = 0.0
    for tag in best:
        mass += weights[tag]
    reach, taken = 0.0, 0
    for tag in best:
        reach += weights[tag]
        number = min(np.int64(np.ceil(particles * reach / mass)), particles) - taken  # rounded in favour of the better
        taken += number
        if number > 0:
            total = put(shifted, total, used, number, weight + log(weights[tag]))
            used = shift(records, used, top, index, tag, word)
        if taken == particles:
            break
    return total, used


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


@kernel
def select(items, count, size):
    """Share out `size` particles in proportion to particles and weights, rounded down; return how many items have some.

    Where all would be left without one the heaviest item goes on.
    """
    tops, particles, weights = items.tops, items.particles, items.weights
    heaviest = 0
    for i in range(count):
        if weights[i] > weights[heaviest]:
            heaviest = i
    highest, total = weights[heaviest], 0.0
    for i in range(count):
        total += particles[i] * exp(weights[i] - highest)
    best = tops[heaviest]
    kept = 0
    for i in range(count):
        share = np.int64(size * (particles[i] * exp(weights[i] - highest) / total))
        if share > 0:
            kept = put(items, kept, tops[i], share, weights[i])
    return kept if kept > 0 else put(items, 0, best, size, highest)


@kernel
def complete(model, records, used, top, weight, best_weight, workspace):
    """Take the best legal action until ROOT is alone, when no words are left; return the last record, its weight.

    Weights only fall: once it is not above the best weight so far the rest is left out.
    """
    while records[top, BELOW] != BOTTOM and weight > best_weight:
        predict_actions(model, records, top, workspace)
        _, may_left, _ = legal(records, top, False)
        action, _ = best_of(workspace.actions, 1 if may_left else model.labels + 1, 2 * model.labels + 1)
        weight += log(workspace.actions[action])
        top, used = used, reduce(records, used, top, action, model.labels)
    return top, weight, used


@kernel(allocates=True)
def heaviest_completed(model, records, used, n, items, count, workspace):
    """`complete` items when all n words are shifted; return records, the last one of the heaviest, its weight."""
    best, best_weight = 0, -np.inf
    for i in range(count):
        records = grown(records, used, n)
        top, weight, last = complete(model, records, used, items.tops[i], items.weights[i], best_weight, workspace)
        if weight > best_weight:
            best, best_weight, used = top, weight, last
    return records, best, best_weight
