"""Distinct trees that may cross, drawn from cells: parts of the space of trees. And what all distinct trees share."""

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
    row,
    scale,
    zero,
)
from deptree_cli.kernels.wilson import walk

# The trees drawn so far, of any space: a hash table of their indices, with linear probing, and what is left.


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
    word = 0
    while word < first.shape[0] and first[word] == second[word]:
        word += 1
    return word == first.shape[0]


class Drawn(NamedTuple):
    """The trees drawn so far of a sentence, and what its distribution is made of.

    heads (k, n), log_probs (k,), log_left (k+1,): the logarithm of the mass left before each tree was drawn, and after
    the last. seen: a hash table of the trees. state: of the random bits. log_weights: (n+1, n+1), ``[head,
    dependent]``, columns shifted. log_z: the logarithm of their partition function.
    """

    heads: Any
    log_probs: Any
    log_left: Any
    seen: Any
    state: Any
    log_weights: Any
    log_z: float


class Thresholds(NamedTuple):
    """The thresholds.

    repeats: how dear repeats have to be for the space to be divided (the two trees count that differently). least:
    below this share, what is left by subtraction has cancelled. stop: the mass left at which to stop. lowest: the
    logarithm of the mass left down to which numbers are sound.
    """

    repeats: float
    least: float
    stop: float
    lowest: float


# What a draw needs to go on: nothing, as it is done; a larger hash table; more memory for the tree of what was drawn.
DONE, SET, ROOM = range(3)

# Where drawing is, integers: how many trees there are, then what each tree of what was drawn notes.
COUNT = 0


@kernel
def is_done(drawn, rules, count, left):
    """Note what is left before the next tree, a number; return whether there is to be none."""
    drawn.log_left[count] = logarithm(left) if is_positive(left) else -math.inf
    enough = count == drawn.heads.shape[0] or as_float(left) < rules.stop
    return enough or drawn.log_left[count] <= rules.lowest


@kernel
def keep(drawn, tree, count):
    """Store a tree (n,) behind the first `count`, unless it is one of these; return whether it is new."""
    place = place_of(drawn.heads, tree, drawn.seen)
    if drawn.seen[place] != NONE:
        return False
    log_prob = -drawn.log_z
    for word in range(1, tree.shape[0] + 1):
        head = np.int64(tree[word - 1])
        drawn.heads[count, word - 1] = head
        log_prob += drawn.log_weights[head, word]
    drawn.log_probs[count] = min(log_prob, 0.0)
    drawn.seen[place] = count
    return True


# The cells of a partition tree, and how much of each has not been drawn yet.
#
# A *cell* is the set of all trees that share their first choices: the root (node 0 where there may be several), then
# the heads of words in a fixed order. A cell divided by one more choice is an item of `Cells`, and entry h of its rows
# stands for the cell below it with choice h. What is left of an undivided cell is one minus the probabilities of the
# trees drawn from it, as shares of the cell; of a divided one it is a sum over the cells below it. Where next to
# nothing is left of a cell, the subtraction has *cancelled*: such a cell is divided as soon as what rounding may have
# done to it shows in what is left of all cells.


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

    used: Any
    share: Any
    left: Any
    total: Any
    below: Any
    newest: Any
    drawn: Any
    above: Any
    choice: Any
    level: Any
    log_prob: Any
    following: Any
    spent: Any
    cancelled: Any
    cancelled_count: Any
    largest_cancelled: Any


class PartitionTree(NamedTuple):
    """A sentence's partition tree, in float64 or wide numbers (`kernels/numbers.py`).

    rules, drawn: `Thresholds` and `Drawn`; a cell is divided once `repeats` times the steps of a division were spent on
    trees drawn before. cells: `Cells`. walks: whether to walk at all. tree_steps: those that a tree takes by
    elimination, after which a walk is given up; with m words free and some heads given, m^3 times `factor_steps` is
    added. order: (n,) the words in the order in which their heads are chosen; rank: (n+1,) the place of each word in
    it, of node 0 n. tables, bits: alias tables of the weights (`wilson.py`). To compute in: choices (depth,), fixed
    (n+1,) and free (n,), int64, a cell's choices, the heads that follow from them, and the words without; stamp (n+1,)
    int64, zeros, and row (n,) int32, a walk and its tree.
    """

    rules: Any
    drawn: Any
    cells: Any
    walks: bool
    tree_steps: int
    factor_steps: float
    single_root: bool
    order: Any
    rank: Any
    tables: Any
    bits: int
    choices: Any
    fixed: Any
    free: Any
    stamp: Any
    row: Any


@kernel
def open_cell(cells, above, h, probs):
    """Add a divided cell, entry h of cell `above`, whose choice has probabilities, probs (n+1,); return its index."""
    new = cells.used[0]
    cells.used[0] += 1
    share, left = row(cells.share, new), row(cells.left, new)
    for choice in range(length(probs)):
        x = from_wide(share, get(probs, choice))
        put(share, choice, x)
        put(left, choice, x)
    put(cells.total, new, sum_of_numbers(left, 0, length(left)))
    fill(cells.below[new], NONE)
    fill(cells.newest[new], NONE)
    fill(cells.drawn[new], 0.0)
    fill(cells.spent[new], 0)
    cells.above[new], cells.choice[new], cells.level[new], cells.log_prob[new] = above, h, 0, 0.0
    if above != NONE:
        cells.level[new] = cells.level[above] + 1
        cells.log_prob[new] = log_prob_of(cells, above, h)
        cells.below[above, h] = new
    return new


@kernel
def sum_of_numbers(numbers, start, stop):
    """Return the sum of the numbers from start to stop - 1."""
    total = zero(numbers)
    for i in range(start, stop):
        total = add(total, get(numbers, i))
    return total


@kernel
def log_prob_of(cells, r, h):
    """Return the logarithm of the probability of the cell (r, h)."""
    return cells.log_prob[r] + logarithm(get(row(cells.share, r), h))


@kernel
def record(cells, drawn, r, h, tree):
    """Count a tree of `drawn` among those drawn from the undivided cell (r, h)."""
    cells.following[tree] = cells.newest[r, h]
    cells.newest[r, h] = tree
    cells.drawn[r, h] += math.exp(drawn.log_probs[tree] - log_prob_of(cells, r, h))


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
def refresh_all(cells, rules, r, depth):
    """Update what is left of the divided cell r and of the undivided cells below it."""
    for choice in range(cells.drawn.shape[1]):
        if cells.below[r, choice] == NONE and cells.newest[r, choice] != NONE:
            refresh(cells, rules, r, choice, depth)
    refresh_divided(cells, r)


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
def pass_upwards(cells, r):
    """Update what is left of the divided cell r and of all cells above it."""
    while r != NONE:
        refresh_divided(cells, r)
        r = cells.above[r]


@kernel
def refresh_divided(cells, r):
    """Update what is left of the divided cell r from what is left of the cells below it."""
    above, h, left = cells.above[r], cells.choice[r], row(cells.left, r)
    put(cells.total, r, sum_of_numbers(left, 0, length(left)))
    if above != NONE:
        put(row(cells.left, above), h, multiply(get(row(cells.share, above), h), get(cells.total, r)))


@kernel
def word_at(tree, root, level):
    """Return the word whose head is the choice at a level from 1 on; a root that is a word has no choice."""
    return tree.order[level - 1 if level - 1 < tree.rank[root] else level]


@kernel
def choice_of(tree, heads, root, level):
    """Return the choice at a level that leads to a tree, heads (n,)."""
    if level > 0:
        return np.int64(heads[word_at(tree, root, level) - 1])
    if tree.single_root:
        for word in range(1, heads.shape[0] + 1):
            if heads[word - 1] == 0:
                return np.int64(word)
    return np.int64(0)


@kernel
def fix(tree, r, h):
    """Set tree.fixed to the heads that the trees of cell (r, h) share; return the node that they hang on."""
    cells, choices, level = tree.cells, tree.choices, tree.cells.level[r]
    choices[level] = h
    while r > 0:
        choices[cells.level[r] - 1] = cells.choice[r]
        r = cells.above[r]
    fill(tree.fixed, FREE)
    for earlier in range(1, level + 1):
        tree.fixed[word_at(tree, choices[0], earlier)] = choices[earlier]
    return choices[0]


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

    A: Any
    S: Any
    across: Any
    W: Any
    workspace: Any


# Rows of a cell, an int64 array (ROWS, n+1): how many words are free, and these by position from 1 on; the nodes of
# each tree as lists, by position and by node; and what draws compute in.
WORDS, FIRST, NEXT, TREE, PLACES, ROWS = 0, 1, 2, 3, 4, 7


@kernel
def factorise_cell(weights, root, fixed, cell, factors):
    """Factorise the cell with the given root and heads (n+1,), FREE where not given; fill `cell` and `factors`.

    Returns whether their numbers held every term.
    """
    free, first, tops, nodes = cell[WORDS], cell[FIRST], cell[TREE], 1
    for u in range(1, fixed.shape[0]):
        if u != root and fixed[u] == FREE:
            free[nodes] = u
            nodes += 1
    free[0] = nodes - 1
    find_tops(root, fixed, free[1:nodes], 1, 0, tops)
    fill(first[:nodes], NONE)
    for u in range(fixed.shape[0] - 1, -1, -1):
        if tops[u] != NONE:
            cell[NEXT, u] = first[tops[u]]
            first[tops[u]] = u
    gather_arcs(weights, free[:nodes], tops, factors.A)
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


# Dividing cells of the partition tree along one of their trees: all head distributions on the way in O(m^3).


class DivisionWorkspace(NamedTuple):
    """What divisions compute in.

    weights: numbers (n+1, n+1), those of the cells or the same as wide numbers; in_range, tables: as of `head_path.py`;
    probs (n+1,): to compute in, of their kind.
    """

    weights: Any
    in_range: bool
    tables: Any
    probs: Any


UNSOUND = -1


@kernel
def divide_cells(tree, r, h, room):
    """Divide cell (r, h), unless r is NONE, and then cancelled cells until no rounding shows in what is left of all.

    tree: a `PartitionTree`; room: a `DivisionWorkspace`. Returns DONE, or, with the cell that it has come to, ROOM if
    there is not enough memory for cells and UNSOUND if weights have to be wide for it.
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
    cells, drawn = tree.cells, tree.drawn
    first_new = cells.used[0]
    root, level, depth = fix(tree, r, h), cells.level[r], tree.choices.shape[0]
    words = tree.free[: depth - 1 - level]
    if first_new + words.shape[0] > cells.above.shape[0]:
        return ROOM
    for x in range(words.shape[0]):
        words[x] = word_at(tree, root, level + 1 + x)
    likeliest = other = cells.newest[r, h]
    while other != NONE:
        if drawn.log_probs[other] > drawn.log_probs[likeliest]:
            likeliest = other
        other = cells.following[other]
    path = start_path(room.weights, root, tree.fixed, words, room.in_range, room.tables)
    for x in range(words.shape[0]):
        log_pivots = next_heads(path, room.weights, room.tables, room.tables, room.probs)
        if not path_in_range(room.weights, path, log_pivots, log_pivots):
            if x == 0:
                return UNSOUND
            break
        new, other = open_cell(cells, r, h, room.probs), cells.newest[r, h]
        while other != NONE:  # the trees drawn from the cell, which is divided now, are handed over
            older = cells.following[other]
            record(cells, drawn, new, choice_of(tree, drawn.heads[other], root, cells.level[new]), other)
            other = older
        r, h = new, np.int64(drawn.heads[likeliest, words[x] - 1])
        if cells.drawn[r, h] < 0.5:
            break
        set_head(path, h)
    for new in range(cells.used[0] - 1, first_new - 1, -1):  # those above others come before them
        refresh_all(cells, tree.rules, new, depth)
    return DONE


# Distinct trees, in the order in which drawing with replacement would first meet them: the adaptive partition tree.
#
# Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up; so the space of
# trees is divided into cells where they do, and only there (algorithm and proof: docs/how_it_works.md).
#
# Costs are counted in steps of a walk, and decisions depend on counts only: the same stream gives the same trees.


# The cell of all trees. It has a type, as numba would compile everything once more for a literal 0.
TOP = np.int64(0)

# Dividing a cell of m free words costs about as much as BASE + m^2 (FLAT + m / STEEP) steps.
BASE = 600
FLAT = 10
STEEP = 8

# What a draw needs to go on, beside what all do: a tree from inside the cell that it has come to; that cell, or
# cancelled cells alone, to be divided.
INSIDE, DIVIDE = 3, 4
FOUND = 5

# Where drawing is: the undivided cell that the draw has come to, or NONE (without a choice, the divided cell); whether
# tree.row is a tree of it that was drawn by elimination; the cell whose factors are at hand; how many walks so far.
CELL, CHOICE, FROM_INSIDE, INSIDE_CELL, INSIDE_CHOICE, WALKS = range(1, 7)
PLACE, INSIDE_PLACE = slice(CELL, CHOICE + 1), slice(INSIDE_CELL, INSIDE_CHOICE + 1)


@kernel
def begin(tree, top, count):
    """Open the cell of all trees, given that the first `count` trees were drawn; `divide_cells` has to come next.

    tree: a `PartitionTree` without a cell in use; top: numbers (n+1,), the distribution of the root.
    """
    cells, drawn = tree.cells, tree.drawn
    open_cell(cells, NONE, NONE, top)
    for i in range(count):
        record(cells, drawn, TOP, choice_of(tree, drawn.heads[i], TOP, TOP), i)
    refresh_all(cells, tree.rules, TOP, tree.choices.shape[0])


@kernel
def draw_by_walk(tree, cursor):
    """Go on drawing new trees by walks, until these do not do; return what the draw needs.

    tree: a `PartitionTree`, whose `drawn` is filled. It is DONE at k trees, at the total left that the rules name, or
    where float64 cannot tell what is left (log_left shows that). INSIDE asks for a tree of the cell that tree.choices
    and tree.fixed describe, in tree.row; after DIVIDE the draw goes on below that cell.
    """
    cells, rules = tree.cells, tree.rules
    while True:
        count = cursor[COUNT]
        if cursor[CELL] == NONE and is_done(tree.drawn, rules, count, get(cells.total, 0)):
            return DONE
        if 2 * count >= tree.drawn.seen.shape[0]:
            return SET
        if cursor[CHOICE] == NONE:
            cursor[CELL], cursor[CHOICE] = undivided_cell(cells, max(cursor[CELL], TOP), tree.drawn.state)
            if cursor[CELL] == NONE:
                continue
        needs = new_tree_of(tree, cursor)
        cursor[FROM_INSIDE] = 0
        if needs != FOUND:
            return needs
        r, h = cursor[CELL], cursor[CHOICE]
        keep(tree.drawn, tree.row, count)
        record(cells, tree.drawn, r, h, count)
        refresh(cells, rules, r, h, tree.choices.shape[0])
        pass_upwards(cells, r)
        cursor[COUNT], cursor[CELL], cursor[CHOICE] = count + 1, NONE, NONE
        if cancellation_matters(cells, rules, cells.largest_cancelled[0]):
            return DIVIDE


@kernel
def undivided_cell(cells, r, state):
    """Go down from the divided cell r by what is left; return an undivided cell, or NONE if rounding left nothing."""
    while is_positive(get(cells.total, r)):
        h = draw_categorical(row(cells.left, r), 0, cells.drawn.shape[1], get(cells.total, r), state)
        if cells.below[r, h] == NONE:
            return r, h
        r = cells.below[r, h]
    return np.int64(NONE), np.int64(NONE)


@kernel
def new_tree_of(tree, cursor):
    """Try to walk to a tree of the undivided cell at hand that was not drawn yet, and put it into tree.row.

    Returns FOUND, INSIDE or DIVIDE. The cycles that a walk pops are independent of its tree, so a walk that takes too
    long is given up and its tree drawn from the same cell by elimination. Giving up after repeats favours no tree
    either: the cell is divided then, and the draw goes on inside it.
    """
    cells, r, h = tree.cells, cursor[CELL], cursor[CHOICE]
    root, level = fix(tree, r, h), cells.level[r]
    free = tree.choices.shape[0] - 1 - level
    if free == 0:  # every choice is made: there is one tree
        for word in range(1, tree.row.shape[0] + 1):
            tree.row[word - 1] = 0 if word == root else tree.fixed[word]
        return FOUND
    if cursor[FROM_INSIDE]:
        if is_new(tree, r, h):
            return FOUND
        cells.spent[r, h] += tree.tree_steps
    has_factors = r == cursor[INSIDE_CELL] and h == cursor[INSIDE_CHOICE]
    budget = tree.tree_steps + (np.int64(tree.factor_steps * free * free * free) if level > 0 else 0)
    while not pays_to_divide(tree, r, h, free):
        if cursor[FROM_INSIDE] or has_factors or not tree.walks:
            return INSIDE
        cursor[WALKS] += 1
        state, now = tree.drawn.state, cursor[WALKS]
        left = walk(tree.tables, tree.bits, root, tree.fixed, state, budget, now, tree.stamp, tree.row)
        if left < 0:
            return INSIDE
        if is_new(tree, r, h):
            return FOUND
        cells.spent[r, h] += budget - left
    return DIVIDE


@kernel(forceinline=True)
def is_new(tree, r, h):
    """Return whether tree.row, a tree of the undivided cell (r, h), was not drawn yet."""
    drawn = tree.drawn
    return tree.cells.newest[r, h] == NONE or drawn.seen[place_of(drawn.heads, tree.row, drawn.seen)] == NONE


@kernel(forceinline=True)
def pays_to_divide(tree, r, h, free):
    """Return whether repeats in the undivided cell (r, h) have cost what dividing it costs, or little is left of it."""
    cells, rules = tree.cells, tree.rules
    if cells.newest[r, h] == NONE:
        return False
    patience = rules.repeats * (BASE + free * free * (FLAT + free / STEEP))
    return 1.0 - cells.drawn[r, h] < rules.least or cells.spent[r, h] >= patience
