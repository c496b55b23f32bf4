"""Sentences with their trees, drawn from the model."""

from __future__ import annotations

import numpy as np

from deptree_cli.hpyp.kernels.columns import BELOW, BOTTOM, ROOT
from deptree_cli.hpyp.kernels.configurations import ROOT_SYMBOL, SHIFT, begin, read_tree, reduce, shift
from deptree_cli.hpyp.kernels.model import TAGS, WORDS, context_for, new_workspace, predict_actions
from deptree_cli.hpyp.kernels.predictions import predict_dishes
from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elementary import total
from deptree_cli.kernels.flags import kernel


@kernel(allocates=True)
def generate(model, longest, words_known, state, words, tags, heads, deprels):
    """Draw a sentence of at most `longest` words; return how many it has, 0 if it would have had more.

    words_known: how many word symbols there are. words, tags, heads, deprels (labels from 0): (longest,) int32. The
    sentence ends when ROOT takes its one dependent. Impossible actions and null symbols are not drawn.
    """
    workspace = new_workspace(model)
    weights = np.empty(words_known)
    records, used = begin(2 * longest + 3)
    index = 0
    while True:
        top = used - 1
        second = records[top, BELOW]
        if top > ROOT and second == BOTTOM:
            read_tree(records, top, model.labels, heads[:index], deprels[:index], tags[:index])
            return index
        predict_actions(model, records, top, workspace)
        action = draw_action(model, workspace.actions, top == ROOT, records[second, BELOW] == BOTTOM, state)
        if action != SHIFT:
            used = reduce(records, used, top, action, model.labels)
        elif index == longest:
            return 0
        else:
            tag = draw_symbol(model, TAGS, records, top, 0, workspace, workspace.tags, state)
            word = 0
            if model.roots[WORDS] >= 0:
                word = draw_symbol(model, WORDS, records, top, tag, workspace, weights, state)
            words[index] = word
            index += 1
            used = shift(records, used, top, index, tag, word)


@kernel(allocates=True)
def draw_action(model, probs, is_alone, is_under_root, state):
    """Return an action drawn among those that are possible: a word under ROOT is not its head."""
    if is_alone:
        return SHIFT
    if is_under_root:
        for action in range(1, model.labels + 1):
            probs[action] = 0.0
    return draw_categorical(probs, 0, probs.shape[0], total(probs), state)


@kernel(allocates=True)
def draw_symbol(model, process, records, top, tag, workspace, weights, state):
    """Return a tag or a word drawn in a configuration; never null, which stands for what is not known."""
    context = context_for(model, process, records, top, tag, workspace)
    predict_dishes(model.tables, model.roots[process], context, workspace.path, weights)
    for symbol in range(ROOT_SYMBOL + 1):
        weights[symbol] = 0.0
    return draw_categorical(weights, 0, weights.shape[0], total(weights), state)
