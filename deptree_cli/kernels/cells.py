"""Distinct trees that may cross, drawn from cells: parts of the space of trees."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.elimination import eliminate, sample_tree, transpose
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.head_path import (
    FREE,
    NONE,
    find_tops,
    gather_arcs,
    next_heads,
    path_in_range,
    set_head,
    start_path,
)
from deptree_cli.kernels.operations import (
    add,
    as_float,
    from_wide,
    get,
    is_positive,
    length,
    logarithm,
    multiply,
    part,
    put,
    reaches,
    row,
    scale,
    zero,
)
from deptree_cli.kernels.wilson import walk

# A set of trees: a hash table of their indices, with linear probing.


@kernel(allocates=True)
def hash_table(heads, count):
    """Return a new hash table of the first `count` trees of heads (k, n), at most a quarter full.

    An entry is the index of a tree, or NONE.
    """
    capacity = 64
    while capacity < 4 * (count + 1):
        capacity *= 2
    table = np.full(capacity, NONE, np.int64)
    for tree in range(count):
        table[place_of(heads, heads[tree], table)] = tree
    return table


@kernel
def place_of(heads, row, table):
    """Return the place in a hash table where the tree `row` (n,) is, or belongs if it is not among heads (k, n)."""
    hashed = np.uint64(14695981039346656037)  # FNV-1a, then its high bits mixed in
    for word in range(row.shape[0]):
        hashed = (hashed ^ np.uint64(row[word])) * np.uint64(1099511628211)
    place = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(table.shape[0] - 1))
    while table[place] != NONE and not same(heads[table[place]], row):
        place = (place + 1) & (table.shape[0] - 1)
    return place


@kernel
def same(first, second):
    """Return whether two trees (n,) have the same heads."""
    word = 0
    while word < first.shape[0] and first[word] == second[word]:
        word += 1
    return word == first.shape[0]


# The cells of a partition tree, and how much of each has not been drawn yet.
#
# A *cell* is the set of all trees that share their first choices. A cell divided by one more choice is an item of
# `Cells`, and entry h of its rows stands for the cell below it with choice h. What is left of an undivided cell is one
# minus the probabilities of the trees drawn from it, as shares of the cell; of a divided one it is a sum over the cells
# below it. Where next to nothing is left of a cell, the subtraction has *cancelled*: such a cell is divided as soon as
# what rounding may have done to it shows in what is left of all cells.


class Cells(NamedTuple):
    """Memory for divided cells, of which the first is the cell of all trees.

    used: (1,) how many of them there are. share, left: numbers (cells, n+1), P(choice | cell) and how much of that is
    left; total: (cells,) the sum of what is left. below: (cells, n+1) the divided cell below or NONE. newest:
    (cells, n+1) the last tree drawn from the undivided cell below or NONE; following: (k,) for each tree the one drawn
    before it from the same cell. drawn: (cells, n+1) the share of the undivided cell below that was drawn. above,
    choice: (cells,) which entry of which cell this one is; level: (cells,) how many choices its trees share. log_prob:
    (cells,) the logarithm of its probability. spent: (cells, n+1) int64, the steps spent on finding trees that were
    drawn before in the undivided cell below. cancelled: (2 k + 2, 2) int64, the entries (cell, choice) of which little
    is left, and stale ones that were divided since; cancelled_count: (1,) how many; largest_cancelled: (1,) the largest
    of their log-probabilities.
    """

    used: object
    share: object
    left: object
    total: object
    below: object
    newest: object
    drawn: object
    above: object
    choice: object
    level: object
    log_prob: object
    following: object
    spent: object
    cancelled: object
    cancelled_count: object
    largest_cancelled: object


@kernel
def open_cell(cells, above, h, probs):
    """Add a divided cell, entry h of cell `above`, whose choice has the probabilities probs (n+1,).

    Returns its index, NONE if there is no memory left for it.
    """
    new = cells.used[0]
    if new == cells.above.shape[0]:
        return NONE
    cells.used[0] += 1
    for choice in range(cells.drawn.shape[1]):
        put(row(cells.share, new), choice, get(probs, choice))
        put(row(cells.left, new), choice, get(probs, choice))
    put(cells.total, new, total_of(probs))
    fill(cells.below[new], NONE)
    fill(cells.newest[new], NONE)
    fill(cells.drawn[new], 0.0)
    fill(cells.spent[new], 0)
    cells.above[new] = above
    cells.choice[new] = h
    if above == NONE:
        cells.level[new] = 0
        cells.log_prob[new] = 0.0
    else:
        cells.level[new] = cells.level[above] + 1
        cells.log_prob[new] = cells.log_prob[above] + logarithm(get(row(cells.share, above), h))
        cells.below[above, h] = new
    return new


@kernel
def total_of(left):
    """Return the sum of a row of numbers."""
    total = zero(left)
    for h in range(length(left)):
        total = add(total, get(left, h))
    return total


@kernel
def record(cells, drawn, r, h, tree):
    """Count a tree of `drawn` among those drawn from the undivided cell (r, h)."""
    cells.following[tree] = cells.newest[r, h]
    cells.newest[r, h] = tree
    cells.drawn[r, h] += math.exp(drawn.log_probs[tree] - log_prob_of(cells, r, h))


@kernel
def log_prob_of(cells, r, h):
    """Return the logarithm of the probability of the cell (r, h)."""
    return cells.log_prob[r] + logarithm(get(row(cells.share, r), h))


@kernel
def refresh(cells, rules, r, h, depth):
    """Update what is left of the undivided cell (r, h), from which trees were drawn; note it if that is cancelled now.

    depth: how many choices make a tree.
    """
    left = row(cells.left, r)
    if cells.level[r] == depth - 1:
        put(left, h, zero(left))
        return
    rest = 1.0 - cells.drawn[r, h]
    put(left, h, scale(get(row(cells.share, r), h), max(rest, 0.0)))  # below 0 by rounding
    if rest < rules.least:
        if cells.cancelled_count[0] == cells.cancelled.shape[0]:
            forget_stale(cells)
        place = cells.cancelled_count[0]
        cells.cancelled[place, 0], cells.cancelled[place, 1] = r, h
        cells.cancelled_count[0] += 1
        cells.largest_cancelled[0] = max(cells.largest_cancelled[0], log_prob_of(cells, r, h))


@kernel
def forget_stale(cells):
    """Keep only those cancelled cells that are still undivided, of which there are no more than trees."""
    kept = 0
    cells.largest_cancelled[0] = -math.inf
    for place in range(cells.cancelled_count[0]):
        r, h = cells.cancelled[place, 0], cells.cancelled[place, 1]
        if cells.below[r, h] == NONE:
            cells.cancelled[kept, 0], cells.cancelled[kept, 1] = r, h
            cells.largest_cancelled[0] = max(cells.largest_cancelled[0], log_prob_of(cells, r, h))
            kept += 1
    cells.cancelled_count[0] = kept


@kernel
def cancellation_matters(cells, rules, log_prob):
    """Return whether rounding in cancelled cells of this log-probability at most may show in what is left of all."""
    total, count = get(cells.total, 0), cells.cancelled_count[0]
    if count == 0:
        return False
    return not is_positive(total) or log_prob + math.log(rules.least * count) > logarithm(total)


@kernel
def refresh_divided(cells, r):
    """Update what is left of the divided cell r from what is left of the cells below it."""
    above, h = cells.above[r], cells.choice[r]
    put(cells.total, r, total_of(row(cells.left, r)))
    put(row(cells.left, above), h, multiply(get(row(cells.share, above), h), get(cells.total, r)))


@kernel
def pass_upwards(cells, r):
    """Update what is left of cell r and of all cells above it."""
    while r > 0:
        refresh_divided(cells, r)
        r = cells.above[r]
    put(cells.total, r, total_of(row(cells.left, r)))


# Trees of one cell by elimination: exact draws where walks take too long, given a root and some words' heads.
#
# A word with a given head is merged into the tree above it, so that a cell is a smaller graph: its nodes are the
# words without a head, each with the tree that hangs on it, and the root's tree. One factorisation of that graph, m^3
# / 3 multiply-adds for m free words, serves all draws from the cell. With no heads given it is the sentence's own, in
# which a root costs O(n^2).


class Factors(NamedTuple):
    """The factors of a cell with m free words, in arrays of numbers that hold n, as of `elimination.py`.

    A, across, W: (n+1, n+1); S: (n+1,); workspace: (3, WIDTH, n+1).
    """

    A: object
    S: object
    across: object
    W: object
    workspace: object


# Rows of a cell, an int64 array (ROWS, n+1): how many words are free, and these by position from 1 on; the nodes of
# each tree as lists, by position and by node; and what draws compute in.
WORDS, FIRST, NEXT, TREE, PLACES, ROWS = 0, 1, 2, 3, 4, 7


@kernel
def merge(cell, root, fixed):
    """Fill a cell for a root and the heads (n+1,) given by node; return how many nodes its graph has."""
    nodes, free, first, tops = fixed.shape[0], cell[WORDS], cell[FIRST], cell[TREE]
    count = 0
    for u in range(1, nodes):
        if u != root and fixed[u] == FREE:
            count += 1
            free[count] = u
    free[0] = count
    find_tops(root, fixed, free[: count + 1], tops)
    fill(first[: count + 1], NONE)
    for u in range(nodes - 1, -1, -1):
        if tops[u] != NONE:
            cell[NEXT, u] = first[tops[u]]
            first[tops[u]] = u
    return count + 1


@kernel
def factorise_cell(weights, root, fixed, cell, factors):
    """Factorise the cell with the given root and heads (n+1,), FREE where not given; fill `cell` and `factors`.

    Returns whether their numbers held every term.
    """
    nodes = merge(cell, root, fixed)
    gather_arcs(weights, cell[WORDS, :nodes], cell[TREE], factors.A)
    for i in range(nodes):
        for j in range(nodes):
            put(factors.W, (i, j), get(factors.A, (i, j)))
    _, is_in_range = eliminate(factors.A, part(factors.S, 0, nodes), factors.workspace, False)
    transpose(factors.A, factors.across, nodes)
    return is_in_range


@kernel
def draw_from(weights, root, fixed, cell, factors, state, out):
    """Fill out (n,), int32, with a tree of a cell from its factors, given its root and heads as before."""
    nodes, tree = cell[WORDS, 0] + 1, cell[TREE]
    S = part(factors.S, 0, nodes)
    sample_tree(factors.A, S, factors.across, factors.W, False, state, cell[PLACES:], tree)
    for u in range(1, fixed.shape[0]):
        out[u - 1] = 0 if u == root else fixed[u]
    pick = row(row(factors.workspace, 0), 0)
    for x in range(1, nodes):
        word = cell[WORDS, x]
        h = cell[FIRST, tree[x]]
        heads = 0
        total = zero(S)
        while h != NONE:
            put(pick, heads, get(row(weights, h), word))
            total = add(total, get(pick, heads))
            heads += 1
            h = cell[NEXT, h]
        chosen = draw_categorical(pick, 0, heads, total, state) if heads > 1 else np.int64(0)
        h = cell[FIRST, tree[x]]
        for _ in range(chosen):
            h = cell[NEXT, h]
        out[word - 1] = h


# What the adaptive partition tree is given, and a tree as a sequence of choices.
#
# The choices are the root (node 0 where there may be several), then the heads of words in a fixed order.


class PartitionProblem(NamedTuple):
    """A sentence's distribution as the kernel needs it; "numbers" are float64 or wide (`kernels/numbers.py`).

    weights: numbers (n+1, n+1), ``[head, dependent]``, columns shifted. log_weights, log_z: their logarithms, and that
    of their partition function. order: (n,) the words in the order in which their heads are chosen; rank:
    (n+1,) the place of each word in it, of node 0 n. tables, bits: alias tables of the weights (`wilson.py`).
    """

    single_root: bool
    weights: object
    log_weights: object
    log_z: float
    order: object
    rank: object
    tables: object
    bits: int


class PartitionRules(NamedTuple):
    """The thresholds of the algorithm.

    walks: whether to walk at all. tree: the steps that a tree takes by elimination, after which a walk is given up;
    with m words free and some heads given, m^3 times `factors` is added. repeats: a cell is divided after that many
    times the steps of a division were spent on trees drawn before. least: below this share of a cell, what is left of
    it has cancelled. stop: the total left at which to stop.
    """

    walks: bool
    tree: int
    factors: float
    repeats: float
    least: float
    stop: float


class Drawn(NamedTuple):
    """Trees and their probabilities: heads (k, n), log_probs (k,), log_left (k+1,).

    log_left: the logarithm of the mass left before each tree was drawn, and after the last.
    """

    heads: object
    log_probs: object
    log_left: object


class PartitionWorkspace(NamedTuple):
    """Arrays to compute in.

    choices (depth,), fixed (n+1,) and free (n,), int64: a cell's choices, the heads that follow from them, and the
    words without. stamp (n+1,) int64, zeros, and row (n,) int32: a walk, and its tree.
    """

    choices: object
    fixed: object
    free: object
    stamp: object
    row: object


class PartitionTree(NamedTuple):
    """A sentence's partition tree.

    A `PartitionProblem`, `PartitionRules`, `Cells`, the trees `Drawn`, the hash table of them, a `PartitionWorkspace`.
    """

    problem: object
    rules: object
    cells: object
    drawn: object
    seen: object
    work: object


@kernel
def word_at(problem, root, level):
    """Return the word whose head is the choice at a level from 1 on; a root that is a word has no choice."""
    return problem.order[level - 1 if level - 1 < problem.rank[root] else level]


@kernel
def choice_of(problem, heads, root, level):
    """Return the choice at a level that leads to a tree, heads (n,)."""
    if level > 0:
        return np.int64(heads[word_at(problem, root, level) - 1])
    if problem.single_root:
        for word in range(1, heads.shape[0] + 1):
            if heads[word - 1] == 0:
                return np.int64(word)
    return np.int64(0)


@kernel
def fix(cells, problem, r, h, work):
    """Set work.fixed to the heads that the trees of cell (r, h) share; return the node that they hang on."""
    choices = work.choices
    level = cells.level[r]
    choices[level] = h
    while r > 0:
        choices[cells.level[r] - 1] = cells.choice[r]
        r = cells.above[r]
    root = choices[0]
    fill(work.fixed, FREE)
    for earlier in range(1, level + 1):
        work.fixed[word_at(problem, root, earlier)] = choices[earlier]
    return root


# Dividing cells of the partition tree along one of their trees: all head distributions on the way in O(m^3).


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


# Distinct trees, in the order in which drawing with replacement would first meet them: the adaptive partition tree.
#
# Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up; so the space of
# trees is divided into cells where they do, and only there. The choices that a cell's trees share are the root (node 0
# where there may be several), then the heads of words in a fixed order (algorithm and proof: docs/how_it_works.md).
#
# Costs are counted in steps of a walk, and decisions depend on counts only: the same stream gives the same trees.


# The cell of all trees. It has a type, as numba would compile everything once more for a literal 0.
TOP = np.int64(0)

# Dividing a cell of m free words costs about as much as BASE + m^2 (FLAT + m / STEEP) steps.
BASE = 600
FLAT = 10
STEEP = 8

# What a draw needs to go on: nothing, as it is done; a larger set of trees; a tree from inside the cell that it has
# come to; that cell, or cancelled cells alone, to be divided.
SET, INSIDE, DIVIDE = range(1, 4)  # and DONE
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
