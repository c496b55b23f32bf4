"""A generative parser at rest, and what it says of a configuration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.hpyp.columns import RECORD
from deptree_cli.kernels.hpyp.configurations import ROOT_SYMBOL, context_of
from deptree_cli.kernels.hpyp.predictions import path_of, predict_below, predict_dish, predict_dishes
from deptree_cli.kernels.hpyp.restaurants import MOST_LEVELS
from deptree_cli.kernels.xoshiro import uniform

# The processes of a parser, by number.
ACTIONS, TAGS, WORDS = range(3)


class Model(NamedTuple):
    """What kernels need of a parser.

    Attributes:
        tables: the `Predictions` of the three processes.
        roots: (3,) int64, the root of each in the tables; that of words is NONE where words are not generated.
        codes: (3, longest) int64, the elements of each one's contexts (`columns.py`).
        lengths: (3,) int64, how many elements each has.
        labels: the number of labels.
        tags: the number of tag symbols, null and the root's included.
    """

    tables: Any
    roots: Any
    codes: Any
    lengths: Any
    labels: Any
    tags: Any


class Workspace(NamedTuple):
    """What predicting works in: a context, a path through restaurants, probabilities of all actions and all tags."""

    context: Any
    path: Any
    actions: Any
    tags: Any


@kernel
def new_workspace(model):
    """Return a workspace for a model."""
    context, path = np.empty(MOST_LEVELS, np.int32), np.empty(MOST_LEVELS, np.int64)
    return Workspace(context, path, np.empty(2 * model.labels + 1), np.empty(model.tags))


@kernel
def new_records(words):
    """Return records to begin with, for a sentence of so many words."""
    return np.empty((64 * (words + 1), RECORD), np.int32)


@kernel
def context_for(model, process, records, top, next_tag, workspace):
    """Return the context of a configuration for one of the processes, written into workspace.context."""
    length = model.lengths[process]
    context = workspace.context[:length]
    context_of(records, top, model.codes[process, :length], next_tag, context)
    return context


@kernel
def predict_actions(model, records, top, workspace):
    """Write the probabilities of all actions into workspace.actions."""
    context = context_for(model, ACTIONS, records, top, 0, workspace)
    predict_dishes(model.tables, model.roots[ACTIONS], context, workspace.path, workspace.actions)


@kernel
def tag_and_word(model, records, top, tag, word, workspace):
    """Return the probability that a shift brings this tag and, where words are generated, this word."""
    context = context_for(model, TAGS, records, top, 0, workspace)
    prob = predict_dish(model.tables, model.roots[TAGS], context, workspace.path, tag)
    if model.roots[WORDS] >= 0:
        context = context_for(model, WORDS, records, top, tag, workspace)
        prob *= predict_dish(model.tables, model.roots[WORDS], context, workspace.path, word)
    return prob


@kernel
def tags_with_word(model, records, top, word, workspace):
    """Write the probability that a shift brings each tag and, where words are generated, this word; return their sum.

    They are written into workspace.tags. Null and the root's symbol are no tags to predict.
    """
    context = context_for(model, TAGS, records, top, 0, workspace)
    predict_dishes(model.tables, model.roots[TAGS], context, workspace.path, workspace.tags)
    for tag in range(ROOT_SYMBOL + 1):
        workspace.tags[tag] = 0.0
    root = model.roots[WORDS]
    if root < 0:
        return workspace.tags.sum()
    everywhere = model.tables.full[model.tables.rows[root] + word]
    total = 0.0
    for tag in range(ROOT_SYMBOL + 1, model.tags):
        context = context_for(model, WORDS, records, top, tag, workspace)
        deepest = path_of(model.tables, root, context, workspace.path)
        workspace.tags[tag] *= predict_below(model.tables, workspace.path, deepest, word, everywhere)
        total += workspace.tags[tag]
    return total


@kernel
def draw(weights, total, state):
    """Return an index drawn in proportion to its weight; total: their sum."""
    rest = uniform(state) * total
    last = 0
    for i in range(weights.shape[0]):
        if weights[i] > 0.0:
            last = i
            rest -= weights[i]
            if rest < 0.0:
                break
    return last
