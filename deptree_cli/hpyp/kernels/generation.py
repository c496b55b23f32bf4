"""Sentences with their trees, drawn from the model."""

from __future__ import annotations

import numpy as np

from deptree_cli.hpyp.kernels.columns import BELOW, ROOT, ROOT_SYMBOL, SHIFT
from deptree_cli.hpyp.kernels.configurations import (
    TAGS,
    WORDS,
    is_alone,
    new_arena,
    new_predictor,
    predict,
    predict_actions,
    read_tree,
    reduce,
    shift,
)
from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elementary import total
from deptree_cli.kernels.flags import kernel


@kernel(allocates=True)
def generate(model, longest, words_known, state, words, tags, heads, deprels):
    """Draw a sentence of at most `longest` words; return how many it has, 0 if it would have had more.

    words_known: how many word symbols there are. words, tags, heads, deprels (labels from 0): (longest,) int32. The
    sentence ends when ROOT takes its one dependent. Impossible actions and null symbols are not drawn.
    """
    predictor = new_predictor(model, words, tags)
    weights = np.empty(words_known)
    arena, top, index = new_arena(2 * longest + 3), ROOT, 0
    while top == ROOT or not is_alone(arena, top):
        predict_actions(predictor, arena, top)
        action = draw_action(predictor, arena, top, state)
        if action != SHIFT:
            top = reduce(arena, top, action, model.labels)
        elif index == longest:
            return 0
        else:
            tag, word = draw_symbol(predictor, TAGS, arena, top, 0, predictor.tag_probs, state), 0
            if model.roots[WORDS] >= 0:
                word = draw_symbol(predictor, WORDS, arena, top, tag, weights, state)
            words[index] = word
            index += 1
            top = shift(arena, top, index, tag, word)
    read_tree(arena, top, model.labels, heads[:index], deprels[:index], tags[:index])
    return index


@kernel(allocates=True)
def draw_action(predictor, arena, top, state):
    """Return an action drawn among those that are possible: a word under ROOT is not its head."""
    probs, second = predictor.action_probs, arena.records[top, BELOW]
    if top == ROOT:
        return SHIFT
    if is_alone(arena, second):
        probs[1 : predictor.model.labels + 1] = 0.0
    return draw_categorical(probs, 0, probs.shape[0], total(probs), state)


@kernel(allocates=True)
def draw_symbol(predictor, process, arena, top, tag, weights, state):
    """Return a tag or a word drawn in a configuration; never null, which stands for what is not known."""
    predict(predictor, process, arena, top, tag, weights)
    weights[: ROOT_SYMBOL + 1] = 0.0
    return draw_categorical(weights, 0, weights.shape[0], total(weights), state)
