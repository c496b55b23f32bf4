"""Distinct trees that may cross, drawn from cells: parts of the space of trees. And what all distinct trees share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.elimination import WIDTH, factorise, sample_tree, transpose
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
    new,
    put,
    row,
    scale,
    view,
    zero,
)
from deptree_cli.kernels.wilson import walk

# The trees drawn so far, of any space: a hash table of them with linear probing, and what is left.


class TreesSoFar(NamedTuple):
    """The trees drawn so far of a sentence, what its distribution is made of, and thresholds.

    heads (k, n), log_probs (k,), log_left (k+1,): the logarithm of the mass left before each tree was drawn, and after
    the last. seen: a hash table of this many trees, at most a quarter full, zeros at first: one more than the number of
    each. state: of the random bits. log_weights: (n+1, n+1), ``[head, dependent]``, columns shifted. log_z: the
    logarithm of their partition function.

    repeats: how dear repeats have to be for the space to be divided (the two trees count that differently). least:
    below this share, what is left by subtraction has cancelled. stop: the mass left at which to stop. lowest: the
    logarithm of the mass left down to which numbers are sound.
    """

    heads: Any
    log_probs: Any
    log_left: Any
    seen: Any
    state: Any
    log_weights: Any
    log_z: float
    repeats: float
    least: float
    stop: float
    lowest: float


# What a draw needs to go on: nothing, as it is done; or more memory for the tree of what was drawn.
DONE, ROOM = range(2)

# Where drawing is, integers: how many trees there are, then what each tree of what was drawn notes.
COUNT = 0


@kernel
def place_of(heads, row, table):
    """Return the place in a hash table where the tree `row` (n,) is, or belongs if it is not among heads (k, n)."""
    hashed = np.uint64(14695981039346656037)  # FNV-1a, then its high bits mixed in
    for word in range(row.shape[0]):
        hashed = (hashed ^ np.uint64(row[word])) * np.uint64(1099511628211)
    place = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(table.shape[0] - 1))
    word = 0
    while table[place] > 0 and word < row.shape[0]:  # until it is all the same
        if heads[table[place] - 1, word] == row[word]:
            word += 1
        else:
            place, word = (place + 1) & (table.shape[0] - 1), 0
    return place


@kernel
def is_done(drawn, count, left):
    """Note what is left before the next tree, a number; return whether there is to be none."""
    drawn.log_left[count] = logarithm(left) if is_positive(left) else -math.inf
    enough = count == drawn.heads.shape[0] or as_float(left) < drawn.stop
    return enough or drawn.log_left[count] <= drawn.lowest


@kernel
def keep(drawn, tree, count):
    """Store a tree (n,) behind the first `count`, unless it is one of these; return whether it is new."""
    place = place_of(drawn.heads, tree, drawn.seen)
    if drawn.seen[place] > 0:
        return False
    log_prob = -drawn.log_z
    for word in range(1, tree.shape[0] + 1):
        head = np.int64(tree[word - 1])
        drawn.heads[count, word - 1] = head
        log_prob += drawn.log_weights[head, word]
    drawn.log_probs[count] = min(log_prob, 0.0)
    drawn.seen[place] = count + 1
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

    share, left: numbers (cells, n+1), P(choice | cell) and how much of that is left; total: (cells,) the sum of what is
    left. drawn: (cells, n+1) the share of the undivided cell below that was drawn. below, newest, spent: (cells, n+1)
    int64, the divided cell below or NONE; the last tree drawn from the undivided cell below or NONE; the steps spent on
    finding trees that were drawn before in it. above, choice: (cells,) which entry of which cell this one is; level:
    (cells,) how many choices its trees share. log_prob: (cells,) the logarithm of its probability.
    """

    share: Any
    left: Any
    total: Any
    drawn: Any
    below: Any
    newest: Any
    spent: Any
    above: Any
    choice: Any
    level: Any
    log_prob: Any


class PartitionTree(NamedTuple):
    """A sentence's partition tree, in float64 or wide numbers (`kernels/numbers.py`).

    drawn: `TreesSoFar`; a cell is divided once `repeats` times the steps of a division were spent on trees drawn
    before. cells: `Cells`. cursor: where drawing is. following: (k,) for each tree the one drawn before it from the
    same cell. cancelled: (2 k + 2, 2) int64, the entries (cell, choice) of which little is left, and stale ones that
    were divided since; largest: (1,) the largest of their log-probabilities. walks: whether to walk at all. tree_steps:
    those that a tree takes by elimination, after which a walk is given up; with m words free and some heads given, m^3
    times `factor_steps` is added. order: (n,) the words in the order in which their heads are chosen; rank: (n+1,) the
    place of each word in it, of node 0 n. tables, bits: alias tables of the weights (`wilson.py`). To compute in:
    choices (depth,), fixed (n+1,) and free (n,), int64, a cell's choices, the heads that follow from them, and the
    words without; stamp (n+1,) int64, zeros, and row (n,) int32, a walk and its tree.
    """

    drawn: Any
    cells: Any
    cursor: Any
    following: Any
    cancelled: Any
    largest: Any
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


# Where drawing is: the undivided cell that the draw has come to, or NONE (without a choice, the divided cell); whether
# tree.row is a tree of it that was drawn by elimination; the cell whose factors are at hand; how many walks so far; how
# many cells are divided, and how many cancelled.
CELL, CHOICE, FROM_INSIDE, INSIDE_CELL, INSIDE_CHOICE, WALKS, USED, CANCELLED = range(1, 9)
PLACE, INSIDE_PLACE = slice(CELL, CHOICE + 1), slice(INSIDE_CELL, INSIDE_CHOICE + 1)


@kernel
def open_cell(tree, above, h, probs):
    """Add a divided cell, entry h of cell `above`, whose choice has probabilities, probs (n+1,); return its index."""
    cells, opened = tree.cells, tree.cursor[USED]
    tree.cursor[USED] += 1
    share, left = row(cells.share, opened), row(cells.left, opened)
    for choice in range(length(probs)):
        x = from_wide(share, get(probs, choice))
        put(share, choice, x)
        put(left, choice, x)
    fill(cells.below[opened], NONE)
    fill(cells.newest[opened], NONE)
    fill(cells.drawn[opened], 0.0)
    fill(cells.spent[opened], 0)
    cells.above[opened], cells.choice[opened], cells.level[opened], cells.log_prob[opened] = above, h, 0, 0.0
    if above != NONE:
        cells.level[opened] = cells.level[above] + 1
        cells.log_prob[opened] = log_prob_of(cells, above, h)
        cells.below[above, h] = opened
    return opened


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
def record(tree, r, h, number):
    """Count a tree among those drawn from the undivided cell (r, h)."""
    cells = tree.cells
    tree.following[number] = cells.newest[r, h]
    cells.newest[r, h] = number
    cells.drawn[r, h] += math.exp(tree.drawn.log_probs[number] - log_prob_of(cells, r, h))


@kernel
def refresh(tree, r, h):
    """Update what is left of the undivided cell (r, h), from which trees were drawn; note it if that is cancelled."""
    cells, cursor, left = tree.cells, tree.cursor, row(tree.cells.left, r)
    if cells.level[r] == tree.choices.shape[0] - 1:
        put(left, h, zero(left))
        return
    rest = 1.0 - cells.drawn[r, h]
    put(left, h, scale(get(row(cells.share, r), h), max(rest, 0.0)))  # below 0 by rounding
    if rest < tree.drawn.least:
        if cursor[CANCELLED] == tree.cancelled.shape[0]:
            forget_stale(tree)
        note_cancelled(tree, r, h)


@kernel
def note_cancelled(tree, r, h):
    tree.cancelled[tree.cursor[CANCELLED], 0], tree.cancelled[tree.cursor[CANCELLED], 1] = r, h
    tree.cursor[CANCELLED] += 1
    tree.largest[0] = max(tree.largest[0], log_prob_of(tree.cells, r, h))


@kernel
def forget_stale(tree):
    """Keep only those cancelled cells that are still undivided, of which there are no more than trees."""
    noted = tree.cursor[CANCELLED]
    tree.cursor[CANCELLED], tree.largest[0] = 0, -math.inf
    for place in range(noted):
        r, h = tree.cancelled[place, 0], tree.cancelled[place, 1]
        if tree.cells.below[r, h] == NONE:
            note_cancelled(tree, r, h)


@kernel
def cancellation_matters(tree, log_prob):
    """Return whether rounding in cancelled cells of this log-probability at most may show in what is left of all."""
    total, count = get(tree.cells.total, 0), tree.cursor[CANCELLED]
    if count == 0:
        return False
    return not is_positive(total) or log_prob + math.log(tree.drawn.least * count) > logarithm(total)


@kernel
def refresh_each(tree, r):
    """Update what is left of the undivided cells below the divided cell r."""
    for choice in range(tree.cells.drawn.shape[1]):
        if tree.cells.below[r, choice] == NONE and tree.cells.newest[r, choice] != NONE:
            refresh(tree, r, choice)


@kernel
def pass_upwards(cells, r):
    """Update what is left of the divided cell r and of all cells above it, from what is left of those below them."""
    while r != NONE:
        above, h, left = cells.above[r], cells.choice[r], row(cells.left, r)
        put(cells.total, r, sum_of_numbers(left, 0, length(left)))
        if above != NONE:
            put(row(cells.left, above), h, multiply(get(row(cells.share, above), h), get(cells.total, r)))
        r = above


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


class CellFactors(NamedTuple):
    """A cell as a graph of m + 1 nodes, 0 for the root's tree and one for each free word, and its factors.

    words: (m+1,) the free words, from 1 on. first (m+1,), following (n+1,): the nodes of each tree as lists. A, S,
    across, W: as of `sample_trees`. To compute in: some, numbers (n+1,); places (3, m+1) and tree (m+1,), int64.
    """

    words: Any
    first: Any
    following: Any
    A: Any
    S: Any
    across: Any
    W: Any
    some: Any
    places: Any
    tree: Any


@kernel(allocates=True)
def factorise_cell(weights, root, fixed):
    """Return the `CellFactors` of the given root and heads (n+1,), FREE where not given, and whether no term was lost.

    weights: numbers (n+1, n+1), ``[head, dependent]``.
    """
    words, tops, following, nodes = np.empty_like(fixed), np.empty_like(fixed), np.empty_like(fixed), 1
    for u in range(1, fixed.shape[0]):
        if u != root and fixed[u] == FREE:
            words[nodes] = u
            nodes += 1
    words, first = words[:nodes], np.full(nodes, NONE)
    find_tops(root, fixed, words[1:], 1, 0, tops)
    for u in range(fixed.shape[0] - 1, -1, -1):
        if tops[u] != NONE:
            following[u] = first[tops[u]]
            first[tops[u]] = u
    A, across, W = new_square(weights, nodes), new_square(weights, nodes), new_square(weights, nodes)
    S, some, width = new(weights, nodes), new(weights, fixed.shape[0]), np.int64(WIDTH)
    workspace = view(new(weights, 3 * width * nodes), 0, 3 * width * nodes, (np.int64(3), width, nodes))
    gather_arcs(weights, words, tops, W)
    _, is_in_range = factorise(W, 1, A, S, workspace, False)
    transpose(A, across, nodes)
    places, tree = np.empty((3, nodes), np.int64), np.empty(nodes, np.int64)
    return CellFactors(words, first, following, A, S, across, W, some, places, tree), is_in_range


@kernel(allocates=True)
def new_square(like, nodes):
    return view(new(like, nodes * nodes), 0, nodes * nodes, (nodes, nodes))


@kernel
def draw_from(weights, root, fixed, cell, state, out):
    """Fill out (n,), int32, with a tree of a cell, `CellFactors`, given its root and heads as before."""
    sample_tree(cell.A, cell.S, cell.across, cell.W, False, state, cell.places, cell.tree)
    for u in range(1, fixed.shape[0]):
        out[u - 1] = 0 if u == root else fixed[u]
    for x in range(1, cell.words.shape[0]):
        word, h, heads, total = cell.words[x], cell.first[cell.tree[x]], 0, zero(cell.S)
        while h != NONE:
            put(cell.some, heads, get(row(weights, h), word))
            total = add(total, get(cell.some, heads))
            heads += 1
            h = cell.following[h]
        chosen = draw_categorical(cell.some, 0, heads, total, state) if heads > 1 else np.int64(0)
        h = cell.first[cell.tree[x]]
        for _ in range(chosen):
            h = cell.following[h]
        out[word - 1] = h


# Dividing cells of the partition tree along one of their trees: all head distributions on the way in O(m^3).


UNSOUND = -1


@kernel
def divide_cells(tree, weights, in_range, tables, probs):
    """Divide the cell that the draw has come to, then cancelled ones until no rounding shows in what is left of all.

    The draw goes on below its cell. tree: a `PartitionTree`; weights (n+1, n+1), probs (n+1,), to compute in: numbers
    of the kind of the cells, or wide ones; in_range, tables: as of `head_path.py`. Returns DONE; ROOM if there is not
    enough memory for cells; UNSOUND if weights have to be wide.
    """
    cells, cursor = tree.cells, tree.cursor
    while True:
        r, h = cursor[CELL], cursor[CHOICE]
        is_own = h != NONE
        if not is_own:
            r, h = next_cancelled(tree)
        if r == NONE:
            return DONE
        result = divide(tree, r, h, weights, in_range, tables, probs)
        if result != DONE:
            return result
        if is_own:
            cursor[CELL], cursor[CHOICE] = cells.below[r, h], NONE


@kernel
def next_cancelled(tree):
    """Return a cancelled cell to be divided, NONE if there is none."""
    if cancellation_matters(tree, tree.largest[0]):
        for place in range(tree.cursor[CANCELLED]):
            r, h = tree.cancelled[place, 0], tree.cancelled[place, 1]
            if tree.cells.below[r, h] == NONE and cancellation_matters(tree, log_prob_of(tree.cells, r, h)):
                return r, h
        forget_stale(tree)
    return np.int64(NONE), np.int64(NONE)


@kernel(allocates=True)
def divide(tree, r, h, weights, in_range, tables, probs):
    """Divide cell (r, h) along its most probable tree, as far as at least half of what it leads to was drawn.

    All other choices on the way become undivided cells. Arguments and result as of `divide_cells`.
    """
    cells, drawn = tree.cells, tree.drawn
    first_new = tree.cursor[USED]
    root, level = fix(tree, r, h), cells.level[r]
    words = tree.free[: tree.choices.shape[0] - 1 - level]
    if first_new + words.shape[0] > cells.above.shape[0]:
        return ROOM
    for x in range(words.shape[0]):
        words[x] = word_at(tree, root, level + 1 + x)
    likeliest = other = cells.newest[r, h]
    while other != NONE:
        if drawn.log_probs[other] > drawn.log_probs[likeliest]:
            likeliest = other
        other = tree.following[other]
    path = start_path(weights, root, tree.fixed, words, in_range, tables)
    for x in range(words.shape[0]):
        log_pivots = next_heads(path, weights, tables, tables, probs)
        if not path_in_range(weights, path, log_pivots, log_pivots):
            if x == 0:
                return UNSOUND
            break
        opened, other = open_cell(tree, r, h, probs), cells.newest[r, h]
        while other != NONE:  # the trees drawn from the cell, which is divided now, are handed over
            older = tree.following[other]
            record(tree, opened, choice_of(tree, drawn.heads[other], root, cells.level[opened]), other)
            other = older
        r, h = opened, np.int64(drawn.heads[likeliest, words[x] - 1])
        if cells.drawn[r, h] < 0.5:
            break
        set_head(path, h)
    for opened in range(tree.cursor[USED] - 1, first_new - 1, -1):
        refresh_each(tree, opened)
    pass_upwards(cells, tree.cursor[USED] - 1)
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
INSIDE, DIVIDE = 2, 3
FOUND = 4


@kernel
def begin(tree, top, count):
    """Open the cell of all trees, given that the first `count` trees were drawn; `divide_cells` has to come next.

    tree: a `PartitionTree` without a cell in use; top: numbers (n+1,), the distribution of the root.
    """
    open_cell(tree, NONE, NONE, top)
    for number in range(count):
        record(tree, TOP, choice_of(tree, tree.drawn.heads[number], TOP, TOP), number)
    refresh_each(tree, TOP)
    pass_upwards(tree.cells, TOP)


@kernel
def draw_by_walk(tree):
    """Go on drawing new trees by walks, until these do not do; return what the draw needs.

    tree: a `PartitionTree`, whose `drawn` is filled. It is DONE at k trees, at the total left that the thresholds name,
    or where float64 cannot tell what is left (log_left shows that). INSIDE asks for a tree of the cell that
    tree.choices and tree.fixed describe, in tree.row; after DIVIDE the draw goes on below that cell.
    """
    cells, cursor = tree.cells, tree.cursor
    while True:
        count = cursor[COUNT]
        if cursor[CELL] == NONE and is_done(tree.drawn, count, get(cells.total, 0)):
            return DONE
        if cursor[CHOICE] == NONE:
            cursor[CELL], cursor[CHOICE] = undivided_cell(cells, max(cursor[CELL], TOP), tree.drawn.state)
            if cursor[CELL] == NONE:
                continue
        needs, r, h = new_tree_of(tree), cursor[CELL], cursor[CHOICE]
        cursor[FROM_INSIDE] = 0
        if needs != FOUND:
            return needs
        record(tree, r, h, count)
        refresh(tree, r, h)
        pass_upwards(cells, r)
        cursor[COUNT], cursor[CELL], cursor[CHOICE] = count + 1, NONE, NONE
        if cancellation_matters(tree, tree.largest[0]):
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
def new_tree_of(tree):
    """Try to walk to a tree of the undivided cell at hand that was not drawn yet, and keep it.

    Returns FOUND, INSIDE or DIVIDE. The cycles that a walk pops are independent of its tree, so a walk that takes too
    long is given up and its tree drawn from the same cell by elimination. Giving up after repeats favours no tree
    either: the cell is divided then, and the draw goes on inside it.
    """
    cells, cursor = tree.cells, tree.cursor
    r, h = cursor[CELL], cursor[CHOICE]
    root, level = fix(tree, r, h), cells.level[r]
    free = tree.choices.shape[0] - 1 - level
    if free == 0:  # every choice is made: there is one tree
        for word in range(1, tree.row.shape[0] + 1):
            tree.row[word - 1] = 0 if word == root else tree.fixed[word]
        keep(tree.drawn, tree.row, cursor[COUNT])
        return FOUND
    if cursor[FROM_INSIDE]:
        if keep(tree.drawn, tree.row, cursor[COUNT]):
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
        if keep(tree.drawn, tree.row, cursor[COUNT]):
            return FOUND
        cells.spent[r, h] += budget - left
    return DIVIDE


@kernel(forceinline=True)
def pays_to_divide(tree, r, h, free):
    """Return whether repeats in the undivided cell (r, h) have cost what dividing it costs, or little is left of it."""
    cells = tree.cells
    if cells.newest[r, h] == NONE:
        return False
    patience = tree.drawn.repeats * (BASE + free * free * (FLAT + free / STEEP))
    return 1.0 - cells.drawn[r, h] < tree.drawn.least or cells.spent[r, h] >= patience
