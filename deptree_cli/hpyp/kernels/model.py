"""A generative parser at rest, and what it says of a configuration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels.configurations import NULL_SYMBOL, ROOT_SYMBOL, context_of
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


class Workspace(NamedTuple):
    """What predicting works in: a context, a path through restaurants, probabilities of all actions and all tags.

    best: (TRIED,), tags.
    """

    context: Any
    path: Any
    actions: Any
    tags: Any
    best: Any


@kernel(allocates=True)
def new_workspace(model):
    """Return a workspace for a model."""
    context, path = np.empty(MOST_LEVELS, np.int32), np.empty(MOST_LEVELS, np.int64)
    return Workspace(context, path, np.empty(2 * model.labels + 1), np.empty(model.tags), np.empty(TRIED, np.int64))


@kernel(allocates=True)
def context_for(model, process, records, top, next_tag, workspace):
    """Return the context of a configuration for one of the processes, written into workspace.context."""
    codes = model.codes[process]
    context = workspace.context[: codes.shape[0]]
    context_of(records, top, codes, next_tag, context)
    return context


@kernel(allocates=True)
def predict_actions(model, records, top, workspace):
    """Write the probabilities of all actions into workspace.actions."""
    context = context_for(model, ACTIONS, records, top, 0, workspace)
    predict_dishes(model.tables, model.roots[ACTIONS], context, workspace.path, workspace.actions)


@kernel(allocates=True)
def weigh_tags(model, records, top, tag, word, workspace):
    """Write the probability that a shift brings a tag (null: of each) and, where words are generated, this word.

    They are written into workspace.tags, that of null being 0. Returns the first tag and the one behind the last, and
    their sum. Null and the root's symbol are no tags to predict.
    """
    context = context_for(model, TAGS, records, top, 0, workspace)
    if tag == NULL_SYMBOL:
        first, stop = ROOT_SYMBOL + 1, model.tags
        predict_dishes(model.tables, model.roots[TAGS], context, workspace.path, workspace.tags)
    else:
        first, stop = tag, tag + 1
        workspace.tags[tag] = predict_dish(model.tables, model.roots[TAGS], context, workspace.path, tag)
    workspace.tags[NULL_SYMBOL] = 0.0
    root, total = model.roots[WORDS], 0.0
    everywhere = model.tables.full[model.tables.rows[root] + word] if root >= 0 else 0.0
    for each in range(first, stop):
        if root >= 0:
            context = context_for(model, WORDS, records, top, each, workspace)
            deepest = path_of(model.tables, root, context, workspace.path)
            workspace.tags[each] *= predict_below(model.tables, workspace.path, deepest, word, everywhere)
        total += workspace.tags[each]
    return first, stop, total
