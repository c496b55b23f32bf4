"""Distinct projective trees, drawn along the choices of their derivations."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels import walker
from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.cells import place_of
from deptree_cli.kernels.charts import BETWEEN, RIGHT, Eisner
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.operations import (
    add,
    as_float,
    divide,
    get,
    is_less,
    is_positive,
    length,
    logarithm,
    multiply,
    put,
    scale,
    zero,
)
from deptree_cli.kernels.walker import NONE, WIDTH, draw_split, part, places, push, push_parts, rows, split, total, walk
from deptree_cli.kernels.xoshiro import uniform

# A projective tree as a sequence of choices: how the items of Eisner's chart are split, from the top down.
#
# That makes 2 n choices for a tree of n words, and every tree is made by one sequence only. A choice is the node k at
# which an item is split: there are so many even where an item can be split at one place only.


class Complement(NamedTuple):
    """The grammar `Eisner` less the derivations that split an item at the node `but`: one row before it, one behind.

    The fields of that grammar come first.
    """

    single_root: Any
    chart: Any
    but: Any


@walker.rows.register(Complement)
def _rows(grammar, item):
    return 2


@walker.places.register(Complement)
def _places(grammar, item, row):
    first, stop, at = places(Eisner(grammar.single_root, grammar.chart), item, 0)
    return (first, grammar.but, at) if row == 0 else (grammar.but + 1, stop, at)


@walker.part.register(Complement)
def _part(grammar, at, place):
    return part(Eisner(grammar.single_root, grammar.chart), at, place)


# The helpers are inlined: handing over arrays would take longer than what they do.


@kernel(forceinline=True, allocates=True)
def complement(grammar, item, k):
    """Return the grammar without the derivations that split an item at k, and the sum of the item's parts in it."""
    rest, found = Complement(grammar.single_root, grammar.chart, k), zero(grammar.chart)
    for row in range(rows(rest, item)):
        first, stop, at = places(rest, item, row)
        for place in range(first, stop):
            found = add(found, part(rest, at, place))
    return rest, found


@kernel(forceinline=True)
def share(grammar, item, k):
    """Return the probability that an item is split at k."""
    return divide(part(grammar, places(grammar, item, 0)[2], k), total(grammar, item))


@kernel(forceinline=True)
def first_item(n, todo):
    """Begin a stack with the item of all trees; return how many items there are."""
    return push(todo, 0, (RIGHT, 0, n))


@kernel(forceinline=True)
def item_at(todo, place):
    """Return an item on a stack."""
    return todo[place, 0], todo[place, 1], todo[place, 2]


@kernel
def follow_choices(grammar, choices, todo, heads):
    """Split items from the top by the first choices of a tree, (length,); return how many items are still on the stack.

    Their arcs are put into heads (n,).
    """
    count = first_item(heads.shape[0], todo)
    for k in choices:
        count -= 1
        count = push_parts(grammar, item_at(todo, count), 0, k, todo, count, heads)
    return count


@kernel
def fill_log_shares(grammar, item, out):
    """Fill out (n+1,) with the log-probability of each split of an item, -inf where there is none."""
    fill(out, -math.inf)
    first, stop, _ = places(grammar, item, 0)
    for k in range(first, stop):
        x = share(grammar, item, k)
        if is_positive(x):
            out[k] = logarithm(x)


@kernel(allocates=True)
def log_choice_probs_of_each(grammar, prefixes, out):
    """Fill out (b, n+1) with the log-probabilities of the choice that comes after each prefix (b, length)."""
    n = out.shape[1] - 1
    todo, heads = np.empty((2 * n + 2, WIDTH), np.int64), np.empty(n, np.int32)
    for b in range(prefixes.shape[0]):
        count = follow_choices(grammar, prefixes[b], todo, heads)
        fill_log_shares(grammar, item_at(todo, count - 1), out[b])


@kernel(allocates=True)
def log_choice_probs_along(grammar, prefix, uniforms, chosen, out):
    """Draw all choices after a prefix, chosen (m,), by uniform numbers (m,), and fill out (m, n+1) as above."""
    n = out.shape[1] - 1
    todo, heads = np.empty((2 * n + 2, WIDTH), np.int64), np.empty(n, np.int32)
    count = follow_choices(grammar, prefix, todo, heads)
    for choice in range(chosen.shape[0]):
        count -= 1
        item = item_at(todo, count)
        fill_log_shares(grammar, item, out[choice])
        k = draw_split(grammar, item, scale(total(grammar, item), uniforms[choice]))[1]
        chosen[choice] = k
        count = push_parts(grammar, item, 0, k, todo, count, heads)


@kernel(allocates=True)
def heads_of_each(grammar, sequences, heads):
    """Fill heads (b, n) with the trees of sequences of all choices, (b, 2n)."""
    todo = np.empty((2 * heads.shape[1] + 2, WIDTH), np.int64)
    for b in range(heads.shape[0]):
        follow_choices(grammar, sequences[b], todo, heads[b])


# Which choices a given projective tree is made by, and how probable it is to leave them.


SPLIT = 3  # where in a row of a path, behind the item, it stands at which node the item is split


@kernel
def fill_path(grammar, tree, path, todo, first, last):
    """Fill a path (2n, 4) with the choices of a tree (n,) between several places; return how many there are.

    A choice is an item (kind, i, j) and the node at which it is split. todo: (2n+2, WIDTH), a stack; first, last:
    (n+1,), memory for `fill_extents`.
    """
    fill_extents(tree, first, last)
    items, choices = first_item(tree.shape[0], todo), 0
    while items > 0:
        items -= 1
        item = item_at(todo, items)
        k, stop, _ = places(grammar, item, 0)
        if stop - k > 1:
            k = split_in(tree, item, first, last)
            path[choices, 0], path[choices, 1], path[choices, 2] = item
            path[choices, SPLIT] = k
            choices += 1
        below, above, _, _ = split(grammar, item, 0, k)
        items = push(todo, push(todo, items, below), above)
    return choices


@kernel(forceinline=True)
def split_in(tree, item, first, last):
    """Return where a tree (n,) splits an item; first, last: as `fill_extents` fills them."""
    kind, i, j = item
    if kind == BETWEEN:
        return first[j] - 1 if tree[j - 1] == i else last[i]
    head, k = (i, j) if kind == RIGHT else (j, i)
    while tree[k - 1] != head:
        k = tree[k - 1]
    return k


@kernel
def fill_extents(tree, first, last):
    """Fill first and last (n+1,) with the first and last of the words that are below each node of a tree, or itself."""
    for node in range(tree.shape[0] + 1):
        first[node] = last[node] = node
    for word in range(1, tree.shape[0] + 1):
        node = word
        while node != 0:
            node = tree[node - 1]
            if first[node] <= word <= last[node]:
                break
            first[node], last[node] = min(first[node], word), max(last[node], word)


@kernel(allocates=True)
def fill_rest(grammar, path, depth, choices, rest):
    """Fill rest[depth:], numbers, with the probability of all trees but a path's given its choices before each.

    The sum of those that leave it at the next choice, and of those that leave it further on; 0 after the last.
    """
    put(rest, choices, zero(rest))
    for d in range(choices - 1, depth - 1, -1):
        item, k = item_at(path, d), path[d, SPLIT]
        along = multiply(part(grammar, places(grammar, item, 0)[2], k), get(rest, d + 1))
        put(rest, d, divide(add(complement(grammar, item, k)[1], along), total(grammar, item)))


# A trie of projective trees that were drawn, by the choices that they are made by, and of what is left beside them.
#
# A node is known where two of the trees go on together. Where one goes on *alone*, only that is noted, and what is
# left beside it is summed over the places at which other trees leave it. So all that is left is a sum of positive
# numbers, and the trie stays as small as what the trees share.
#
# A node is a row of slots, one for each place where its item can be split; items that can be split at one place only
# have no node. Slot 0 stands above the first node.


# What is below a slot, if neither NONE nor the first slot of a node: LEAF_BASE - t for tree t.
LEAF_BASE = -2

# The slot above the first node. It has a type, as numba would compile everything once more for a literal 0.
TOP = np.int64(0)


class DerivationProblem(NamedTuple):
    """A sentence's distribution: its grammar `Eisner`, the logarithms of the weights in it, and that of its total."""

    grammar: Any
    log_weights: Any
    log_z: float


class Trie(NamedTuple):
    """Memory for the trie.

    Attributes:
        used: (1,), how many slots are in use.
        left: numbers (slots,), the probability of what was not drawn behind a slot, given that its node was reached.
        below: (slots,) int64, what is known behind it: NONE, a tree, or a node.
    """

    used: Any
    left: Any
    below: Any


class DerivationWorkspace(NamedTuple):
    """Arrays to compute in.

    Attributes:
        todo, stack: (2n+2, WIDTH), stacks of items.
        first, last: (n+1,), what a node and those below it extend to.
        path, other: (2n, 4), the choices of two trees.
        rest, other_rest: numbers (2n+1,), the probability of all other trees given the choices so far.
        slots: (2n+1,), the slots above the nodes of a path, and behind the last of them.
        known: (1,), which tree `other` and `other_rest` are of, or NONE.
    """

    todo: Any
    stack: Any
    first: Any
    last: Any
    path: Any
    other: Any
    rest: Any
    other_rest: Any
    slots: Any
    known: Any


@kernel
def draw_tree(problem, trie, heads, count, state, work):
    """Draw heads[count] from what is left."""
    todo, tree, grammar = work.todo, heads[count], problem.grammar
    items = first_item(heads.shape[1], todo)
    slot, depth = TOP, 0
    while trie.below[slot] >= 0:
        items -= 1
        item = item_at(todo, items)
        k, stop, _ = places(grammar, item, 0)
        if stop - k > 1:
            node = trie.below[slot]
            behind = node + stop - k
            slot = draw_categorical(trie.left, node, behind, left_in(trie, node, behind), state)
            k, depth = k + slot - node, depth + 1
        items = push_parts(grammar, item, 0, k, todo, items, tree)
    if trie.below[slot] != NONE:
        load_path(problem, heads, LEAF_BASE - trie.below[slot], depth, work)
        items = leave(problem, depth, items, tree, state, work)
    walk(grammar, state, todo, items, tree)


@kernel(allocates=True)
def leave(problem, depth, items, tree, state, work):
    """Go on along the tree of work.other behind so many choices, and leave it at some choice.

    It is left in proportion to the probability of all trees that leave it there. Returns how many items are still to be
    split.
    """
    grammar, todo, path, rest = problem.grammar, work.todo, work.other, work.other_rest
    while True:
        items -= 1
        item, left = item_at(todo, items), False
        k, stop, at = places(grammar, item, 0)
        if stop - k > 1:
            k, depth = path[depth, SPLIT], depth + 1
            away, mass = complement(grammar, item, k)
            along = multiply(part(grammar, at, k), get(rest, depth))
            left = not is_positive(along) or is_less(scale(add(mass, along), uniform(state)), mass)
            if left:
                k = draw_split(away, item, scale(mass, uniform(state)))[1]
        items = push_parts(grammar, item, 0, k, todo, items, tree)
        if left:
            return items


@kernel
def load_path(problem, heads, tree, depth, work):
    """Fill work.other with the path of heads[tree], and work.other_rest behind so many choices, if they are not it."""
    if work.known[0] != tree:
        choices = fill_path(problem.grammar, heads[tree], work.other, work.stack, work.first, work.last)
        fill_rest(problem.grammar, work.other, depth, choices, work.other_rest)
        work.known[0] = tree


@kernel
def insert(problem, trie, heads, tree, work):
    """Note that heads[tree] was drawn."""
    path, slots = work.path, work.slots
    choices = fill_path(problem.grammar, heads[tree], path, work.stack, work.first, work.last)
    slots[0], depth = TOP, 0
    while trie.below[slots[depth]] >= 0:
        slots[depth + 1] = trie.below[slots[depth]] + place_in(problem, path, depth)
        depth += 1
    if trie.below[slots[depth]] != NONE:
        depth = split_shared_prefix(problem, trie, heads, LEAF_BASE - trie.below[slots[depth]], depth, work)
    fill_rest(problem.grammar, path, depth, choices, work.rest)
    put_alone(problem, trie, slots[depth], path, depth, work.rest, tree)
    while depth > 0:
        depth -= 1
        first, stop, _ = places(problem.grammar, item_at(path, depth), 0)
        node = trie.below[slots[depth]]
        put_left(problem, trie, slots[depth], path, depth, left_in(trie, node, node + stop - first))


@kernel
def split_shared_prefix(problem, trie, heads, other, depth, work):
    """Open nodes behind so many choices, up to where heads[other] and the tree of work.path make different ones.

    Returns how many choices work.slots is filled for then.
    """
    path, slots = work.path, work.slots
    load_path(problem, heads, other, depth, work)
    together = True
    while together:
        slots[depth + 1] = open_node(problem, trie, slots[depth], item_at(path, depth)) + place_in(problem, path, depth)
        together = path[depth, SPLIT] == work.other[depth, SPLIT]
        depth += 1
    beside = slots[depth] + work.other[depth - 1, SPLIT] - path[depth - 1, SPLIT]
    put_alone(problem, trie, beside, work.other, depth, work.other_rest, other)
    return depth


@kernel(forceinline=True)
def place_in(problem, path, depth):
    """Return which of its item's places a choice of a path is, counted from 0."""
    return path[depth, SPLIT] - places(problem.grammar, item_at(path, depth), 0)[0]


@kernel(forceinline=True)
def left_in(trie, start, stop):
    """Return what is left behind the slots start..stop-1, all together."""
    total = zero(trie.left)
    for slot in range(start, stop):
        total = add(total, get(trie.left, slot))
    return total


@kernel(forceinline=True)
def open_node(problem, trie, slot, item):
    """Add an item's node below a slot; return its first slot."""
    first, stop, _ = places(problem.grammar, item, 0)
    node = trie.used[0]
    for k in range(first, stop):
        put(trie.left, node + k - first, share(problem.grammar, item, k))
        trie.below[node + k - first] = NONE
    trie.used[0] += stop - first
    trie.below[slot] = node
    return node


@kernel(forceinline=True)
def put_alone(problem, trie, slot, path, depth, rest, tree):
    """Note a tree as the only one drawn behind a slot."""
    trie.below[slot] = LEAF_BASE - tree
    put_left(problem, trie, slot, path, depth, get(rest, depth))


@kernel(forceinline=True)
def put_left(problem, trie, slot, path, depth, left):
    """Note how much is left behind a slot given the choices so far; depth: how many choices lead to it."""
    if depth > 0:
        d = depth - 1
        left = multiply(left, share(problem.grammar, item_at(path, d), path[d, SPLIT]))
    put(trie.left, slot, left)


# Distinct projective trees, in the order in which drawing with replacement would first meet them.
#
# Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up. From then on trees
# come from what is left behind the choices that trees are made by. When that begins depends on past draws only, so the
# order is exact.


# What a kernel comes back for: nothing more to draw, a larger set of trees, the trie, more slots.
DONE, SET, TRIE, SLOTS = range(4)


class Cursor(NamedTuple):
    """Where drawing is.

    needs: DONE, SET, TRIE or SLOTS. n_drawn: how many trees there are; repeats: how many draws were repeats;
    in_trie: how many of the trees are in the trie.
    """

    needs: int
    n_drawn: int
    repeats: int
    in_trie: int


class DerivationRules(NamedTuple):
    """The thresholds.

    Attributes:
        repeats: the trie comes in once there were so many repeats for every tree and one.
        least: one minus the probabilities drawn is not sound below this.
        stop: the probability left at which to stop.
        lowest: the logarithm of the probability left down to which the chart's numbers are sound.
    """

    repeats: float
    least: float
    stop: float
    lowest: float


@kernel
def draw_new(problem, rules, state, heads, log_left, seen, cursor, todo):
    """Go on filling heads (k, n) and log_left (k+1,) with replacement; return a cursor that needs DONE, SET or TRIE.

    seen: a set of the trees drawn (`cells.py`). log_left is the logarithm of the mass left before each tree, and
    after the last.
    """
    _, count, repeats, in_trie = cursor
    covered = 0.0
    for tree in range(count):
        covered += probability_of(problem, heads[tree])
    while True:
        left = 1.0 - covered
        if left < rules.least:
            return Cursor(TRIE, count, repeats, in_trie)
        log_left[count] = math.log(left)
        if count == heads.shape[0] or left < rules.stop:
            return Cursor(DONE, count, repeats, in_trie)
        if repeats >= rules.repeats * (count + 1):
            return Cursor(TRIE, count, repeats, in_trie)
        if 2 * count >= seen.shape[0]:
            return Cursor(SET, count, repeats, in_trie)
        walk(problem.grammar, state, todo, first_item(heads.shape[1], todo), heads[count])
        place = place_of(heads, heads[count], seen)
        if seen[place] == NONE:
            seen[place] = count
            covered += probability_of(problem, heads[count])
            count += 1
        else:
            repeats += 1


@kernel
def probability_of(problem, tree):
    """Return the probability of a tree (n,)."""
    log_prob = -problem.log_z
    for word in range(1, tree.shape[0] + 1):
        log_prob += problem.log_weights[tree[word - 1], word]
    return math.exp(log_prob)


@kernel
def draw_rest(problem, rules, state, heads, log_left, trie, cursor, work):
    """Go on filling heads and log_left from a trie; return a cursor that needs DONE or SLOTS.

    It is done at k trees, at the mass left that the rules name, or where the numbers are no longer sound (log_left
    shows that).
    """
    _, count, repeats, in_trie = cursor
    n, size = heads.shape[1], heads.shape[0]
    while True:
        if trie.used[0] + n * (n + 1) > length(trie.left):  # no tree's items have more places to be split at
            return Cursor(SLOTS, count, repeats, in_trie)
        if in_trie < count:
            insert(problem, trie, heads, in_trie, work)
            in_trie += 1
            continue
        total = get(trie.left, TOP)
        log_left[count] = logarithm(total) if is_positive(total) else -math.inf
        if not is_positive(total) or log_left[count] < rules.lowest or count == size or as_float(total) < rules.stop:
            return Cursor(DONE, count, repeats, in_trie)
        draw_tree(problem, trie, heads, count, state, work)
        count += 1
