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
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, get, is_less, is_positive, multiply, put, scale, zero
from deptree_cli.kernels.trees.derivation_path import PLACE, SPLIT, fill_path, fill_rest
from deptree_cli.kernels.trees.derivations import NONE, all_but, draw_split, product, share
from deptree_cli.kernels.trees.eisner_sampler import split_items
from deptree_cli.kernels.trees.items import all_items, attach, split, splits_of
from deptree_cli.kernels.xoshiro import uniform

# What is below a slot, if neither NONE nor the first slot of a node: ALONE - t for tree t.
ALONE = -2

# The slot above the first node. It has a type, as numba would compile everything once more for a literal 0.
TOP = np.int64(0)


class Problem(NamedTuple):
    """A sentence's distribution: its `Chart` and `Sums`, the logarithms of the weights in it, and that of its total."""

    single_root: bool
    chart: Any
    sums: Any
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


class Workspace(NamedTuple):
    """Arrays to compute in.

    Attributes:
        todo, stack: (2n+2, 3), stacks of items.
        first, last: (n+1,), what a node and those below it extend to.
        path, other: (2n, 5), the choices of two trees (`derivation_path.py`).
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
    todo, tree, single_root = work.todo, heads[count], problem.single_root
    items = all_items(heads.shape[1], todo)
    slot, depth = TOP, 0
    while trie.below[slot] >= 0:
        items -= 1
        item, i, j = todo[items, 0], todo[items, 1], todo[items, 2]
        start, stop = splits_of(single_root, item, i, j)
        choice = 0
        if stop - start > 1:
            node = trie.below[slot]
            behind = node + stop - start
            slot = draw_categorical(trie.left, node, behind, left_in(trie, node, behind), state)
            choice = slot - node
            depth += 1
        attach(tree, item, i, j, start + choice)
        items = split(todo, items, item, i, j, start + choice)
    if trie.below[slot] != NONE:
        know(problem, heads, ALONE - trie.below[slot], depth, work)
        items = leave(problem, depth, items, tree, state, work)
    split_items(problem.chart, single_root, todo, items, state, tree)


@kernel
def leave(problem, depth, items, tree, state, work):
    """Go on along the tree of work.other behind so many choices, and leave it at some choice.

    It is left in proportion to the probability of all trees that leave it there. Returns how many items are still to be
    split.
    """
    sums, single_root = problem.sums, problem.single_root
    todo, path, rest = work.todo, work.other, work.other_rest
    while True:
        items -= 1
        item, i, j = todo[items, 0], todo[items, 1], todo[items, 2]
        start, stop = splits_of(single_root, item, i, j)
        k, left = start, False
        if stop - start > 1:
            k, depth = path[depth, SPLIT], depth + 1
            away = all_but(sums, item, i, j, start, k, stop)
            along = multiply(product(sums, item, i, j, k), get(rest, depth))
            left = not is_positive(along) or is_less(scale(add(away, along), uniform(state)), away)
            if left:
                k = draw_split(sums, item, i, j, start, k, stop, away, uniform(state))
        attach(tree, item, i, j, k)
        items = split(todo, items, item, i, j, k)
        if left:
            return items


@kernel
def know(problem, heads, tree, depth, work):
    """Fill work.other with the path of heads[tree], and work.other_rest behind so many choices, if they are not it."""
    if work.known[0] != tree:
        choices = fill_path(problem.single_root, heads[tree], work.other, work.stack, work.first, work.last)
        fill_rest(problem.sums, problem.single_root, work.other, depth, choices, work.other_rest)
        work.known[0] = tree


@kernel
def insert(problem, trie, heads, tree, work):
    """Note that heads[tree] was drawn."""
    path, slots = work.path, work.slots
    choices = fill_path(problem.single_root, heads[tree], path, work.stack, work.first, work.last)
    slots[0], depth = TOP, 0
    while trie.below[slots[depth]] >= 0:
        slots[depth + 1] = trie.below[slots[depth]] + path[depth, PLACE]
        depth += 1
    if trie.below[slots[depth]] != NONE:
        depth = part_ways(problem, trie, heads, ALONE - trie.below[slots[depth]], depth, work)
    fill_rest(problem.sums, problem.single_root, path, depth, choices, work.rest)
    put_alone(problem, trie, slots[depth], path, depth, work.rest, tree)
    while depth > 0:
        depth -= 1
        start, stop = splits_of(problem.single_root, path[depth, 0], path[depth, 1], path[depth, 2])
        node = trie.below[slots[depth]]
        put_left(problem, trie, slots[depth], path, depth, left_in(trie, node, node + stop - start))


@kernel
def part_ways(problem, trie, heads, other, depth, work):
    """Open nodes behind so many choices, up to where heads[other] and the tree of work.path make different ones.

    Returns how many choices work.slots is filled for then.
    """
    path, slots = work.path, work.slots
    know(problem, heads, other, depth, work)
    together = True
    while together:
        node = open_node(problem, trie, slots[depth], path[depth, 0], path[depth, 1], path[depth, 2])
        slots[depth + 1] = node + path[depth, PLACE]
        together = path[depth, PLACE] == work.other[depth, PLACE]
        depth += 1
    beside = slots[depth] + work.other[depth - 1, PLACE] - path[depth - 1, PLACE]
    put_alone(problem, trie, beside, work.other, depth, work.other_rest, other)
    return depth


@kernel(forceinline=True)
def left_in(trie, start, stop):
    """Return what is left behind the slots start..stop-1, all together."""
    total = zero(trie.left)
    for slot in range(start, stop):
        total = add(total, get(trie.left, slot))
    return total


@kernel(forceinline=True)
def open_node(problem, trie, slot, item, i, j):
    """Add an item's node below a slot; return its first slot."""
    start, stop = splits_of(problem.single_root, item, i, j)
    node = trie.used[0]
    for k in range(start, stop):
        put(trie.left, node + k - start, share(problem.sums, item, i, j, k))
        trie.below[node + k - start] = NONE
    trie.used[0] += stop - start
    trie.below[slot] = node
    return node


@kernel(forceinline=True)
def put_alone(problem, trie, slot, path, depth, rest, tree):
    """Note a tree as the only one drawn behind a slot."""
    trie.below[slot] = ALONE - tree
    put_left(problem, trie, slot, path, depth, get(rest, depth))


@kernel(forceinline=True)
def put_left(problem, trie, slot, path, depth, left):
    """Note how much is left behind a slot given the choices so far; depth: how many choices lead to it."""
    if depth > 0:
        d = depth - 1
        left = multiply(left, share(problem.sums, path[d, 0], path[d, 1], path[d, 2], path[d, SPLIT]))
    put(trie.left, slot, left)
