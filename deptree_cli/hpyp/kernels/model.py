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
    """A model with room for what it predicts of one configuration.

    Attributes:
        model: the model.
        context, path: of the configuration; its nodes in restaurants.
        actions, tags: (2 labels + 1,) and (tags,), probabilities.
        best: (TRIED,), tags.
    """

    model: Any
    context: Any
    path: Any
    actions: Any
    tags: Any
    best: Any


@kernel(allocates=True)
def new_predictor(model):
    """Return the predictor of a model."""
    context, path = np.empty(MOST_LEVELS, np.int32), np.empty(MOST_LEVELS, np.int64)
    actions, tags = np.empty(2 * model.labels + 1), np.empty(model.tags)
    return Predictor(model, context, path, actions, tags, np.empty(TRIED, np.int64))


@kernel(allocates=True)
def context_for(predictor, process, arena, top, next_tag):
    """Return the context of a configuration for one of the processes, which stays until the next one is asked for."""
    codes = predictor.model.codes[process]
    context = predictor.context[: codes.shape[0]]
    context_of(arena, top, codes, next_tag, context)
    return context


@kernel(allocates=True)
def predict(predictor, process, arena, top, next_tag, probs):
    """Write the probabilities of everything that a process may bring next, (dishes,)."""
    context = context_for(predictor, process, arena, top, next_tag)
    predict_dishes(predictor.model.tables, predictor.model.roots[process], context, predictor.path, probs)


@kernel(allocates=True)
def predict_actions(predictor, arena, top):
    """Write the probabilities of all actions into predictor.actions."""
    predict(predictor, ACTIONS, arena, top, 0, predictor.actions)


@kernel(allocates=True)
def predict_tags(predictor, arena, top, tag, word):
    """Write the probability that a shift brings a tag (null: of each) and, where words are generated, this word.

    They are written into predictor.tags, that of null being 0. Returns the first tag and the one behind the last, and
    their sum. Null and the root's symbol are no tags to predict.
    """
    tables, roots, probs = predictor.model.tables, predictor.model.roots, predictor.tags
    if tag == NULL_SYMBOL:
        first, stop = ROOT_SYMBOL + 1, predictor.model.tags
        predict(predictor, TAGS, arena, top, 0, probs)
    else:
        first, stop = tag, tag + 1
        context = context_for(predictor, TAGS, arena, top, 0)
        probs[tag] = predict_dish(tables, roots[TAGS], context, predictor.path, tag)
    probs[NULL_SYMBOL] = 0.0
    root, total = roots[WORDS], 0.0
    everywhere = tables.full[tables.rows[root] + word] if root >= 0 else 0.0
    for each in range(first, stop):
        if root >= 0:
            context = context_for(predictor, WORDS, arena, top, each)
            deepest = path_of(tables, root, context, predictor.path)
            probs[each] *= predict_below(tables, predictor.path, deepest, word, everywhere)
        total += probs[each]
    return first, stop, total
