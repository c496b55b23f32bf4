"""Distinct trees, in the order in which drawing with replacement would first meet them: the adaptive partition tree.

Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up; so the space of
trees is divided into cells where they do, and only there. The choices that a cell's trees share are the root (under the
single-root constraint), then the heads of words in a fixed order (algorithm and proof: README, "How it works").
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import as_float, get, is_positive, logarithm, reaches, row
from deptree_cli.kernels.trees.cells import NONE, open_cell, pass_upwards, record, refresh, take_over
from deptree_cli.kernels.trees.head_distribution import FREE, sound_head_probs
from deptree_cli.kernels.trees.tree_set import hash_table, place_of
from deptree_cli.kernels.trees.wilson import walk_with_fixed

# The cell of all trees. It has a type, as numba would compile everything once more for a literal 0.
TOP = np.int64(0)


class Problem(NamedTuple):
    """A sentence's distribution as the kernel needs it; "numbers" are float64 or wide (`kernels/numbers`).

    weights: numbers (n+1, n+1), ``[head, dependent]``, columns shifted; wide_weights: the same as wide numbers.
    log_weights, log_z: their logarithms, and that of the partition function of these weights.
    order: (n,) the words in the order in which their heads are chosen; rank: (n+1,) the place of each word in it.
    tables, bits: alias tables of the weights (`wilson.py`).
    """

    single_root: bool
    weights: object
    wide_weights: object
    log_weights: object
    log_z: float
    order: object
    rank: object
    tables: object
    bits: int


class Rules(NamedTuple):
    """The thresholds of the algorithm.

    budget: the steps after which a walk is abandoned; with 0 there are no walks. repeats: a cell is
    divided after so many walks in a row that end in trees drawn before. least: if less than this share of a cell is
    left, the cell is divided, and what is left is summed over the cells below it. stop: the total left at which to
    stop.
    """

    budget: int
    repeats: int
    least: float
    stop: float


class Drawn(NamedTuple):
    """Trees and their probabilities: heads (k, n), log_probs (k,), log_left (k+1,).

    log_left: the logarithm of the mass left before each tree was drawn, and after the last.
    """

    heads: object
    log_probs: object
    log_left: object


class Workspace(NamedTuple):
    """Arrays to compute in.

    head_workspace: of `head_distribution.py`. probs: numbers (n+1,). choices (n,) and fixed (n+1,), int64: a cell's
    choices, and the heads that follow from them. stamp (n+1,) int64, zeros, and row (n,) int32: a walk, and its tree.
    """

    head_workspace: object
    probs: object
    choices: object
    fixed: object
    stamp: object
    row: object


@kernel
def draw_distinct(problem, rules, top, state, cells, drawn, count, work):
    """Fill `drawn` from tree `count` on, given that the first `count` trees were drawn; return how many there are then.

    top: numbers (n+1,), the distribution of the first choice; cells: `Cells` without a cell in use; work: a
    `Workspace`. Stops at k trees, at the total left that the rules name, or where float64 cannot tell what is left
    (log_left shows that). Returns NONE if there is not enough memory for cells.
    """
    size = drawn.heads.shape[0]
    open_cell(cells, NONE, NONE, top)
    if not record_earlier(cells, problem, rules, drawn, count, work):
        return NONE
    seen = hash_table(drawn.heads, count)
    walks = np.int64(0)
    while True:
        total = get(cells.total, 0)
        drawn.log_left[count] = logarithm(total) if is_positive(total) else -math.inf
        if count == size or not reaches(top, drawn.log_left[count]) or as_float(total) < rules.stop:
            return count
        if not is_positive(total):
            return count
        if 2 * count >= seen.shape[0]:
            seen = hash_table(drawn.heads, count)
        r = TOP
        while is_positive(get(cells.total, r)):  # if rounding left nothing further down, start again at the top
            h = draw_categorical(row(cells.left, r), 0, cells.drawn.shape[1], get(cells.total, r), state)
            if cells.below[r, h] == NONE:
                walks, found = try_to_draw(cells, problem, rules, drawn, r, h, seen, state, walks, work)
                safe = found and accept(cells, problem, rules, drawn, r, h, seen, count, work)
                if not safe and not divide_until_safe(cells, problem, rules, drawn, r, h, work):
                    return NONE
                pass_upwards(cells, r)
                if found:
                    count += 1
                    break
            r = cells.below[r, h]


@kernel
def word_at(problem, root, level):
    """Return the word whose head is the choice at a level.

    Under the single-root constraint level 0 is the choice of the root, and `root` is left out after it.
    """
    if not problem.single_root:
        return problem.order[level]
    return problem.order[level - 1 if level - 1 < problem.rank[root] else level]


@kernel
def choice_of(problem, heads, root, level):
    """Return the choice at a level that leads to a tree, heads (n,)."""
    if problem.single_root and level == 0:
        for word in range(1, heads.shape[0] + 1):
            if heads[word - 1] == 0:
                return word
    return np.int64(heads[word_at(problem, root, level) - 1])


@kernel
def fix(cells, problem, r, h, work):
    """Set work.fixed to the heads that the trees of cell (r, h) share; return their root, 0 for spanning trees."""
    choices = work.choices
    level = cells.level[r]
    choices[level] = h
    while r > 0:
        choices[cells.level[r] - 1] = cells.choice[r]
        r = cells.above[r]
    root = choices[0] if problem.single_root else 0
    work.fixed[:] = FREE
    for earlier in range(1 if problem.single_root else 0, level + 1):
        work.fixed[word_at(problem, root, earlier)] = choices[earlier]
    return root


@kernel
def try_to_draw(cells, problem, rules, drawn, r, h, seen, state, walks, work):
    """Try to put a tree of the undivided cell (r, h) that has not been drawn yet into work.row.

    Returns the number of walks so far, and whether it succeeded. The cycles that a walk pops are independent of its
    tree, so giving up after many steps favours no tree, and neither does giving up after repeats: the cell is divided
    then, and the draw goes on inside it.
    """
    root = fix(cells, problem, r, h, work)
    if cells.level[r] == work.choices.shape[0] - 1:  # every choice is made: there is one tree
        for word in range(1, work.row.shape[0] + 1):
            work.row[word - 1] = 0 if word == root else work.fixed[word]
        return walks, True
    if rules.budget > 0:
        for _ in range(rules.repeats):
            walks += 1
            if not walk_with_fixed(
                problem.tables, problem.bits, root, work.fixed, state, rules.budget, walks, work.stamp, work.row
            ):
                break
            if cells.newest[r, h] == NONE or seen[place_of(drawn.heads, work.row, seen)] == NONE:
                return walks, True
    return walks, False


@kernel
def accept(cells, problem, rules, drawn, r, h, seen, count, work):
    """Store work.row as tree `count`, drawn from cell (r, h); return whether the rest of the cell is accurate."""
    log_prob = -problem.log_z
    for word in range(1, work.row.shape[0] + 1):
        head = np.int64(work.row[word - 1])
        drawn.heads[count, word - 1] = head
        log_prob += problem.log_weights[head, word]
    drawn.log_probs[count] = min(log_prob, 0.0)
    seen[place_of(drawn.heads, work.row, seen)] = count
    record(cells, drawn, r, h, count)
    return refresh(cells, rules, r, h, drawn.heads.shape[1])


@kernel
def divide_until_safe(cells, problem, rules, drawn, r, h, work):
    """Divide cell (r, h), and those below it of which hardly anything is left, until what is left of each is accurate.

    Returns False if there is not enough memory for cells.
    """
    first_new = cells.used[0]
    rows = [r]
    choices = [h]
    while len(rows) > 0:
        r = rows.pop()
        h = choices.pop()
        root = fix(cells, problem, r, h, work)
        word = word_at(problem, root, cells.level[r] + 1)
        sound_head_probs(problem.weights, problem.wide_weights, root, work.fixed, word, work.head_workspace, work.probs)
        new = open_cell(cells, r, h, work.probs)
        if new == NONE:
            return False
        tree = cells.newest[r, h]
        while tree != NONE:
            older = cells.following[tree]
            record(cells, drawn, new, choice_of(problem, drawn.heads[tree], root, cells.level[new]), tree)
            tree = older
        for choice in range(cells.drawn.shape[1]):
            if not refresh(cells, rules, new, choice, drawn.heads.shape[1]):
                rows.append(new)
                choices.append(choice)
    for r in range(cells.used[0] - 1, first_new - 1, -1):  # cells come after those above them
        take_over(cells, r)
    return True


@kernel
def record_earlier(cells, problem, rules, drawn, count, work):
    """Record that the first `count` trees were drawn; return False if there is not enough memory for cells."""
    for tree in range(count):
        record(cells, drawn, TOP, choice_of(problem, drawn.heads[tree], TOP, TOP), tree)
    for choice in range(cells.drawn.shape[1]):
        safe = refresh(cells, rules, TOP, choice, drawn.heads.shape[1])
        if not safe and not divide_until_safe(cells, problem, rules, drawn, TOP, choice, work):
            return False
    pass_upwards(cells, TOP)
    return True
