"""The best projective trees in order, lazily from Eisner's chart (Huang and Chiang 2005, algorithm 3).

Every item of the chart has its derivations, best first, as a list that grows on demand: the first is known from the
chart, and behind each one stand its two neighbours, which put the next derivation of a part in the place of one. What
might come next waits in a heap of its own for every item. A tree has one derivation, so none is repeated.

A derivation is a number: below 3 (n+1)^2 that of an item, whose best it is, then in the order made.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.charts.eisner import BETWEEN, LEFT, RIGHT, nodes_between, split_at
from deptree_cli.kernels.charts.projective_trees import best_items
from deptree_cli.kernels.charts.walker import NONE, best_split, total
from deptree_cli.kernels.flags import kernel

# What is still to be done behind the last derivation of an item: all its splits wait to be seen; a neighbour has to be
# made by its second part, by its first part; nothing.
SPLITS, SECOND, FIRST, NOTHING = 3, 2, 1, 0


class Derivations(NamedTuple):
    """Derivations and those that wait to become one; arrays with room for more.

    Attributes:
        score: the sum of its arcs' scores.
        item: which it is of.
        split: where its item is split.
        parts: (capacity, 2), the derivations that it is made of.
        following: the next best one of its item, NONE while unknown.
        below: (capacity, 2), what is below it in the heap where it waits.
    """

    score: Any
    item: Any
    split: Any
    parts: Any
    following: Any
    below: Any


class Agenda(NamedTuple):
    """What there is for every item.

    Attributes:
        last: its last derivation.
        waiting: the top of its heap, NONE where that is empty.
        to_do: one of the constants above.
        complete: whether it has no further derivations.
    """

    last: Any
    waiting: Any
    to_do: Any
    complete: Any


@kernel(allocates=True)
def best_projective_trees(scores, single_root, size):
    """Return the best trees of scores (n+1, n+1), ``[head, dependent]``, best first: heads (k, n), k <= size."""
    n = scores.shape[0] - 1
    derivations, agenda = first_derivations(best_items(scores, single_root), n + 1)
    used = derivations.score.shape[0]
    top = number_of((RIGHT, 0, n), n + 1)
    heads = np.empty((16, n), np.int32)
    todo, wanted = np.empty(2 * n + 2, np.int64), np.empty(2 * n + 2, np.int64)
    count, derivation = 0, top if derivations.score[top] > -math.inf else NONE
    while count < size and derivation != NONE:
        if count == heads.shape[0]:
            heads = enlarged(heads)
        fill_heads(derivations, derivation, todo, heads[count])
        count += 1
        if count < size:
            derivations, used = extend(scores, single_root, derivations, agenda, used, top, wanted)
            derivation = derivations.following[derivation]
    return heads[:count]


@kernel(allocates=True)
def first_derivations(grammar, nodes):
    """Return the best derivation of every item of a chart of tropical numbers, and an agenda."""
    items = 3 * nodes * nodes
    score, split, parts = np.zeros(items), np.full(items, NONE), np.full((items, 2), NONE)
    for i in range(nodes):
        for j in range(i + 1, nodes):
            for kind in (RIGHT, LEFT, BETWEEN):
                item = kind, i, j
                number = number_of(item, nodes)
                score[number], split[number] = total(grammar, item).log, best_split(grammar, item)[1]
                if split[number] != NONE:
                    parts[number, 0], parts[number, 1] = parts_of(number, split[number], nodes)
    derivations = Derivations(score, np.arange(items), split, parts, np.full(items, NONE), np.full((items, 2), NONE))
    complete = split == NONE  # a single node, or nothing possible
    return derivations, Agenda(np.arange(items), np.full(items, NONE), np.full(items, SPLITS), complete)


@kernel
def number_of(item, nodes):
    """Return the number of an item."""
    kind, i, j = item
    return (kind * nodes + i) * nodes + j


@kernel
def item_of(number, nodes):
    """Return the item of a number."""
    return number // (nodes * nodes), number // nodes % nodes, number % nodes


@kernel
def parts_of(number, k, nodes):
    """Return the numbers of the two items that an item split at k consists of."""
    kind, i, j = item_of(number, nodes)
    first, second, _, _ = split_at(kind, i, j, k)
    first, second = (second, first) if kind == RIGHT else (first, second)  # from left to right
    return number_of(first, nodes), number_of(second, nodes)


@kernel
def arc_score(scores, item, k):
    """Return the score of the arc that an item split at k has between its parts, 0 for none."""
    nodes = scores.shape[0]
    kind, i, j = item_of(item, nodes)
    if kind == BETWEEN:
        return 0.0
    return scores[i if kind == RIGHT else j, k]


@kernel(allocates=True)
def extend(scores, single_root, derivations, agenda, used, top, wanted):
    """Find the next derivation of the item `top`, if there is one; return all derivations and their number.

    wanted: memory for the items that wait for each other, each below the one before: (2n+2,).
    """
    nodes = scores.shape[0]
    wanted[0], depth, target = top, 1, agenda.last[top]
    while not agenda.complete[top] and agenda.last[top] == target:
        item = wanted[depth - 1]
        last, to_do = agenda.last[item], agenda.to_do[item]
        if used + nodes + 2 > derivations.score.shape[0]:
            derivations = with_room(derivations)
        if to_do == SPLITS:
            used = add_splits(scores, single_root, derivations, agenda, used, item)
            agenda.to_do[item] = SECOND
        elif to_do == NOTHING:
            take_best(derivations, agenda, item)
            depth = max(depth - 1, 1)
        else:
            # Of two ways to the same pair of parts only one is taken: the first part goes on beside any second one,
            # the second one beside the best first one only.
            side = to_do - 1
            part, other = derivations.parts[last, side], derivations.parts[last, 1 - side]
            if side == 1 and other != derivations.item[other]:
                agenda.to_do[item] = FIRST
            elif derivations.following[part] == NONE and not agenda.complete[derivations.item[part]]:
                wanted[depth], depth = derivations.item[part], depth + 1
            else:
                agenda.to_do[item] = to_do - 1
                if derivations.following[part] != NONE:
                    k, following = derivations.split[last], derivations.following[part]
                    first, second = (following, other) if side == 0 else (other, following)
                    used = add_candidate(scores, derivations, agenda, used, item, k, first, second)
    return derivations, used


@kernel
def add_splits(scores, single_root, derivations, agenda, used, item):
    """Put the best derivation of every other split of an item in its heap; return the number of derivations."""
    nodes = scores.shape[0]
    first_node, stop = nodes_between(single_root, *item_of(item, nodes))
    for k in range(first_node, stop):
        if k != derivations.split[item]:
            first, second = parts_of(item, k, nodes)
            used = add_candidate(scores, derivations, agenda, used, item, k, first, second)
    return used


@kernel
def add_candidate(scores, derivations, agenda, used, item, k, first, second):
    """Put a derivation in its item's heap, if it is possible; return the number of derivations."""
    score = derivations.score[first] + derivations.score[second] + arc_score(scores, item, k)
    if score == -math.inf:
        return used
    derivations.score[used], derivations.item[used], derivations.split[used] = score, item, k
    derivations.parts[used, 0], derivations.parts[used, 1] = first, second
    derivations.following[used], derivations.below[used] = NONE, NONE
    agenda.waiting[item] = merged(derivations, agenda.waiting[item], used)
    return used + 1


@kernel
def take_best(derivations, agenda, item):
    """Make the best of those that wait in an item's heap its next derivation; none: the item is complete."""
    best = agenda.waiting[item]
    if best == NONE:
        agenda.complete[item] = True
        return
    agenda.waiting[item] = merged(derivations, derivations.below[best, 0], derivations.below[best, 1])
    derivations.following[agenda.last[item]] = best
    agenda.last[item], agenda.to_do[item] = best, SECOND


@kernel
def merged(derivations, a, b):
    """Return the top of two heaps made one: skew heaps (Sleator and Tarjan 1986), O(log m) a step on average."""
    top, above = NONE, NONE
    while a != NONE and b != NONE:
        if derivations.score[b] > derivations.score[a]:
            a, b = b, a
        if above == NONE:
            top = a
        else:
            derivations.below[above, 0] = a
        above, a = a, derivations.below[a, 1]
        derivations.below[above, 1] = derivations.below[above, 0]
    rest = a if b == NONE else b
    if above == NONE:
        return rest
    derivations.below[above, 0] = rest
    return top


@kernel(allocates=True)
def with_room(derivations):
    """Return the derivations in arrays with room for four times as many."""
    score, item, split, parts, following, below = derivations
    parts, below = enlarged(parts), enlarged(below)
    return Derivations(enlarged(score), enlarged(item), enlarged(split), parts, enlarged(following), below)


@kernel(allocates=True)
def enlarged(array):
    """Return an array with room for four times as much."""
    longer = np.empty((4 * array.shape[0], *array.shape[1:]), array.dtype)
    longer[: array.shape[0]] = array
    return longer


@kernel
def fill_heads(derivations, derivation, todo, heads):
    """Fill heads (n,) with the tree of a derivation of the whole sentence. todo: memory, (2n+2,)."""
    nodes = heads.shape[0] + 1
    todo[0], count = derivation, 1
    while count > 0:
        count -= 1
        now = todo[count]
        k = derivations.split[now]
        if k == NONE:
            continue
        _, _, word, head = split_at(*item_of(derivations.item[now], nodes), k)
        if word != NONE:
            heads[word] = head
        todo[count], todo[count + 1] = derivations.parts[now, 0], derivations.parts[now, 1]
        count += 2
