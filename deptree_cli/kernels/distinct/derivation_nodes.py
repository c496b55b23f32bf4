"""A trie of projective trees that were drawn, by the choices that they are made by, and of what is left beside them.

A node is known where two of the trees go on together. Where one goes on *alone*, only that is noted, and what is left
beside it is summed over the places at which other trees leave it. So all that is left is a sum of positive numbers, and
the trie stays as small as what the trees share.

A node is a row of slots, one for each place where its item can be split; items that can be split at one place only have
no node. Slot 0 stands above the first node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.charts.walker import NONE, draw_split, part, places, push_parts, walk
from deptree_cli.kernels.distinct.derivation_path import SPLIT, fill_path, fill_rest
from deptree_cli.kernels.distinct.derivations import complement, first_item, item_at, share
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, get, is_less, is_positive, multiply, put, scale, zero
from deptree_cli.kernels.xoshiro import uniform

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
        path, other: (2n, 4), the choices of two trees (`derivation_path.py`).
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
