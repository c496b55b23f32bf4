"""The most probable derivation, looked for with a beam of fixed size: what particles are compared with.

After every word the heaviest configurations stay. Between two words they are reduced step by step; of those that have
made the same number of steps the heaviest go on, or stacks of s words would have 2^s successors. Weights are
logarithms.
"""

from __future__ import annotations

from deptree_cli.hpyp.kernels.columns import ROOT
from deptree_cli.hpyp.kernels.configurations import EACH, SHIFT, begin, grown, legal, reduce, shift, tidied
from deptree_cli.hpyp.kernels.items import new_items, put
from deptree_cli.hpyp.kernels.model import TRIED, new_workspace, predict_actions, weigh_tags
from deptree_cli.hpyp.kernels.search import best_of, best_tags, heaviest_completed
from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel


@kernel(allocates=True)
def beam_search(model, words, tags, size):
    """Return records, the last one of the heaviest derivation found by a beam of `size`, and its log-probability.

    words, tags: (n,) symbols; a null tag is not known, and is predicted.
    """
    n = words.shape[0]
    workspace = new_workspace(model)
    records, used = begin(EACH * (n + 1))
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
def reduce_both(model, records, used, top, weight, workspace, reduced, count):
    """Offer a configuration's best left-arc and right-arc a place; return the numbers of records and of reduced items.

    workspace.actions: the probabilities of its actions.
    """
    _, may_reduce, _ = legal(records, top, True)  # no right-arc while there are words left where there is no left-arc
    if may_reduce:
        for first in (1, model.labels + 1):
            action, _ = best_of(workspace.actions, first, first + model.labels)
            after = weight + log(workspace.actions[action])
            if has_place(reduced, count, after):
                count = keep(reduced, count, used, after)
                used = reduce(records, used, top, action, model.labels)
    return used, count


@kernel
def shift_best(model, records, used, index, word, tag, workspace, top, weight, shifted, count):
    """Offer a configuration with the next word a place; return what `reduce_both` does.

    A word whose tag is not known is offered with each of its best tags. workspace.actions: probabilities of actions.
    """
    weight += log(workspace.actions[SHIFT])
    if not has_place(shifted, count, weight):
        return used, count
    first, stop, _ = weigh_tags(model, records, top, tag, word, workspace)
    best_tags(workspace.tags, first, stop, workspace.best)
    for each in workspace.best:
        after = weight + log(workspace.tags[each])
        if workspace.tags[each] > 0.0 and has_place(shifted, count, after):
            count = keep(shifted, count, used, after)
            used = shift(records, used, top, index, each, word)
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
