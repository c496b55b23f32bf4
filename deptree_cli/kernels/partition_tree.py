"""Different trees, in the order in which drawing with replacement would first meet them: the adaptive partition tree.

Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up; so the space of
trees is divided where they do, and only there. A *cell* holds all trees that share their first choices: the root (under
the single-root constraint), then the heads of words in a fixed order. A cell divided by one more choice is a row of the
arrays in `Cells`, entry h standing for the cell below with choice h. What is left of a cell, as a share of it, is
one minus the probabilities of the trees drawn from it while that is far from 0, and from then on a sum over the cells
below it: never a subtraction that cancels (algorithm and proof: README, "How it works").
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.head_distribution import FREE, head_probs
from deptree_cli.kernels.wide import (
    SAFE_LOG,
    add,
    as_float,
    copied,
    from_wide,
    get,
    is_less,
    is_positive,
    length,
    logarithm,
    multiply,
    put,
    reaches,
    scale,
    subtract,
    zero,
)
from deptree_cli.kernels.wilson import walk_with_fixed
from deptree_cli.kernels.xoshiro import uniform

NONE = -1

# The cell of all trees. Typed, for numba would compile everything again for a literal 0.
TOP = np.int64(0)


class Problem(NamedTuple):
    """A sentence's distribution as the kernel wants it; "numbers" are float64 or wide (`wide.py`).

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


class Cells(NamedTuple):
    """Lists with an item per divided cell, the first being that of all trees.

    share, left: P(choice | cell), and how much of that is left, rows of numbers. below: the divided cell below or NONE.
    newest: the last tree drawn from the undivided cell below, or NONE; `following` (k,) leads to the one before.
    drawn: the share of the undivided cell below that was drawn. above, choice: which entry of which cell this one is;
    level: how many choices its trees share. log_prob: of the cell.
    """

    share: object
    left: object
    below: object
    newest: object
    drawn: object
    above: object
    choice: object
    level: object
    log_prob: object
    following: object


class Workspace(NamedTuple):
    """Memory used again and again: a word's head distribution (twice, the wide one to fall back on), a prefix."""

    Q: object
    R: object
    wide_Q: object
    wide_R: object
    wide_probs: object
    choices: object
    fixed: object
    stamp: object
    row: object


@kernel
def draw_different(problem, rules, top, state, drawn, count, work):
    """Fill `drawn` from tree `count` on, given that the first `count` trees were drawn; returns how many there are.

    top: numbers (n+1,), the distribution of the first choice. Stops at k trees, at the total left that the rules name,
    or where float64 cannot tell what is left (then log_left says so).
    """
    size = drawn.heads.shape[0]
    cells = all_trees(top, size)
    hand_over(cells, problem, rules, drawn, count, work)
    met = hash_table(drawn.heads, count)
    walks = np.int64(0)
    while True:
        total = total_of(cells.left[0])
        drawn.log_left[count] = logarithm(total) if is_positive(total) else -math.inf
        if count == size or not reaches(top, drawn.log_left[count]) or as_float(total) < rules.stop:
            return count
        if not is_positive(total):
            return count
        if 2 * count >= met.shape[0]:
            met = hash_table(drawn.heads, count)
        r = TOP
        while is_positive(total_of(cells.left[r])):  # rounding may promise more than there is: then from the top
            h = pick(cells.left[r], state)
            if cells.below[r][h] == NONE:
                walks, found = try_to_draw(cells, problem, rules, drawn, r, h, met, state, walks, work)
                safe = found and accept(cells, problem, rules, drawn, r, h, met, count, work)
                if not safe:
                    divide_until_safe(cells, problem, rules, drawn, r, h, work)
                pass_upwards(cells, r)
                if found:
                    count += 1
                    break
            r = cells.below[r][h]


@kernel
def all_trees(top, size):
    """The cell of all trees, divided by the first choice, of probabilities `top`."""
    return Cells(
        [copied(top)],
        [copied(top)],
        [np.full(length(top), NONE, np.int64)],
        [np.full(length(top), NONE, np.int64)],
        [np.zeros(length(top))],
        [NONE],
        [NONE],
        [0],
        [0.0],
        np.full(size, NONE, np.int64),
    )


@kernel
def open_below(cells, r, h, probs):
    """Divide cell (r, h): its choice has probabilities `probs`; returns the new item's number."""
    new = len(cells.share)
    nodes = cells.drawn[r].shape[0]
    cells.share.append(copied(probs))
    cells.left.append(copied(probs))
    cells.below.append(np.full(nodes, NONE, np.int64))
    cells.newest.append(np.full(nodes, NONE, np.int64))
    cells.drawn.append(np.zeros(nodes))
    cells.above.append(r)
    cells.choice.append(h)
    cells.level.append(cells.level[r] + 1)
    cells.log_prob.append(cells.log_prob[r] + logarithm(get(cells.share[r], h)))
    cells.below[r][h] = new
    return new


@kernel
def total_of(left):
    """The sum of a row."""
    total = zero(left)
    for h in range(length(left)):
        total = add(total, get(left, h))
    return total


@kernel
def pick(left, state):
    """A choice by what is left of it; never one of which nothing is."""
    rest = scale(total_of(left), uniform(state))
    last = 0
    for h in range(length(left)):
        x = get(left, h)
        if is_positive(x):
            last = h
            if is_less(rest, x):
                break
            rest = subtract(rest, x)
    return last


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
            if cells.newest[r][h] == NONE or met[place_of(drawn.heads, work.row, met)] == NONE:
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
def note(cells, drawn, r, h, tree):
    """Add a tree to those drawn from the undivided cell (r, h)."""
    cells.following[tree] = cells.newest[r][h]
    cells.newest[r][h] = tree
    log_cell = cells.log_prob[r] + logarithm(get(cells.share[r], h))
    cells.drawn[r][h] += math.exp(drawn.log_probs[tree] - log_cell)


@kernel
def refresh(cells, rules, r, h, depth):
    """Work out what is left of the undivided cell (r, h); returns False where that would take a subtraction too many."""
    rest = 1.0 - cells.drawn[r][h]
    if cells.newest[r][h] == NONE:
        return True
    if cells.level[r] == depth - 1 or rest < rules.least:
        put(cells.left[r], h, zero(cells.left[r]))
        return cells.level[r] == depth - 1
    put(cells.left[r], h, scale(get(cells.share[r], h), rest))
    return True


@kernel
def divide_until_safe(cells, problem, rules, drawn, r, h, work):
    """Divide cell (r, h), and what below it has hardly anything left, until each rest is safe to tell."""
    first_new = len(cells.share)
    rows = [r]
    choices = [h]
    while len(rows) > 0:
        r = rows.pop()
        h = choices.pop()
        root = fix(cells, problem, r, h, work)
        probs = copied(cells.share[r])
        distribution(problem, root, work, word_at(problem, root, cells.level[r] + 1), probs)
        new = open_below(cells, r, h, probs)
        tree = cells.newest[r][h]
        while tree != NONE:
            older = cells.following[tree]
            note(cells, drawn, new, choice_of(problem, drawn.heads[tree], root, cells.level[new]), tree)
            tree = older
        for choice in range(cells.drawn[new].shape[0]):
            if not refresh(cells, rules, new, choice, drawn.heads.shape[1]):
                rows.append(new)
                choices.append(choice)
    for r in range(len(cells.share) - 1, first_new - 1, -1):  # those below come behind those above
        take_over(cells, r)


@kernel
def hand_over(cells, problem, rules, drawn, count, work):
    """Note that the first `count` trees were drawn."""
    for tree in range(count):
        note(cells, drawn, TOP, choice_of(problem, drawn.heads[tree], TOP, TOP), tree)
    for choice in range(cells.drawn[0].shape[0]):
        if not refresh(cells, rules, TOP, choice, drawn.heads.shape[1]):
            divide_until_safe(cells, problem, rules, drawn, TOP, choice, work)


@kernel
def distribution(problem, root, work, word, probs):
    """The distribution of a word's head given work.fixed; in wide numbers where others may have lost something."""
    depth = head_probs(problem.weights, root, work.fixed, word, work.Q, work.R, probs)
    if depth < SAFE_LOG:
        head_probs(problem.wide_weights, root, work.fixed, word, work.wide_Q, work.wide_R, work.wide_probs)
        for h in range(work.fixed.shape[0]):
            put(probs, h, from_wide(probs, get(work.wide_probs, h)))


@kernel
def take_over(cells, r):
    """What is left of a divided cell is what is left below it."""
    above, h = cells.above[r], cells.choice[r]
    put(cells.left[above], h, multiply(get(cells.share[above], h), total_of(cells.left[r])))


@kernel
def pass_upwards(cells, r):
    """Tell all cells above item r what is left of it."""
    while r > 0:
        take_over(cells, r)
        r = cells.above[r]


@kernel
def hash_table(heads, count):
    """The numbers of the first `count` trees by the hash of their heads, at most a quarter full."""
    capacity = 64
    while capacity < 4 * (count + 1):
        capacity *= 2
    table = np.full(capacity, NONE, np.int64)
    for tree in range(count):
        table[place_of(heads, heads[tree], table)] = tree
    return table


@kernel
def place_of(heads, row, table):
    """Where in a hash table a tree is, or should be."""
    hashed = np.uint64(14695981039346656037)  # FNV-1a, then its high bits mixed in
    for word in range(row.shape[0]):
        hashed = (hashed ^ np.uint64(row[word])) * np.uint64(1099511628211)
    place = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(table.shape[0] - 1))
    while table[place] != NONE and not same(heads[table[place]], row):
        place = (place + 1) & (table.shape[0] - 1)
    return place


@kernel
def same(first, second):
    """Whether two trees have the same heads."""
    for word in range(first.shape[0]):
        if first[word] != second[word]:
            return False
    return True
