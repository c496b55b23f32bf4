"""Distinct projective trees, drawn along the choices of their derivations."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.cells import COUNT, DONE, ROOM, is_done, keep, sum_of_numbers
from deptree_cli.kernels.charts import BETWEEN, RIGHT
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.operations import (
    add,
    divide,
    get,
    is_less,
    is_negative,
    is_positive,
    logarithm,
    multiply,
    new,
    put,
    scale,
    subtract,
    zero,
)
from deptree_cli.kernels.walker import NONE, WIDTH, draw_split, part, places, push, push_parts, split, total, walk
from deptree_cli.kernels.xoshiro import uniform

# A projective tree as a sequence of choices: how the items of Eisner's chart are split, from the top down.
#
# That makes 2 n choices for a tree of n words, and every tree is made by one sequence only. A choice is the node k at
# which an item is split: there are this many even where an item can be split at one place only.
#
# The helpers are inlined: handing over arrays would take longer than what they do.


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
    return todo[place, 0], todo[place, 1], todo[place, 2]


@kernel(allocates=True)
def follow_choices(grammar, prefixes, uniforms, chosen, log_probs, heads):
    """Fill heads (b, n) with what the choices of prefixes (b, length) and as many as `uniforms` (m,) behind them make.

    Those behind are drawn by the uniform numbers: chosen (b, m), and log_probs (b, m, n+1) are the log-probabilities of
    all that there were, -inf where there is no such choice. Words that nothing was chosen for keep their heads.
    """
    before, n = prefixes.shape[1], heads.shape[1]
    todo = np.empty((2 * n + 2, WIDTH), np.int64)
    for b in range(heads.shape[0]):
        count = first_item(n, todo)
        for choice in range(before + uniforms.shape[0]):
            count -= 1
            item = item_at(todo, count)
            if choice < before:
                k = prefixes[b, choice]
            else:
                out = log_probs[b, choice - before]
                fill(out, -math.inf)
                first, stop, _ = places(grammar, item, 0)
                for k in range(first, stop):
                    x = share(grammar, item, k)
                    if is_positive(x):
                        out[k] = logarithm(x)
                k = draw_split(grammar, item, scale(total(grammar, item), uniforms[choice - before]))[1]
                chosen[b, choice - before] = k
            count = push_parts(grammar, item, 0, k, todo, count, heads[b])


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
        item = kind, i, j = item_at(todo, items)
        k, stop, _ = places(grammar, item, 0)
        if stop - k > 1:
            if kind == BETWEEN:
                k = first[j] - 1 if tree[j - 1] == i else last[i]
            else:
                head, k = (i, j) if kind == RIGHT else (j, i)
                while tree[k - 1] != head:
                    k = tree[k - 1]
            path[choices, 0], path[choices, 1], path[choices, 2] = item
            path[choices, SPLIT] = k
            choices += 1
        below, above, _, _ = split(grammar, item, 0, k)
        items = push(todo, push(todo, items, below), above)
    return choices


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


@kernel(forceinline=True)
def sum_of_others(grammar, item, but):
    """Return the sum of the parts of an item that is not split at the node `but`."""
    first, stop, at = places(grammar, item, 0)
    found = zero(grammar.chart)
    for k in range(first, stop):
        if k != but:
            found = add(found, part(grammar, at, k))
    return found


@kernel(forceinline=True)
def draw_other(grammar, item, but, rest):
    """Return the node, not `but`, at which the sum of the parts of an item first exceeds `rest`; see `draw_split`."""
    first, stop, at = places(grammar, item, 0)
    found = NONE
    for k in range(first, stop):
        x = part(grammar, at, k)
        if k != but and is_positive(x):
            found = k
            rest = subtract(rest, x)
            if is_negative(rest):
                break
    return found


@kernel
def fill_rest(grammar, path, depth, choices, rest):
    """Fill rest[depth:], numbers, with the probability of all trees but a path's given its choices before each.

    The sum of those that leave it at the next choice, and of those that leave it further on; 0 after the last.
    """
    put(rest, choices, zero(rest))
    for d in range(choices - 1, depth - 1, -1):
        item, k = item_at(path, d), path[d, SPLIT]
        along = multiply(part(grammar, places(grammar, item, 0)[2], k), get(rest, d + 1))
        put(rest, d, divide(add(sum_of_others(grammar, item, k), along), total(grammar, item)))


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


class Trie(NamedTuple):
    """The trie of a sentence's trees.

    grammar, drawn, left, below, cursor: as of `draw_from_trie`. To compute in: todo, stack, (2n+2, WIDTH), stacks of
    items; first, last, (n+1,), what a node and those below it extend to; path, other, (2n, 4), the choices of two
    trees; rest, other_rest, numbers (2n+1,), the probability of all other trees given the choices so far; slots,
    (2n+1,), those above the nodes of a path, and behind the last of them.
    """

    grammar: Any
    drawn: Any
    left: Any
    below: Any
    cursor: Any
    todo: Any
    stack: Any
    first: Any
    last: Any
    path: Any
    other: Any
    rest: Any
    other_rest: Any
    slots: Any


# Where drawing is: how many trees are in the trie; how many of its slots are in use; which tree Trie.other and
# Trie.other_rest are of, or NONE.
IN_TRIE, USED, KNOWN = range(1, 4)


@kernel
def draw_tree(trie, count):
    """Draw tree `count` from what is left.

    Where one tree goes on alone, it is left in proportion to the probability of all trees that leave it there.
    """
    grammar, todo, tree, state = trie.grammar, trie.todo, trie.drawn.heads[count], trie.drawn.state
    items = first_item(tree.shape[0], todo)
    slot, depth, is_left = TOP, 0, False
    while not is_left and trie.below[slot] != NONE:
        items -= 1
        item = item_at(todo, items)
        k, stop, at = places(grammar, item, 0)
        if stop - k > 1:
            node = trie.below[slot]
            if node >= 0:
                behind = node + stop - k
                slot = draw_categorical(trie.left, node, behind, sum_of_numbers(trie.left, node, behind), state)
                k, depth = k + slot - node, depth + 1
            else:
                load_path(trie, LEAF_BASE - node, depth)
                k, depth = trie.other[depth, SPLIT], depth + 1
                mass = sum_of_others(grammar, item, k)
                along = multiply(part(grammar, at, k), get(trie.other_rest, depth))
                is_left = not is_positive(along) or is_less(scale(add(mass, along), uniform(state)), mass)
                if is_left:
                    k = draw_other(grammar, item, k, scale(mass, uniform(state)))
        items = push_parts(grammar, item, 0, k, todo, items, tree)
    walk(grammar, state, todo, items, tree)


@kernel
def load_path(trie, tree, depth):
    """Fill trie.other with the path of a tree, and trie.other_rest behind this many choices, if they are not it."""
    if trie.cursor[KNOWN] != tree:
        choices = fill_path(trie.grammar, trie.drawn.heads[tree], trie.other, trie.stack, trie.first, trie.last)
        fill_rest(trie.grammar, trie.other, depth, choices, trie.other_rest)
        trie.cursor[KNOWN] = tree


@kernel
def insert(trie, tree):
    """Note that a tree was drawn.

    If only one went on like it so far, nodes are opened up to where the two make different choices.
    """
    grammar, path, slots, below = trie.grammar, trie.path, trie.slots, trie.below
    choices = fill_path(grammar, trie.drawn.heads[tree], path, trie.stack, trie.first, trie.last)
    slots[0], depth = TOP, 0
    while below[slots[depth]] >= 0:
        slots[depth + 1] = below[slots[depth]] + place_in(grammar, path, depth)
        depth += 1
    if below[slots[depth]] != NONE:
        other, together = LEAF_BASE - below[slots[depth]], True
        load_path(trie, other, depth)
        while together:
            item, node = item_at(path, depth), trie.cursor[USED]
            first, stop, _ = places(grammar, item, 0)
            for k in range(first, stop):
                put(trie.left, node + k - first, share(grammar, item, k))
                below[node + k - first] = NONE
            trie.cursor[USED] += stop - first
            below[slots[depth]], slots[depth + 1] = node, node + place_in(grammar, path, depth)
            together = path[depth, SPLIT] == trie.other[depth, SPLIT]
            depth += 1
        beside = slots[depth] + trie.other[depth - 1, SPLIT] - path[depth - 1, SPLIT]
        below[beside] = LEAF_BASE - other
        put_left(trie, beside, trie.other, depth, get(trie.other_rest, depth))
    fill_rest(grammar, path, depth, choices, trie.rest)
    below[slots[depth]] = LEAF_BASE - tree
    put_left(trie, slots[depth], path, depth, get(trie.rest, depth))
    while depth > 0:
        depth -= 1
        first, stop, _ = places(grammar, item_at(path, depth), 0)
        node = below[slots[depth]]
        put_left(trie, slots[depth], path, depth, sum_of_numbers(trie.left, node, node + stop - first))


@kernel(forceinline=True)
def place_in(grammar, path, depth):
    """Return which of its item's places a choice of a path is, counted from 0."""
    return path[depth, SPLIT] - places(grammar, item_at(path, depth), 0)[0]


@kernel(forceinline=True)
def put_left(trie, slot, path, depth, left):
    """Note how much is left behind a slot given the choices so far; depth: how many choices lead to it."""
    if depth > 0:
        left = multiply(left, share(trie.grammar, item_at(path, depth - 1), path[depth - 1, SPLIT]))
    put(trie.left, slot, left)


# Distinct projective trees, in the order in which drawing with replacement would first meet them.
#
# Drawing with replacement and dropping repeats gives that order, and is quick until repeats pile up. From then on trees
# come from what is left behind the choices that trees are made by. When that begins depends on past draws only, so the
# order is exact.


# What drawing with replacement comes back for beside what all do: the trie.
TRIE = 2


@kernel(allocates=True)
def draw_with_replacement(grammar, drawn, cursor):
    """Go on drawing with replacement, dropping repeats; return what the draw needs: DONE or TRIE.

    The trie comes in once there were `drawn.repeats` repeats for every tree and one, or the probabilities drawn leave
    too little.
    """
    heads, covered, repeated = drawn.heads, 0.0, 0
    todo = np.empty((2 * heads.shape[1] + 2, WIDTH), np.int64)
    while True:
        count, left = cursor[COUNT], 1.0 - covered
        if left < drawn.least:
            return TRIE
        if is_done(drawn, count, left):
            return DONE
        if repeated >= drawn.repeats * (count + 1):
            return TRIE
        walk(grammar, drawn.state, todo, first_item(heads.shape[1], todo), heads[count])
        if keep(drawn, heads[count], count):
            covered += math.exp(drawn.log_probs[count])
            cursor[COUNT] += 1
        else:
            repeated += 1


@kernel(allocates=True)
def draw_from_trie(grammar, drawn, left, below, cursor):
    """Go on drawing from a trie; return what the draw needs: DONE, or ROOM for more slots.

    grammar: `EisnerGrammar`, of float64 or wide numbers; drawn: `TreesSoFar`. left: numbers (slots,), the
    probability of what was not drawn behind a slot, given that its node was reached. below: (slots,) int64, what is
    known behind it: NONE, a tree, or a node.
    """
    n = drawn.heads.shape[1]
    todo, stack = np.empty((2 * n + 2, WIDTH), np.int64), np.empty((2 * n + 2, WIDTH), np.int64)
    first, last, slots = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), np.empty(2 * n + 1, np.int64)
    path, other = np.empty((2 * n, 4), np.int64), np.empty((2 * n, 4), np.int64)
    rest, other_rest = new(left, 2 * n + 1), new(left, 2 * n + 1)
    trie = Trie(grammar, drawn, left, below, cursor, todo, stack, first, last, path, other, rest, other_rest, slots)
    cursor[KNOWN] = NONE
    while True:
        count, in_trie = cursor[COUNT], cursor[IN_TRIE]
        if cursor[USED] + n * (n + 1) > below.shape[0]:  # no tree's items have more places to be split at
            return ROOM
        if in_trie < count:
            insert(trie, in_trie)
            cursor[IN_TRIE] += 1
        elif is_done(drawn, count, get(left, TOP)):
            return DONE
        else:
            draw_tree(trie, count)
            cursor[COUNT] += 1
