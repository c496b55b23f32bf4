"""Arc-standard configurations as linked records: every action adds one, and none is ever changed.

A record (`columns.py`) is the top of a stack; the one below it is another record, and so is the configuration before
the last action. So configurations that come of one another share what they have in common, and a derivation can be
read backwards from its last record. Actions: 0 shifts, 1..L make left-arcs, L+1..2L right-arcs, with a label each.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.hpyp.kernels.columns import (
    ACTION,
    BELOW,
    BOTTOM,
    INDEX,
    LEFT,
    NEXT_TAG,
    PREVIOUS,
    RECORD,
    RIGHT,
    ROOT,
    TAG,
    WORD,
)
from deptree_cli.kernels.flags import kernel

SHIFT = 0

# The symbol of what is missing or was never seen: a word with this tag has one that is not known. The symbol of the
# root node, as a word and as a tag.
NULL_SYMBOL, ROOT_SYMBOL = 0, 1

# Records for each word and the root that a search begins with.
EACH = 64


@kernel(allocates=True)
def begin(size):
    """Return room for so many records, with the bottom of all stacks and the stack of the root alone; their number."""
    records = np.empty((size, RECORD), np.int32)
    for column in range(RECORD):
        records[BOTTOM, column] = records[ROOT, column] = 0
    records[BOTTOM, INDEX] = -1
    records[ROOT, TAG] = records[ROOT, WORD] = ROOT_SYMBOL
    return records, 2


@kernel(forceinline=True)
def shift(records, new, top, index, tag, word):
    """Write record `new`: the next word, of this position and these symbols, on top of a stack; return what follows."""
    records[new, BELOW], records[new, INDEX] = top, index
    records[new, TAG], records[new, WORD] = tag, word
    records[new, LEFT], records[new, RIGHT] = 0, 0
    records[new, PREVIOUS], records[new, ACTION] = top, SHIFT
    return new + 1


@kernel(forceinline=True)
def reduce(records, new, top, action, labels):
    """Write record `new`: the stack after a left-arc or right-arc, numbered among 2 * labels of them.

    Returns the number of the record that follows.
    """
    second = records[top, BELOW]
    is_left = action <= labels
    head, dependent, column = (top, second, LEFT) if is_left else (second, top, RIGHT)
    for each in (INDEX, TAG, WORD, LEFT, RIGHT):
        records[new, each] = records[head, each]
    records[new, column] = records[dependent, TAG]
    records[new, BELOW] = records[second, BELOW]
    records[new, PREVIOUS], records[new, ACTION] = top, action
    return new + 1


@kernel(forceinline=True)
def context_of(records, top, codes, next_tag, context):
    """Write the symbols of a configuration's context, null where there is no such word or child.

    codes: as in `columns.py`; next_tag: the tag of the word to be shifted next.
    """
    second = records[top, BELOW]
    third = records[second, BELOW]
    fourth = records[third, BELOW]
    for i in range(codes.shape[0]):
        code = codes[i]
        if code == NEXT_TAG:
            context[i] = next_tag
            continue
        depth, column = code // RECORD, code % RECORD
        if depth < 2:
            context[i] = records[top if depth == 0 else second, column]
        else:
            context[i] = records[third if depth == 2 else fourth, column]


@kernel(forceinline=True)
def legal(records, top, words_left):
    """Return whether a configuration may shift, make a left-arc, make a right-arc.

    ROOT is nobody's dependent, and takes its one dependent at the very end.
    """
    second = records[top, BELOW]
    alone = second == BOTTOM
    under_root = not alone and records[second, INDEX] == 0
    return words_left, not alone and not under_root, not alone and not (under_root and words_left)


@kernel
def read_tree(records, last, labels, heads, deprels, tags):
    """Read a derivation backwards from its last record: heads, labels (from 0) and tags of the words, (n,) each."""
    at = last
    while at > ROOT:
        before, action = records[at, PREVIOUS], records[at, ACTION]
        if action == SHIFT:
            tags[records[at, INDEX] - 1] = records[at, TAG]
        else:
            second = records[before, BELOW]
            is_left = action <= labels
            head, dependent = (before, second) if is_left else (second, before)
            word = records[dependent, INDEX] - 1
            heads[word] = records[head, INDEX]
            deprels[word] = action - 1 if is_left else action - labels - 1
        at = before


@kernel
def read_actions(records, last, actions, tags):
    """Read a derivation backwards from its last record: its actions in order (steps,), and the tags of its words."""
    at, step = last, actions.shape[0]
    while at > ROOT:
        step -= 1
        actions[step] = records[at, ACTION]
        if actions[step] == SHIFT:
            tags[records[at, INDEX] - 1] = records[at, TAG]
        at = records[at, PREVIOUS]


@kernel(allocates=True)
def grown(records, used, more):
    """Return the records, moved into a larger array if so many more have no place."""
    if used + more <= records.shape[0]:
        return records
    larger = np.empty((2 * (used + more), RECORD), dtype=np.int32)
    for record in range(used):
        for column in range(RECORD):
            larger[record, column] = records[record, column]
    return larger


@kernel(allocates=True)
def tidied(records, used, tops, count):
    """Return the records with room for more, and how many they are: if half the room is gone, only those still needed.

    tops: of the configurations under way, renumbered. They share most of what they came of: of the history of particles
    little is left but one line (Jacob, Murray and Rubenthaler 2015), while all records would take words times particles
    times the depth of stacks.
    """
    if used <= records.shape[0] // 2:
        return records, used
    numbers = np.zeros(used, np.int64)
    numbers[BOTTOM] = numbers[ROOT] = 1
    for i in range(count):
        numbers[tops[i]] = 1
    for record in range(used - 1, ROOT, -1):
        if numbers[record] > 0:
            numbers[records[record, BELOW]] = numbers[records[record, PREVIOUS]] = 1
    kept = 0
    for record in range(used):
        if numbers[record] > 0:
            numbers[record] = kept
            for column in range(RECORD):
                records[kept, column] = records[record, column]
            if record > ROOT:
                records[kept, BELOW] = numbers[records[record, BELOW]]
                records[kept, PREVIOUS] = numbers[records[record, PREVIOUS]]
            kept += 1
    for i in range(count):
        tops[i] = numbers[tops[i]]
    return grown(records, kept, 2 * kept), kept
