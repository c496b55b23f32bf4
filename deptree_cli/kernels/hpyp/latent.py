"""Derivations of known trees, drawn given all that is seated elsewhere (Buys and Blunsom 2015, section 2).

A filter that goes ways of the tree only: the choice is between a left-arc and a shift that lets it wait.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.hpyp.columns import BELOW, INDEX, RECORD, ROOT
from deptree_cli.kernels.hpyp.configurations import SHIFT, begin, context_of, read_actions, reduce, shift, with_room
from deptree_cli.kernels.hpyp.items import new_items, put, resample, total_weight, up_to
from deptree_cli.kernels.hpyp.oracle import allowed, rightmost_dependents
from deptree_cli.kernels.hpyp.restaurants import MOST_LEVELS, predict
from deptree_cli.kernels.xoshiro import uniform


@kernel
def draw_derivation(restaurants, codes, words, tags, heads, deprels, labels, size, state, actions):
    """Draw a derivation of a projective tree with `size` particles; actions (2 n,) int32, written.

    restaurants, codes: of actions, tags and words, three each, codes of length 0 for words that are not generated;
    words, tags, heads, deprels: (n,), labels from 0; labels: how many there are.
    """
    n = words.shape[0]
    rightmost = np.empty(n + 1, np.int32)
    rightmost_dependents(heads, rightmost)
    records = np.empty((64 * (n + 1), RECORD), np.int32)
    used = begin(records)
    context, path = np.empty(MOST_LEVELS, np.int32), np.empty(MOST_LEVELS, np.int64)
    items, after, waiting = new_items(size), new_items(size), new_items(size)
    count = put(items, 0, ROOT, size, 1.0)
    for index in range(1, n + 2):
        done = 0
        for i in range(count):
            waits = put(waiting, 0, items.tops[i], items.particles[i], items.weights[i])
            while waits > 0:
                waits -= 1
                top, particles, weight = waiting.tops[waits], waiting.particles[waits], waiting.weights[waits]
                second = records[top, BELOW]
                third = records[second, BELOW]
                stack = records[top, INDEX], records[second, INDEX], records[third, INDEX]
                may_shift, may_left, may_right = allowed(stack[0], stack[1], stack[2], index - 1, heads, rightmost)
                records = with_room(records, used, 2)
                staying, reduction = particles, 0
                if may_left:
                    reduction = 1 + deprels[stack[1] - 1]
                elif may_right:
                    reduction = 1 + labels + deprels[stack[0] - 1]
                elif not may_shift:
                    done = put(after, done, top, particles, weight)
                    continue
                own = context[: codes[0].shape[0]]
                context_of(records, top, codes[0], 0, own)
                if reduction:
                    to_reduce = predict(restaurants[0], own, path, reduction)
                    to_shift = predict(restaurants[0], own, path, SHIFT) if may_shift else 0.0
                    weight *= to_shift + to_reduce
                    staying = up_to(to_shift, to_shift + to_reduce, particles, uniform(state))
                    if staying < particles:
                        reduce(records, used, top, reduction, labels)
                        waits = put(waiting, waits, used, particles - staying, weight)
                        used += 1
                else:
                    weight *= predict(restaurants[0], own, path, SHIFT)
                if staying > 0:
                    tag, word = tags[index - 1], words[index - 1]
                    own = context[: codes[1].shape[0]]
                    context_of(records, top, codes[1], 0, own)
                    weight *= predict(restaurants[1], own, path, tag)
                    own = context[: codes[2].shape[0]]
                    if codes[2].shape[0]:
                        context_of(records, top, codes[2], tag, own)
                        weight *= predict(restaurants[2], own, path, word)
                    shift(records, used, top, index, tag, word)
                    done = put(after, done, used, staying, weight)
                    used += 1
        items, after = after, items
        count = done if index > n else resample(items, done, size, state)
    read_actions(records, drawn(items, count, state), actions)


@kernel
def drawn(items, count, state):
    """Return the record of an item, drawn in proportion to its weight."""
    rest = uniform(state) * total_weight(items, count)
    for i in range(count):
        rest -= items.particles[i] * items.weights[i]
        if rest < 0.0:
            return items.tops[i]
    return items.tops[count - 1]
