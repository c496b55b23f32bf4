"""Dividing cells of the partition tree along one of their trees: all head distributions on the way in O(m^3)."""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.distinct.cells import (
    NONE,
    cancellation_matters,
    forget_stale,
    log_prob_of,
    open_cell,
    pass_upwards,
    record,
    refresh,
    refresh_divided,
)
from deptree_cli.kernels.distinct.partition_problem import choice_of, fix, word_at
from deptree_cli.kernels.elimination.head_path import is_sound, next_heads, set_head, start_path
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import from_wide, get, put

DONE = 0
NO_ROOM = 1
UNSOUND = 2


@kernel
def divide_cells(cells, problem, rules, drawn, r, h, work, weights, lossless, tables, row, probs):
    """Divide cell (r, h), unless r is NONE, and then cancelled cells until no rounding shows in what is left of all.

    weights: numbers (n+1, n+1), those of `problem` or the same as wide numbers; lossless, tables: as of `head_path.py`;
    row (n+1,): to compute in, of their kind; probs (n+1,): of the kind of `cells`. Returns DONE, or, with the cell that
    it has come to, NO_ROOM if there is not enough memory for cells and UNSOUND if weights have to be wide for it.
    """
    while True:
        if r != NONE:
            result = divide(cells, problem, rules, drawn, r, h, work, weights, lossless, tables, row, probs)
            if result != DONE:
                return result, r, h
            pass_upwards(cells, r)
        r, h = next_cancelled(cells, rules)
        if r == NONE:
            return DONE, r, h


@kernel
def next_cancelled(cells, rules):
    """Return a cancelled cell to be divided, NONE if there is none."""
    while cancellation_matters(cells, rules, cells.largest_cancelled[0]):
        for place in range(cells.cancelled_count[0]):
            r, h = cells.cancelled[place, 0], cells.cancelled[place, 1]
            if cells.below[r, h] == NONE and cancellation_matters(cells, rules, log_prob_of(cells, r, h)):
                return r, h
        forget_stale(cells)
    return np.int64(NONE), np.int64(NONE)


@kernel(allocates=True)
def divide(cells, problem, rules, drawn, r, h, work, weights, lossless, tables, row, probs):
    """Divide cell (r, h) along its most probable tree, as far as at least half of what it leads to was drawn.

    All other choices on the way become undivided cells. Arguments and result as of `divide_cells`.
    """
    first_new = cells.used[0]
    root, level, depth = fix(cells, problem, r, h, work), cells.level[r], work.choices.shape[0]
    words = work.free[: depth - 1 - level]
    if first_new + words.shape[0] > cells.above.shape[0]:
        return NO_ROOM
    for x in range(words.shape[0]):
        words[x] = word_at(problem, root, level + 1 + x)
    tree = most_probable(cells, drawn, r, h)
    path = start_path(weights, root, work.fixed, words, lossless, tables)
    for x in range(words.shape[0]):
        log_pivots = next_heads(path, weights, root, tables, row)
        if not is_sound(weights, path, log_pivots):
            if x == 0:
                return UNSOUND
            break
        for head in range(cells.drawn.shape[1]):
            put(probs, head, from_wide(probs, get(row, head)))
        new = open_cell(cells, r, h, probs)
        hand_over(cells, problem, drawn, r, h, root)
        r, h = new, np.int64(drawn.heads[tree, words[x] - 1])
        if cells.drawn[r, h] < 0.5:
            break
        set_head(path, h)
    for r in range(cells.used[0] - 1, first_new - 1, -1):  # cells come after those above them
        for choice in range(cells.drawn.shape[1]):
            if cells.below[r, choice] == NONE and cells.newest[r, choice] != NONE:
                refresh(cells, rules, r, choice, depth)
        refresh_divided(cells, r)
    return DONE


@kernel
def most_probable(cells, drawn, r, h):
    """Return the tree with the largest probability among those drawn from the undivided cell (r, h)."""
    best = tree = cells.newest[r, h]
    while tree != NONE:
        if drawn.log_probs[tree] > drawn.log_probs[best]:
            best = tree
        tree = cells.following[tree]
    return best


@kernel
def hand_over(cells, problem, drawn, r, h, root):
    """Record the trees drawn from cell (r, h), which was divided, in the cells below it."""
    new, tree = cells.below[r, h], cells.newest[r, h]
    while tree != NONE:
        older = cells.following[tree]
        record(cells, drawn, new, choice_of(problem, drawn.heads[tree], root, cells.level[new]), tree)
        tree = older
