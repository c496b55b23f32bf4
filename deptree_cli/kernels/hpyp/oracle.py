"""Derivations of projective trees, and the events that they consist of."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.hpyp.columns import RECORD
from deptree_cli.kernels.hpyp.configurations import SHIFT, begin, context_of, reduce, shift


@kernel
def rightmost_dependents(heads, rightmost):
    """Write every node's rightmost dependent, the node itself if it has none to the right: rightmost (n + 1,)."""
    for node in range(rightmost.shape[0]):
        rightmost[node] = node
    for word in range(1, heads.shape[0] + 1):
        rightmost[heads[word - 1]] = max(rightmost[heads[word - 1]], word)


@kernel(forceinline=True)
def allowed(top, second, shifted, heads, rightmost):
    """Return whether a derivation of a projective tree may go on with a shift, a left-arc, a right-arc.

    top, second: the positions of the words on top of the stack, -1 for none; shifted: how many words are. A left-arc
    may wait while its head lacks dependents on the right; a right-arc may not (Buys and Blunsom 2015, section 2). So
    the second word lacks none on the left, and none on the right once the last of them is shifted and not the top.
    """
    if second > 0 and heads[second - 1] == top:
        if rightmost[second] <= shifted:
            return rightmost[top] > shifted, True, False
    elif second >= 0 and heads[top - 1] == second and rightmost[top] <= shifted:
        return False, False, True
    return shifted < heads.shape[0], False, False


@kernel
def derive(heads, deprels, labels, actions):
    """Write the derivation of a projective tree that makes every arc as soon as it can.

    heads: (n,), 0 = ROOT; deprels: (n,), labels from 0; labels: how many there are; actions: (2 n,), written. It begins
    with ROOT alone on the stack, so n words are shifted and n arcs made. Returns whether the tree has a derivation.
    """
    n = heads.shape[0]
    stack = np.full(n + 2, -1, dtype=np.int32)  # with a place that stays empty at the bottom
    rightmost = np.empty(n + 1, dtype=np.int32)
    rightmost_dependents(heads, rightmost)
    stack[1], at, index = 0, 1, 0
    for step in range(2 * n):
        top, second = stack[at], stack[at - 1]
        may_shift, may_left, may_right = allowed(top, second, index, heads, rightmost)
        if may_left:
            actions[step] = 1 + deprels[second - 1]
            at -= 1
            stack[at] = top
        elif may_right:
            actions[step] = 1 + labels + deprels[top - 1]
            at -= 1
        elif may_shift:
            actions[step] = SHIFT
            index += 1
            at += 1
            stack[at] = index
        else:
            return False
    return True


@kernel
def derive_all(cuts, heads, deprels, labels, actions, found):
    """Derive the trees of all sentences, whose words are cuts[s]..cuts[s + 1]-1; found: (sentences,) bool, written."""
    for sentence in range(cuts.shape[0] - 1):
        first, last = cuts[sentence], cuts[sentence + 1]
        found[sentence] = derive(heads[first:last], deprels[first:last], labels, actions[2 * first : 2 * last])


@kernel
def record_events(words, tags, labels, actions, codes, contexts):
    """Write the contexts of a derivation's events.

    words, tags: (n,) symbols; actions: (2 n,). codes and contexts: three arrays each, for actions (2 n events), tags
    and words (n events); contexts (events, L) int32. Events come in the order of the derivation.
    """
    records = np.empty((2 * words.shape[0] + 2, RECORD), dtype=np.int32)
    used = begin(records)
    action_codes, tag_codes, word_codes = codes
    action_contexts, tag_contexts, word_contexts = contexts
    index = 0
    for step in range(actions.shape[0]):
        top = used - 1
        context_of(records, top, action_codes, 0, action_contexts[step])
        if actions[step] == SHIFT:
            context_of(records, top, tag_codes, 0, tag_contexts[index])
            context_of(records, top, word_codes, tags[index], word_contexts[index])
            shift(records, used, top, index + 1, tags[index], words[index])
            index += 1
        else:
            reduce(records, used, top, actions[step], labels)
        used += 1


@kernel
def record_all_events(cuts, words, tags, labels, actions, codes, contexts):
    """Write the contexts of the events of all sentences (see `record_events`), one sentence's behind another's."""
    action_contexts, tag_contexts, word_contexts = contexts
    for sentence in range(cuts.shape[0] - 1):
        first, last = cuts[sentence], cuts[sentence + 1]
        own = (action_contexts[2 * first : 2 * last], tag_contexts[first:last], word_contexts[first:last])
        record_events(words[first:last], tags[first:last], labels, actions[2 * first : 2 * last], codes, own)
