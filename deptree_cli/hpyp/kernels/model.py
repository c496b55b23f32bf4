"""A generative parser at rest, and what it predicts in a configuration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL, ROOT_SYMBOL
from deptree_cli.hpyp.kernels.configurations import context_of
from deptree_cli.hpyp.kernels.predictions import path_of, predict_below, predict_dish, predict_dishes
from deptree_cli.hpyp.kernels.restaurants import MOST_LEVELS
from deptree_cli.kernels.flags import kernel

# The processes of a parser, by number.
ACTIONS, TAGS, WORDS = range(3)

# The most tags of a word that are tried, where tags are predicted.
TRIED = 3


class Model(NamedTuple):
    """What kernels need of a parser.

    Attributes:
        tables: the `Predictions` of the three processes.
        roots: (3,) int64, the root of each in the tables; that of words is NONE where words are not generated.
        codes: three arrays, the elements of each one's contexts (`columns.py`).
        labels: the number of labels.
        tags: the number of tag symbols, null and the root's included.
    """

    tables: Any
    roots: Any
    codes: Any
    labels: Any
    tags: Any


class Predictor(NamedTuple):
    """A model, the words and tags of a sentence (n,), null for a tag that is not known, and room for predictions.

    context, path: of a configuration; action_probs, tag_probs: (2 labels + 1,) and (tags,); best: (TRIED,), tags.
    """

    model: Any
    words: Any
    tags: Any
    context: Any
    path: Any
    action_probs: Any
    tag_probs: Any
    best: Any


@kernel(allocates=True)
def new_predictor(model, words, tags):
    """Return the predictor of a sentence."""
    context, path, best = np.empty(MOST_LEVELS, np.int32), np.empty(MOST_LEVELS, np.int64), np.empty(TRIED, np.int64)
    return Predictor(model, words, tags, context, path, np.empty(2 * model.labels + 1), np.empty(model.tags), best)


# What hands a whole predictor on is inlined: its arrays are two hundred arguments.


@kernel(forceinline=True)
def write_context(predictor, process, arena, top, next_tag):
    """Write the context of a configuration for one of the processes into predictor.context; return its length."""
    codes = predictor.model.codes[process]
    context_of(arena, top, codes, next_tag, predictor.context)
    return codes.shape[0]


@kernel(forceinline=True)
def predict(predictor, process, arena, top, next_tag, probs):
    """Write the probabilities of everything that a process may bring next, (dishes,)."""
    context = predictor.context[: write_context(predictor, process, arena, top, next_tag)]
    predict_dishes(predictor.model.tables, predictor.model.roots[process], context, predictor.path, probs)


@kernel(forceinline=True)
def predict_actions(predictor, arena, top):
    """Write the probabilities of all actions into predictor.action_probs."""
    predict(predictor, ACTIONS, arena, top, 0, predictor.action_probs)


@kernel(forceinline=True)
def predict_tags(predictor, arena, top, index):
    """Write the probability that a shift brings word `index` with its tag, or if that is null with each, but for null.

    They are written into predictor.tag_probs, that of null being 0; of a model without words they are those of tags.
    Returns the first tag and the one behind the last, and their sum.
    """
    tables, roots, probs = predictor.model.tables, predictor.model.roots, predictor.tag_probs
    tag, word = predictor.tags[index - 1], predictor.words[index - 1]
    if tag == NULL_SYMBOL:
        first, stop = ROOT_SYMBOL + 1, predictor.model.tags
        predict(predictor, TAGS, arena, top, 0, probs)
    else:
        first, stop = tag, tag + 1
        context = predictor.context[: write_context(predictor, TAGS, arena, top, 0)]
        probs[tag] = predict_dish(tables, roots[TAGS], context, predictor.path, tag)
    probs[NULL_SYMBOL] = 0.0
    root, total = roots[WORDS], 0.0
    everywhere = tables.full[tables.rows[root] + word] if root >= 0 else 0.0
    for each in range(first, stop):
        if root >= 0:
            context = predictor.context[: write_context(predictor, WORDS, arena, top, each)]
            deepest = path_of(tables, root, context, predictor.path)
            probs[each] *= predict_below(tables, predictor.path, deepest, word, everywhere)
        total += probs[each]
    return first, stop, total
