"""The most probable derivation, looked for with a beam of fixed size: what particles are compared with.

After every word the heaviest configurations stay. Between two words they are reduced step by step; of those that have
made the same number of steps the heaviest go on, or stacks of s words would have 2^s successors. Weights are
logarithms.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.hpyp.columns import ROOT
from deptree_cli.kernels.hpyp.configurations import (
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
from deptree_cli.kernels.hpyp.items import new_items, put
from deptree_cli.kernels.hpyp.model import new_records, new_workspace, predict_actions, tag_and_word, tags_with_word
from deptree_cli.kernels.hpyp.search import TRIED, best_of, heaviest_completed, heaviest_tag


@kernel
def beam_search(model, words, tags, size):
    """Return records, the last one of the heaviest derivation found by a beam of `size`, and its log-probability.

    words, tags: (n,) symbols; a null tag is not known, and is predicted.
    """
    n = words.shape[0]
    workspace, records = new_workspace(model), new_records(n)
    used = begin(records)
    items, reduced, shifted = new_items(size), new_items(size), new_items(size)
    count = put(items, 0, ROOT, 1, 0.0)
    for index in range(1, n + 1):
        records, used = tidied(records, used, items.tops, count)
        done = 0
        while count > 0:
            left = 0
            for i in range(count):
                top, weight = items.tops[i], items.weights[i]
                if not has_place(shifted, done, weight):  # weights only fall
                    continue
                records = grown(records, used, 2 + TRIED)
                predict_actions(model, records, top, workspace)
                used, left = reduce_both(model, records, used, top, weight, workspace, reduced, left)
                word, tag = words[index - 1], tags[index - 1]
                used, done = shift_best(model, records, used, index, word, tag, workspace, top, weight, shifted, done)
            items, reduced = reduced, items
            count = left
        items, shifted = shifted, items
        count = done
    return heaviest_completed(model, records, used, n, items, count, workspace)


@kernel
def find_tree_by_beam(model, words, tags, size, heads, deprels, found_tags):
    """Write the tree of a `beam_search`, as `search.find_tree` does; return its log-probability."""
    records, last, log_prob = beam_search(model, words, tags, size)
    read_tree(records, last, model.labels, heads, deprels, found_tags)
    return log_prob


@kernel
def reduce_both(model, records, used, top, weight, workspace, reduced, count):
    """Offer a configuration's best left-arc and right-arc a place; return the numbers of records and of reduced items.

    workspace.actions: the probabilities of its actions.
    """
    _, may_reduce, _ = legal(records, top, True)  # no right-arc while there are words left where there is no left-arc
    if may_reduce:
        for first in (1, model.labels + 1):
            action, _ = best_of(workspace.actions, first, first + model.labels)
            after = weight + np.log(workspace.actions[action])
            if has_place(reduced, count, after):
                reduce(records, used, top, action, model.labels)
                count = keep(reduced, count, used, after)
                used += 1
    return used, count


@kernel
def shift_best(model, records, used, index, word, tag, workspace, top, weight, shifted, count):
    """Offer a configuration with the next word a place; return what `reduce_both` does.

    A word whose tag is not known is offered with each of its best tags. workspace.actions: probabilities of actions.
    """
    weight += np.log(workspace.actions[SHIFT])
    if not has_place(shifted, count, weight):
        return used, count
    best = np.empty(TRIED if tag == NULL_SYMBOL else 1, np.int64)
    best[0] = tag
    if tag == NULL_SYMBOL:
        tags_with_word(model, records, top, word, workspace)
        for place in range(TRIED):
            best[place] = heaviest_tag(workspace.tags, best[:place])
    else:
        workspace.tags[tag] = tag_and_word(model, records, top, tag, word, workspace)
    for each in best:
        after = weight + np.log(workspace.tags[each])
        if workspace.tags[each] > 0.0 and has_place(shifted, count, after):
            shift(records, used, top, index, each, word)
            count = keep(shifted, count, used, after)
            used += 1
    return used, count


@kernel(forceinline=True)
def has_place(items, count, weight):
    """Return whether there is room for one more of these items, or the lightest of them is lighter."""
    return count < items.weights.shape[0] or weight > items.weights[0]


@kernel
def keep(items, count, top, weight):
    """Put an item that has a place into a heap whose lightest item is the first; return how many there are now.

    Where there is no room the lightest one goes.
    """
    if count < items.weights.shape[0]:
        place, count = count, count + 1
        while place > 0 and items.weights[(place - 1) // 2] > weight:
            above = (place - 1) // 2
            put(items, place, items.tops[above], 1, items.weights[above])
            place = above
    else:
        place = 0
        while 2 * place + 1 < count:
            below = 2 * place + 1
            if below + 1 < count and items.weights[below + 1] < items.weights[below]:
                below += 1
            if items.weights[below] >= weight:
                break
            put(items, place, items.tops[below], 1, items.weights[below])
            place = below
    put(items, place, top, 1, weight)
    return count
