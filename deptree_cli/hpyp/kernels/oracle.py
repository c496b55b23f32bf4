"""Derivations of projective trees, and the events that they consist of, with their probability."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels.columns import BELOW, INDEX, NULL_SYMBOL, ROOT, SHIFT
from deptree_cli.hpyp.kernels.configurations import context_of, new_arena, reduce, shift
from deptree_cli.hpyp.kernels.predictions import predict_dish
from deptree_cli.hpyp.kernels.restaurants import MOST_LEVELS
from deptree_cli.kernels.elementary import log
from deptree_cli.kernels.flags import kernel


class Tree(NamedTuple):
    """A projective tree: heads and labels (n,), how many labels there are, and every node's rightmost dependent.

    rightmost: (n + 1,), the node itself if it has no dependent to the right.
    """

    heads: Any
    deprels: Any
    labels: Any
    rightmost: Any


@kernel(allocates=True)
def tree_of(heads, deprels, labels):
    """Return the tree of heads and labels."""
    rightmost = np.arange(heads.shape[0] + 1)
    for word in range(1, heads.shape[0] + 1):
        rightmost[heads[word - 1]] = max(rightmost[heads[word - 1]], word)
    return Tree(heads, deprels, labels, rightmost)


@kernel(forceinline=True)
def choices(arena, top, shifted, tree):
    """Return whether a derivation of a projective tree may shift, and the reduction it may make, else SHIFT.

    shifted: how many words are. A left-arc may wait while its head lacks dependents on the right; a right-arc may not
    (Buys and Blunsom 2015, section 2). So the second word lacks none on the left, and none on the right once the last
    of them is shifted and not the top.
    """
    records, heads, rightmost = arena.records, tree.heads, tree.rightmost
    first, second = records[top, INDEX], records[records[top, BELOW], INDEX]  # the second is -1 if ROOT is alone
    if second > 0 and heads[second - 1] == first:
        if rightmost[second] <= shifted:
            return rightmost[first] > shifted, 1 + tree.deprels[second - 1]
    elif second >= 0 and heads[first - 1] == second and rightmost[first] <= shifted:
        return False, 1 + tree.labels + tree.deprels[first - 1]
    return shifted < heads.shape[0], SHIFT


@kernel(allocates=True)
def derive(heads, deprels, labels, actions):
    """Write the derivation of a projective tree that makes every arc as soon as it can.

    heads: (n,), 0 = ROOT; deprels: (n,), labels from 0; labels: how many there are; actions: (2 n,), written. It begins
    with ROOT alone on the stack, so n words are shifted and n arcs made. Returns whether the tree has a derivation.
    """
    tree, arena, top, index = tree_of(heads, deprels, labels), new_arena(2 * heads.shape[0] + 2), ROOT, 0
    for step in range(actions.shape[0]):
        may_shift, actions[step] = choices(arena, top, index, tree)
        if actions[step] != SHIFT:
            top = reduce(arena, top, actions[step], labels)
        elif may_shift:
            index += 1
            top = shift(arena, top, index, NULL_SYMBOL, NULL_SYMBOL)
        else:
            return False
    return True


@kernel
def derive_all(cuts, heads, deprels, labels, actions):
    """Derive the trees of all sentences, whose words are cuts[s]..cuts[s + 1]-1."""
    for sentence in range(cuts.shape[0] - 1):
        own = slice(cuts[sentence], cuts[sentence + 1])
        derive(heads[own], deprels[own], labels, actions[2 * own.start : 2 * own.stop])


@kernel(allocates=True)
def record_events(words, tags, labels, actions, codes, contexts):
    """Write the contexts of a derivation's events.

    words, tags: (n,) symbols; actions: (2 n,). codes and contexts: three arrays each, for actions (2 n events), tags
    and words (n events); contexts (events, L) int32. Events come in the order of the derivation.
    """
    arena, top, index = new_arena(2 * words.shape[0] + 2), ROOT, 0
    for step in range(actions.shape[0]):
        context_of(arena, top, codes[0], 0, contexts[0][step])
        if actions[step] == SHIFT:
            context_of(arena, top, codes[1], 0, contexts[1][index])
            context_of(arena, top, codes[2], tags[index], contexts[2][index])
            top = shift(arena, top, index + 1, tags[index], words[index])
            index += 1
        else:
            top = reduce(arena, top, actions[step], labels)


@kernel(allocates=True)
def new_contexts(codes, n):
    """Return room for the contexts of the events of n words (`record_events`)."""
    return (
        np.empty((2 * n, codes[0].shape[0]), np.int32),
        np.empty((n, codes[1].shape[0]), np.int32),
        np.empty((n, codes[2].shape[0]), np.int32),
    )


@kernel
def record_all_events(cuts, words, tags, labels, actions, codes, contexts):
    """Write the contexts of the events of all sentences (see `record_events`), one sentence's behind another's."""
    for sentence in range(cuts.shape[0] - 1):
        first, last = cuts[sentence], cuts[sentence + 1]
        own = contexts[0][2 * first : 2 * last], contexts[1][first:last], contexts[2][first:last]
        record_events(words[first:last], tags[first:last], labels, actions[2 * first : 2 * last], codes, own)


@kernel(allocates=True)
def replay(model, words, tags, actions, log_probs):
    """Add the log-probabilities of a derivation's actions, tags and words to log_probs (3,), in nats.

    words, tags: (n,) symbols; actions: (2 n,), a derivation of a tree. Words that are not generated add nothing. What
    impossible actions would have had is not shared out among the others.
    """
    contexts, dishes = new_contexts(model.codes, words.shape[0]), (actions, tags, words)
    record_events(words, tags, model.labels, actions, model.codes, contexts)
    path = np.empty(MOST_LEVELS, np.int64)
    for process in range(3):
        root = model.roots[process]
        for event in range(dishes[process].shape[0] if root >= 0 else 0):
            prob = predict_dish(model.tables, root, contexts[process][event], path, dishes[process][event])
            log_probs[process] += log(prob)
