"""Arc-standard configurations as linked records: every action adds one, and none is ever changed.

A record (`columns.py`) is the top of a stack; the one below it is another record, and so is the configuration before
the last action. So configurations that come of one another share what they have in common, and a derivation can be
read backwards from its last record.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
    ROOT_SYMBOL,
    SHIFT,
    TAG,
    WORD,
)
from deptree_cli.kernels.flags import kernel


class Arena(NamedTuple):
    """All records of a search, (size, RECORD) int32, and how many are used, (1,)."""

    records: Any
    used: Any


@kernel(allocates=True)
def new_arena(size):
    """Return room for so many records, with the bottom of all stacks and the stack of the root alone."""
    records = np.empty((size, RECORD), np.int32)
    records[: ROOT + 1] = 0
    records[BOTTOM, INDEX] = -1
    records[ROOT, TAG] = records[ROOT, WORD] = ROOT_SYMBOL
    return Arena(records, np.full(1, ROOT + 1))


@kernel(forceinline=True)
def shift(arena, top, index, tag, word):
    """Push the next word, of this position and these symbols, onto a stack; return the new top."""
    records, new = arena.records, arena.used[0]
    records[new, BELOW], records[new, INDEX] = top, index
    records[new, TAG], records[new, WORD] = tag, word
    records[new, LEFT], records[new, RIGHT] = 0, 0
    records[new, PREVIOUS], records[new, ACTION] = top, SHIFT
    arena.used[0] = new + 1
    return new


@kernel(forceinline=True)
def reduce(arena, top, action, labels):
    """Make a left-arc or right-arc, numbered among 2 * labels of them; return the new top."""
    records, new = arena.records, arena.used[0]
    second = records[top, BELOW]
    head, dependent, column = (top, second, LEFT) if action <= labels else (second, top, RIGHT)
    for each in (INDEX, TAG, WORD, LEFT, RIGHT):
        records[new, each] = records[head, each]
    records[new, column] = records[dependent, TAG]
    records[new, BELOW] = records[second, BELOW]
    records[new, PREVIOUS], records[new, ACTION] = top, action
    arena.used[0] = new + 1
    return new


@kernel(forceinline=True)
def context_of(arena, top, codes, next_tag, context):
    """Write the symbols of a configuration's context, null where there is no such word or child.

    codes: as in `columns.py`; next_tag: the tag of the word to be shifted next.
    """
    records = arena.records
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
def is_alone(arena, top):
    """Return whether a stack has one node only: before the first word ROOT, and again after the last arc."""
    return arena.records[top, BELOW] == BOTTOM


@kernel(forceinline=True)
def legal(arena, top, words_left):
    """Return whether a configuration may shift, make a left-arc, make a right-arc.

    ROOT is nobody's dependent, and takes its one dependent at the very end.
    """
    second = arena.records[top, BELOW]
    has_two = second != BOTTOM
    under_root = has_two and arena.records[second, INDEX] == 0
    return words_left, has_two and not under_root, has_two and not (under_root and words_left)


@kernel
def read_tree(arena, last, labels, heads, deprels, tags):
    """Read a derivation backwards from its last record: heads, labels (from 0) and tags of the words, (n,) each."""
    records, top = arena.records, last
    while top > ROOT:
        before, action = records[top, PREVIOUS], records[top, ACTION]
        if action == SHIFT:
            tags[records[top, INDEX] - 1] = records[top, TAG]
        else:
            second = records[before, BELOW]
            is_left = action <= labels
            head, dependent = (before, second) if is_left else (second, before)
            word = records[dependent, INDEX] - 1
            heads[word] = records[head, INDEX]
            deprels[word] = action - 1 if is_left else action - labels - 1
        top = before


@kernel
def read_actions(arena, last, actions, tags):
    """Read a derivation backwards from its last record: its actions in order (steps,), and the tags of its words."""
    records, top, step = arena.records, last, actions.shape[0]
    while top > ROOT:
        step -= 1
        actions[step] = records[top, ACTION]
        if actions[step] == SHIFT:
            tags[records[top, INDEX] - 1] = records[top, TAG]
        top = records[top, PREVIOUS]


@kernel(allocates=True)
def with_room(arena, more):
    """Return the arena, moved into a larger one if so many more records have no place."""
    used = arena.used[0]
    if used + more <= arena.records.shape[0]:
        return arena
    larger = np.empty((2 * (used + more), RECORD), dtype=np.int32)
    larger[:used] = arena.records[:used]
    return Arena(larger, arena.used)


@kernel(allocates=True)
def tidied(arena, particles):
    """Return the arena with room for more: if half of it is used, only with those records that are still needed.

    particles: the items under way, whose tops are renumbered. They share most of what they came of: of the history of
    particles little is left but one line (Jacob, Murray and Rubenthaler 2015), while all records would take words times
    particles times the depth of stacks.
    """
    if arena.used[0] <= arena.records.shape[0] // 2:
        return arena
    records, tops, numbers = arena.records, particles.tops, np.zeros(arena.used[0], np.int64)
    numbers[BOTTOM] = numbers[ROOT] = 1
    for i in range(particles.used[0]):
        numbers[tops[i]] = 1
    for record in range(numbers.shape[0] - 1, ROOT, -1):
        if numbers[record] > 0:
            numbers[records[record, BELOW]] = numbers[records[record, PREVIOUS]] = 1
    arena.used[0] = 0
    for record in range(numbers.shape[0]):
        if numbers[record] > 0:
            numbers[record] = new = arena.used[0]
            records[new] = records[record]
            if record > ROOT:
                records[new, BELOW] = numbers[records[record, BELOW]]
                records[new, PREVIOUS] = numbers[records[record, PREVIOUS]]
            arena.used[0] += 1
    for i in range(particles.used[0]):
        tops[i] = numbers[tops[i]]
    return with_room(arena, 2 * arena.used[0])
