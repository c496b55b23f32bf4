"""Dividing cells of the partition tree along one of their trees: all head distributions on the way in O(m^3)."""

from __future__ import annotations

from typing import Any, NamedTuple

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
from deptree_cli.kernels.elimination.head_path import next_heads, path_in_range, set_head, start_path
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import from_wide, get, put

DONE = 0
NO_ROOM = 1
UNSOUND = 2


class DivisionWorkspace(NamedTuple):
    """What divisions compute in.

    weights: numbers (n+1, n+1), those of the `PartitionProblem` or the same as wide numbers; in_range, tables: as of
    `head_path.py`; row (n+1,): to compute in, of their kind; probs (n+1,): of the kind of the cells.
    """

    weights: Any
    in_range: bool
    tables: Any
    row: Any
    probs: Any


@kernel
def divide_cells(tree, r, h, room):
    """Divide cell (r, h), unless r is NONE, and then cancelled cells until no rounding shows in what is left of all.

    tree: a `PartitionTree`; room: a `DivisionWorkspace`. Returns DONE, or, with the cell that it has come to, NO_ROOM
    if there is not enough memory for cells and UNSOUND if weights have to be wide for it.
    """
    while True:
        if r != NONE:
            result = divide(tree, r, h, room)
            if result != DONE:
                return result, r, h
            pass_upwards(tree.cells, r)
        r, h = next_cancelled(tree.cells, tree.rules)
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
def divide(tree, r, h, room):
    """Divide cell (r, h) along its most probable tree, as far as at least half of what it leads to was drawn.

    All other choices on the way become undivided cells. Arguments and result as of `divide_cells`.
    """
    problem, rules, cells, drawn, _, work = tree
    first_new = cells.used[0]
    root, level, depth = fix(cells, problem, r, h, work), cells.level[r], work.choices.shape[0]
    words = work.free[: depth - 1 - level]
    if first_new + words.shape[0] > cells.above.shape[0]:
        return NO_ROOM
    for x in range(words.shape[0]):
        words[x] = word_at(problem, root, level + 1 + x)
    likeliest = most_probable(cells, drawn, r, h)
    path = start_path(room.weights, root, work.fixed, words, room.in_range, room.tables)
    for x in range(words.shape[0]):
        log_pivots = next_heads(path, room.weights, root, room.tables, room.row)
        if not path_in_range(room.weights, path, log_pivots, log_pivots):
            if x == 0:
                return UNSOUND
            break
        r = open_below(tree, r, h, root, room)
        h = np.int64(drawn.heads[likeliest, words[x] - 1])
        if cells.drawn[r, h] < 0.5:
            break
        set_head(path, h)
    refresh_since(cells, rules, first_new, depth)
    return DONE


@kernel(forceinline=True)
def open_below(tree, r, h, root, room):
    """Open the cell below (r, h) with the probabilities in room.row, and hand over what was drawn; return its index."""
    for head in range(tree.cells.drawn.shape[1]):
        put(room.probs, head, from_wide(room.probs, get(room.row, head)))
    new = open_cell(tree.cells, r, h, room.probs)
    hand_over(tree.cells, tree.problem, tree.drawn, r, h, root)
    return new


@kernel
def refresh_since(cells, rules, first_new, depth):
    """Update what is left of the divided cells from `first_new` on; those above others come before them."""
    for r in range(cells.used[0] - 1, first_new - 1, -1):
        for choice in range(cells.drawn.shape[1]):
            if cells.below[r, choice] == NONE and cells.newest[r, choice] != NONE:
                refresh(cells, rules, r, choice, depth)
        refresh_divided(cells, r)


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
