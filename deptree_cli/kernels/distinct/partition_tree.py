"""Distinct trees, in the order in which drawing with replacement would first meet them: the adaptive partition tree.

Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up; so the space of
trees is divided into cells where they do, and only there. The choices that a cell's trees share are the root (node 0
where there may be several), then the heads of words in a fixed order (algorithm and proof: docs/how_it_works.md).

Costs are counted in steps of a walk, and decisions depend on counts only: the same stream gives the same trees.
"""

from __future__ import annotations

import math
from typing import NamedTuple

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

# What a draw needs to go on: nothing, as it is done; a larger set of trees; a tree from inside the cell that it has
# come to; that cell, or cancelled cells alone, to be divided.
DONE, SET, INSIDE, DIVIDE = range(4)
FOUND = 4


class Cursor(NamedTuple):
    """Where drawing is.

    needs: DONE, SET, INSIDE or DIVIDE. n_drawn: how many trees there are. cell, choice: the undivided cell that the
    draw has come to, or NONE; without a choice, the divided cell. from_inside: whether work.row is a tree of it that
    was drawn by elimination. inside_cell, inside_choice: the cell whose factors are at hand. walks: how many so far.
    """

    needs: int
    n_drawn: int
    cell: int
    choice: int
    from_inside: bool
    inside_cell: int
    inside_choice: int
    walks: int


@kernel
def begin(tree, top, count):
    """Open the cell of all trees, given that the first `count` trees were drawn; `divide_cells` has to come next.

    tree: a `PartitionTree` without a cell in use; top: numbers (n+1,), the distribution of the root.
    """
    problem, rules, cells, drawn, _, work = tree
    open_cell(cells, NONE, NONE, top)
    for i in range(count):
        record(cells, drawn, TOP, choice_of(problem, drawn.heads[i], TOP, TOP), i)
    for choice in range(cells.drawn.shape[1]):
        if cells.newest[TOP, choice] != NONE:
            refresh(cells, rules, TOP, choice, work.choices.shape[0])
    pass_upwards(cells, TOP)


@kernel
def draw_by_walk(tree, cursor, state):
    """Go on drawing new trees by walks, until these do not do; return a cursor that says what the draw needs.

    tree: a `PartitionTree`, whose `drawn` and `seen` are filled. It is DONE at k trees, at the total left that the
    rules name, or where float64 cannot tell what is left (log_left shows that). INSIDE asks for a tree of the cell that
    work.choices and work.fixed describe, in work.row; after DIVIDE the draw goes on below that cell.
    """
    needs, count, r, h, from_inside, inside_cell, inside_choice, walks = cursor
    while True:
        if r == NONE and is_done(tree.rules, tree.cells, tree.drawn, count):
            needs = DONE
            break
        if 2 * count >= tree.seen.shape[0]:
            needs = SET
            break
        if h == NONE:
            r, h = undivided_cell(tree.cells, max(r, TOP), state)
            if r == NONE:
                continue
        has_factors = r == inside_cell and h == inside_choice
        needs, walks = new_tree_of(tree, r, h, from_inside, has_factors, walks, state)
        from_inside = False
        if needs != FOUND:
            break
        accept(tree, r, h, count)
        count, r, h = count + 1, np.int64(NONE), np.int64(NONE)
        if cancellation_matters(tree.cells, tree.rules, tree.cells.largest_cancelled[0]):
            needs = DIVIDE
            break
    return Cursor(needs, count, r, h, from_inside, inside_cell, inside_choice, walks)


@kernel
def is_done(rules, cells, drawn, count):
    """Note what is left before the next tree; return whether there is to be none."""
    total = get(cells.total, 0)
    drawn.log_left[count] = logarithm(total) if is_positive(total) else -math.inf
    enough = count == drawn.heads.shape[0] or as_float(total) < rules.stop
    return enough or not is_positive(total) or not reaches(cells.total, drawn.log_left[count])


@kernel
def undivided_cell(cells, r, state):
    """Go down from the divided cell r by what is left; return an undivided cell, or NONE if rounding left nothing."""
    h = np.int64(NONE)
    while is_positive(get(cells.total, r)):
        h = draw_categorical(row(cells.left, r), 0, cells.drawn.shape[1], get(cells.total, r), state)
        if cells.below[r, h] == NONE:
            return r, h
        r = cells.below[r, h]
    return np.int64(NONE), np.int64(NONE)


@kernel
def new_tree_of(tree, r, h, from_inside, has_factors, walks, state):
    """Try to walk to a tree of the undivided cell (r, h) that was not drawn yet, and put it into work.row.

    from_inside: as of a cursor; has_factors: whether the cell's factors are at hand; walks: how many there were before.
    Returns FOUND, INSIDE or DIVIDE, and how many walks there were. The cycles that a walk pops are independent of its
    tree, so a walk that takes too long is given up and its tree drawn from the same cell by elimination. Giving up
    after repeats favours no tree either: the cell is divided then, and the draw goes on inside it.
    """
    problem, rules, cells, work = tree.problem, tree.rules, tree.cells, tree.work
    root, level = fix(cells, problem, r, h, work), cells.level[r]
    free = work.choices.shape[0] - 1 - level
    if free == 0:  # every choice is made: there is one tree
        for word in range(1, work.row.shape[0] + 1):
            work.row[word - 1] = 0 if word == root else work.fixed[word]
        return FOUND, walks
    if from_inside:
        if is_new(tree, r, h):
            return FOUND, walks
        cells.spent[r, h] += rules.tree
    budget = rules.tree + (np.int64(rules.factors * free * free * free) if level > 0 else 0)
    while not pays_to_divide(tree, r, h, free):
        if from_inside or has_factors or not rules.walks:
            return INSIDE, walks
        walks += 1
        left = walk(problem.tables, problem.bits, root, work.fixed, state, budget, walks, work.stamp, work.row)
        if left < 0:
            return INSIDE, walks
        if is_new(tree, r, h):
            return FOUND, walks
        cells.spent[r, h] += budget - left
    return DIVIDE, walks


@kernel(forceinline=True)
def is_new(tree, r, h):
    """Return whether work.row, a tree of the undivided cell (r, h), was not drawn yet."""
    return tree.cells.newest[r, h] == NONE or tree.seen[place_of(tree.drawn.heads, tree.work.row, tree.seen)] == NONE


@kernel(forceinline=True)
def pays_to_divide(tree, r, h, free):
    """Return whether repeats in the undivided cell (r, h) have cost what dividing it costs, or little is left of it."""
    rules, cells = tree.rules, tree.cells
    if cells.newest[r, h] == NONE:
        return False
    patience = rules.repeats * (BASE + free * free * (FLAT + free / STEEP))
    return 1.0 - cells.drawn[r, h] < rules.least or cells.spent[r, h] >= patience


@kernel
def accept(tree, r, h, count):
    """Store work.row, a tree of the undivided cell (r, h), behind the first `count`."""
    problem, rules, cells, drawn, seen, work = tree
    log_prob = -problem.log_z
    for word in range(1, work.row.shape[0] + 1):
        head = np.int64(work.row[word - 1])
        drawn.heads[count, word - 1] = head
        log_prob += problem.log_weights[head, word]
    drawn.log_probs[count] = min(log_prob, 0.0)
    seen[place_of(drawn.heads, work.row, seen)] = count
    record(cells, drawn, r, h, count)
    refresh(cells, rules, r, h, work.choices.shape[0])
    pass_upwards(cells, r)
