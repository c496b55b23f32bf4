"""Distinct trees, in the order in which drawing with replacement would first meet them: the adaptive partition tree.

Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up; so the space of
trees is divided into cells where they do, and only there. The choices that a cell's trees share are the root (node 0
where there may be several), then the heads of words in a fixed order (algorithm and proof: docs/how_it_works.md).

Costs are counted in steps of a walk, and decisions depend on counts only: the same stream gives the same trees.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.distinct.cells import NONE, cancellation_matters, open_cell, pass_upwards, record, refresh
from deptree_cli.kernels.distinct.partition_problem import choice_of, fix
from deptree_cli.kernels.distinct.tree_set import place_of
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import as_float, get, is_positive, logarithm, reaches, row
from deptree_cli.kernels.walks.wilson import walk

# The cell of all trees. It has a type, as numba would compile everything once more for a literal 0.
TOP = np.int64(0)

# Dividing a cell of m free words costs about as much as BASE + m^2 (FLAT + m / STEEP) steps.
BASE = 600
FLAT = 10
STEEP = 8

# What `draw_distinct` comes back for: nothing more to draw, a larger set of trees, a tree from inside a cell, a cell to
# be divided, cancelled cells to be divided.
DONE, SET, INSIDE, DIVIDE, SMOOTH = range(5)
FOUND = 5

# What `at` says: how many trees there are, the cell (r, h) that the draw has come to, or NONE, and whether a tree of
# it that was drawn by elimination is in work.row; the number of walks; the cell whose factors are at hand.
COUNT, CELL, CHOICE, GIVEN, WALKS, KNOWN_CELL, KNOWN_CHOICE = range(7)


@kernel
def begin(problem, rules, top, cells, drawn, count, work):
    """Open the cell of all trees, given that the first `count` trees were drawn; `divide_cells` has to come next.

    top: numbers (n+1,), the distribution of the root; cells: `Cells` without a cell in use.
    """
    open_cell(cells, NONE, NONE, top)
    for tree in range(count):
        record(cells, drawn, TOP, choice_of(problem, drawn.heads[tree], TOP, TOP), tree)
    for choice in range(cells.drawn.shape[1]):
        if cells.newest[TOP, choice] != NONE:
            refresh(cells, rules, TOP, choice, work.choices.shape[0])
    pass_upwards(cells, TOP)


@kernel
def draw_distinct(problem, rules, state, cells, drawn, seen, at, work):
    """Go on filling `drawn`; return what is needed before it can be called again, or DONE.

    seen: a set of the trees drawn (`tree_set.py`); at: (7,) int64, where the draw is; work: a `Workspace`. It is done
    at k trees, at the total left that the rules name, or where float64 cannot tell what is left (log_left shows that).
    INSIDE asks for a tree of the cell that work.choices and work.fixed describe, in work.row.
    """
    while True:
        if at[CELL] == NONE:
            if is_done(rules, cells, drawn, at[COUNT]):
                return DONE
            if 2 * at[COUNT] >= seen.shape[0]:
                return SET
            at[CELL] = TOP
        r = at[CELL]
        if not is_positive(get(cells.total, r)):  # rounding left nothing further down: start again at the top
            at[CELL] = NONE
            continue
        if at[CHOICE] == NONE:
            h = draw_categorical(row(cells.left, r), 0, cells.drawn.shape[1], get(cells.total, r), state)
            if cells.below[r, h] != NONE:
                at[CELL] = cells.below[r, h]
                continue
            at[CHOICE] = h
        wanted = try_to_draw(cells, problem, rules, drawn, seen, state, at, work)
        if wanted != FOUND:
            return wanted
        accept(cells, problem, rules, drawn, seen, at, work)
        if cancellation_matters(cells, rules, cells.largest_cancelled[0]):
            return SMOOTH


@kernel
def is_done(rules, cells, drawn, count):
    """Note what is left before the next tree; return whether there is to be none."""
    total = get(cells.total, 0)
    drawn.log_left[count] = logarithm(total) if is_positive(total) else -math.inf
    enough = count == drawn.heads.shape[0] or as_float(total) < rules.stop
    return enough or not is_positive(total) or not reaches(cells.total, drawn.log_left[count])


@kernel
def try_to_draw(cells, problem, rules, drawn, seen, state, at, work):
    """Try to put a tree of the undivided cell that `at` names into work.row that has not been drawn yet.

    Returns FOUND, INSIDE or DIVIDE. The cycles that a walk pops are independent of its tree, so a walk that takes too
    long is given up and its tree drawn from the same cell by elimination. Giving up after repeats favours no tree
    either: the cell is divided then, and the draw goes on inside it.
    """
    r, h, given = at[CELL], at[CHOICE], at[GIVEN] == 1
    at[GIVEN] = 0
    level = cells.level[r]
    free = work.choices.shape[0] - 1 - level
    root = fix(cells, problem, r, h, work)
    if free == 0:  # every choice is made: there is one tree
        for word in range(1, work.row.shape[0] + 1):
            work.row[word - 1] = 0 if word == root else work.fixed[word]
        return FOUND
    fresh = cells.newest[r, h] == NONE
    budget = rules.tree + (np.int64(rules.factors * free * free * free) if level > 0 else 0)
    patience = rules.repeats * (BASE + free * free * (FLAT + free / STEEP))
    cancelled = not fresh and 1.0 - cells.drawn[r, h] < rules.least
    inside = given or not rules.walks or (at[KNOWN_CELL] == r and at[KNOWN_CHOICE] == h)
    cost = rules.tree
    while True:
        if given:
            given = False
        elif not fresh and (cancelled or cells.spent[r, h] >= patience):
            return DIVIDE
        else:
            left = np.int64(-1)
            if not inside:
                at[WALKS] += 1
                left = walk(
                    problem.tables, problem.bits, root, work.fixed, state, budget, at[WALKS], work.stamp, work.row
                )
            if left < 0:
                at[GIVEN] = 1
                return INSIDE
            cost = budget - left
        if fresh or seen[place_of(drawn.heads, work.row, seen)] == NONE:
            return FOUND
        cells.spent[r, h] += cost


@kernel
def accept(cells, problem, rules, drawn, seen, at, work):
    """Store work.row, a tree of the cell that `at` names, as the next one, and leave that cell."""
    log_prob = -problem.log_z
    count, r, h = at[COUNT], at[CELL], at[CHOICE]
    for word in range(1, work.row.shape[0] + 1):
        head = np.int64(work.row[word - 1])
        drawn.heads[count, word - 1] = head
        log_prob += problem.log_weights[head, word]
    drawn.log_probs[count] = min(log_prob, 0.0)
    seen[place_of(drawn.heads, work.row, seen)] = count
    record(cells, drawn, r, h, count)
    refresh(cells, rules, r, h, work.choices.shape[0])
    pass_upwards(cells, r)
    at[COUNT] += 1
    at[CELL] = NONE
    at[CHOICE] = NONE
