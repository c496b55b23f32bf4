"""Different trees, in the order in which drawing with replacement would first meet them: the adaptive partition tree.

Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up; so the space of
trees is divided into cells where they do, and only there. The choices that a cell's trees share are the root (under the
single-root constraint), then the heads of words in a fixed order (algorithm and proof: README, "How it works").
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptree_cli.kernels.arithmetic import as_float, get, is_positive, logarithm, reaches, row
from deptree_cli.kernels.cells import NONE, note, open_cell, pass_upwards, refresh, take_over
from deptree_cli.kernels.choosing import choose
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.head_distribution import FREE, sound_head_probs
from deptree_cli.kernels.tree_set import hash_table, place_of
from deptree_cli.kernels.wilson import walk_with_fixed

# The cell of all trees. Typed, for numba would compile everything again for a literal 0.
TOP = np.int64(0)


class Problem(NamedTuple):
    """A sentence's distribution as the kernel wants it; "numbers" are float64 or wide (`arithmetic.py`).

    weights: (n+1, n+1) numbers, ``[head, dependent]``, columns shifted; wide_weights: the same as wide numbers.
    log_weights, log_z: their logarithms, and that of the partition function of these weights.
    order: (n,) the words in the order in which their heads are chosen; rank: (n+1,) where a word stands in it.
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
    """When what happens.

    budget: steps of a walk before it is given up; 0 never walks. repeats: how many repeats in a cell divide it.
    least: the share of a cell below which what is left of it is summed from below. stop: the total left to stop at.
    """

    budget: int
    repeats: int
    least: float
    stop: float


class Drawn(NamedTuple):
    """Room for k trees: heads (k, n), log_probs (k,), log_left (k+1,), the mass not drawn before each and after all."""

    heads: object
    log_probs: object
    log_left: object


class Workspace(NamedTuple):
    """Memory used again and again: for head distributions, a cell's choices and heads, and a walk."""

    room: object
    probs: object
    choices: object
    fixed: object
    stamp: object
    row: object


@kernel
def draw_different(problem, rules, top, state, cells, drawn, count, work):
    """Fill `drawn` from tree `count` on, given that the first `count` trees were drawn; returns how many there are.

    top: numbers (n+1,), the distribution of the first choice. Stops at k trees, at the total left that the rules name,
    or where float64 cannot tell what is left (then log_left says so). Returns NONE where there is no room for cells.
    """
    size = drawn.heads.shape[0]
    open_cell(cells, NONE, NONE, top)
    if not hand_over(cells, problem, rules, drawn, count, work):
        return NONE
    met = hash_table(drawn.heads, count)
    walks = np.int64(0)
    while True:
        total = get(cells.total, 0)
        drawn.log_left[count] = logarithm(total) if is_positive(total) else -math.inf
        if count == size or not reaches(top, drawn.log_left[count]) or as_float(total) < rules.stop:
            return count
        if not is_positive(total):
            return count
        if 2 * count >= met.shape[0]:
            met = hash_table(drawn.heads, count)
        r = TOP
        while is_positive(get(cells.total, r)):  # rounding may promise more than there is: then from the top
            h = choose(row(cells.left, r), 0, cells.drawn.shape[1], get(cells.total, r), state)
            if cells.below[r, h] == NONE:
                walks, found = try_to_draw(cells, problem, rules, drawn, r, h, met, state, walks, work)
                safe = found and accept(cells, problem, rules, drawn, r, h, met, count, work)
                if not safe and not divide_until_safe(cells, problem, rules, drawn, r, h, work):
                    return NONE
                pass_upwards(cells, r)
                if found:
                    count += 1
                    break
            r = cells.below[r, h]


@kernel
def word_at(problem, root, level):
    """The word whose head is the choice at a level; under the single-root constraint the root has been chosen before.

    (Level 0 is then the choice of the root.)
    """
    if not problem.single_root:
        return problem.order[level]
    return problem.order[level - 1 if level - 1 < problem.rank[root] else level]


@kernel
def choice_of(problem, heads, root, level):
    """The choice at a level that a tree, a row of heads, has made."""
    if problem.single_root and level == 0:
        for word in range(1, heads.shape[0] + 1):
            if heads[word - 1] == 0:
                return word
    return np.int64(heads[word_at(problem, root, level) - 1])


@kernel
def fix(cells, problem, r, h, work):
    """Set work.fixed to the heads that the trees of cell (r, h) share; returns their root, 0 for spanning trees."""
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
def try_to_draw(cells, problem, rules, drawn, r, h, met, state, walks, work):
    """Put a tree of the undivided cell (r, h) that was not drawn yet into work.row; returns whether that succeeded.

    The cycles that a walk pops are independent of its tree, so giving up after many steps favours no tree, and neither
    does giving up after repeats: the cell is divided then, and the draw goes on inside it.
    """
    root = fix(cells, problem, r, h, work)
    if cells.level[r] == work.choices.shape[0] - 1:  # one tree is left here, and every choice made
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
            if cells.newest[r, h] == NONE or met[place_of(drawn.heads, work.row, met)] == NONE:
                return walks, True
    return walks, False


@kernel
def accept(cells, problem, rules, drawn, r, h, met, count, work):
    """Note work.row as the tree `count`, drawn from cell (r, h); returns what `refresh` does."""
    log_prob = -problem.log_z
    for word in range(1, work.row.shape[0] + 1):
        head = np.int64(work.row[word - 1])
        drawn.heads[count, word - 1] = head
        log_prob += problem.log_weights[head, word]
    drawn.log_probs[count] = min(log_prob, 0.0)
    met[place_of(drawn.heads, work.row, met)] = count
    note(cells, drawn, r, h, count)
    return refresh(cells, rules, r, h, drawn.heads.shape[1])


@kernel
def divide_until_safe(cells, problem, rules, drawn, r, h, work):
    """Divide cell (r, h), and what below it has hardly anything left, until each rest is safe to tell.

    Returns whether there was room.
    """
    first_new = cells.used[0]
    rows = [r]
    choices = [h]
    while len(rows) > 0:
        r = rows.pop()
        h = choices.pop()
        root = fix(cells, problem, r, h, work)
        word = word_at(problem, root, cells.level[r] + 1)
        sound_head_probs(problem.weights, problem.wide_weights, root, work.fixed, word, work.room, work.probs)
        new = open_cell(cells, r, h, work.probs)
        if new == NONE:
            return False
        tree = cells.newest[r, h]
        while tree != NONE:
            older = cells.following[tree]
            note(cells, drawn, new, choice_of(problem, drawn.heads[tree], root, cells.level[new]), tree)
            tree = older
        for choice in range(cells.drawn.shape[1]):
            if not refresh(cells, rules, new, choice, drawn.heads.shape[1]):
                rows.append(new)
                choices.append(choice)
    for r in range(cells.used[0] - 1, first_new - 1, -1):  # those below come behind those above
        take_over(cells, r)
    return True


@kernel
def hand_over(cells, problem, rules, drawn, count, work):
    """Note that the first `count` trees were drawn; returns whether there was room."""
    for tree in range(count):
        note(cells, drawn, TOP, choice_of(problem, drawn.heads[tree], TOP, TOP), tree)
    for choice in range(cells.drawn.shape[1]):
        safe = refresh(cells, rules, TOP, choice, drawn.heads.shape[1])
        if not safe and not divide_until_safe(cells, problem, rules, drawn, TOP, choice, work):
            return False
    pass_upwards(cells, TOP)
    return True
