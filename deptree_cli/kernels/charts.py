"""Projective trees: Eisner's (1996) chart and what is read off it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels import walker
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers import Tropical
from deptree_cli.kernels.operations import (
    add,
    as_float,
    divide,
    get,
    inner,
    is_positive,
    length,
    logarithm,
    multiply,
    one,
    part,
    put,
    row,
    tolerance,
    zero,
)
from deptree_cli.kernels.walker import NONE, WIDTH, best_split, push, total, walk

# Eisner's (1996) chart of projective trees: sums over all of them, and the marginals of arcs by the sweep backwards.
#
# Nodes stand in a row, ROOT first. An item (kind, i, j) spans the nodes i..j. RIGHT is complete, of head i; LEFT is
# complete, of head j; BETWEEN is what fills the span of an arc between i and j, whichever way it points; an ARC is that
# with its arc. All trees are RIGHT of node 0, and each is built in exactly one way:
#
#     between[i, j] = sum over k of right[i, k] * left[k+1, j]
#     arc[i -> j], arc[j -> i] = weight * between[i, j]
#     right[i, j] = sum over k of arc[i -> k] * right[k, j]   k: the last dependent of i to the right
#     left[i, j] = sum over k of left[i, k] * arc[j -> k]     k: the first dependent of j
#
# A chart is one array of numbers, (TABLES, n+1, n+1), and every sum is that of x[i, k] * y[j, k] over k, two of its
# rows: complete items are in their tables twice, and what stands below the diagonal is sorted by its end.
#
#     chart[RIGHT, i, j] = chart[RIGHT, j, i] = right[i, j]
#     chart[LEFT, i, j] = chart[LEFT, j, i-1] = left[i, j]
#     chart[BETWEEN, i, j] = between[i, j]
#     chart[ARC, head, dependent]
#
# Numbers of any kind are added and multiplied, and divided once, never subtracted. On tropical numbers sums are maxima.


RIGHT, LEFT, BETWEEN, ARC = range(4)
TABLES = 4

# No sentence of n words has more projective trees than 7^n: fewer than (27/4)^n with one root or several.
LOG_GROWTH = math.log(7.0)

# The logarithm of float64's smallest normal number, and how much less a part may be than all before it counts as lost.
LOG_SMALLEST = -708.0
LOG_LOST = -100.0

# Items are filled in by this many columns: from row i of a table all of these are, while it is in a core's cache.
COLUMNS = 8

# Patterns of longer sentences are asked in wide numbers.
LONGEST = 300


class EisnerGrammar(NamedTuple):
    """The grammar of projective trees (`walker.py`): whether ROOT has one arc only, and a chart. Places are nodes k."""

    single_root: Any
    chart: Any


@kernel
def log_partition(total, n):
    """Return the logarithm of a partition function, and whether float64 held every item that is a part of it.

    Weights are at most 1. An item and what surrounds it have at most 7^n trees: one that float64 cannot hold is no
    such part of Z.
    """
    if not is_positive(total):
        return -math.inf, False
    log_z = logarithm(total)
    return log_z, log_z > LOG_SMALLEST - LOG_LOST + n * LOG_GROWTH and n <= LONGEST


@kernel
def inside(weights, single_root, chart):
    """Fill a chart of zeros from weights (n+1, n+1); return the partition function. O(n^3): n^3 / 2 multiply-adds."""
    n = length(weights) - 1
    for i in range(n + 1):
        put(chart, (RIGHT, i, i), one(chart))
        put(chart, (LEFT, i, i), one(chart))
        if i > 0:
            put(chart, (LEFT, i, i - 1), one(chart))
    for start in range(1, n + 1, COLUMNS):
        stop = min(start + COLUMNS, n + 1)
        for i in range(stop - 2, -1, -1):
            for j in range(max(start, i + 1), stop):  # all that items from i to j are summed from is known
                between = sum_of_parts(single_root, chart, BETWEEN, i, j)
                put(chart, (BETWEEN, i, j), between)
                put(chart, (ARC, i, j), multiply(between, get(weights, (i, j))))
                put(chart, (ARC, j, i), multiply(between, get(weights, (j, i))))
                if is_right(single_root, i, j, n):
                    right = sum_of_parts(single_root, chart, RIGHT, i, j)
                    put(chart, (RIGHT, i, j), right)
                    put(chart, (RIGHT, j, i), right)
                if i > 0:
                    left = sum_of_parts(single_root, chart, LEFT, i, j)
                    put(chart, (LEFT, i, j), left)
                    put(chart, (LEFT, j, i - 1), left)
    return get(chart, (RIGHT, 0, n))


@kernel(forceinline=True)
def is_right(single_root, i, j, n):
    """Return whether there is an item RIGHT from i to j: under the single-root constraint none of ROOT but the last."""
    return i > 0 or j == n or not single_root


@kernel(forceinline=True)
def nodes_between(single_root, kind, i, j):
    """Return the first node at which an item can be split, and the one behind the last.

    Under the single-root constraint ROOT's only arc is one whose span begins with nothing to ROOT's right.
    """
    if kind == RIGHT:
        return i + 1, j + 1
    return i, i + 1 if kind == BETWEEN and single_root and i == 0 else j


@kernel(forceinline=True)
def factors(kind):
    """Return the tables of which row i and row j are multiplied. (Indices into constants would be slower.)"""
    if kind == RIGHT:
        return ARC, RIGHT
    return (LEFT, ARC) if kind == LEFT else (RIGHT, LEFT)


@kernel(forceinline=True)
def sum_of_parts(single_root, chart, kind, i, j):
    """Return what an item sums, from those that it is split into."""
    (first, stop), (x, y) = nodes_between(single_root, kind, i, j), factors(kind)
    return inner(part(row(chart, (x, i)), first, stop), part(row(chart, (y, j)), first, stop))


@kernel
def root_marginals(chart, out):
    """Fill out (n+1,) of float64 with the probability of each root, under the single-root constraint."""
    n = out.shape[0] - 1
    for r in range(1, n + 1):
        with_root = multiply(get(chart, (ARC, 0, r)), get(chart, (RIGHT, n, r)))
        out[r] = as_float(divide(with_root, get(chart, (RIGHT, 0, n))))


@kernel
def outside(weights, single_root, chart, adjoints, marginals):
    """Fill marginals (n+1, n+1), zeros at first, with those of arcs, of dual numbers with their derivatives too. O(n^3)

    adjoints: a chart of zeros, which is filled with the derivatives of log Z: `inside` line by line, backwards. An
    item times its adjoint is the probability that a tree contains it. Returns whether the numbers were in range: as
    `sum_to_one`.
    """
    n = length(weights) - 1
    put(adjoints, (RIGHT, 0, n), divide(one(chart), get(chart, (RIGHT, 0, n))))
    for j in range(n, 0, -1):
        for i in range(j):
            if i > 0:
                left = add(get(adjoints, (LEFT, i, j)), get(adjoints, (LEFT, j, i - 1)))
                parts_backward(single_root, chart, adjoints, LEFT, i, j, left)
            if is_right(single_root, i, j, n):
                right = add(get(adjoints, (RIGHT, i, j)), get(adjoints, (RIGHT, j, i)))
                parts_backward(single_root, chart, adjoints, RIGHT, i, j, right)
            between = add(
                arc_backward(weights, chart, adjoints, i, j, marginals),
                arc_backward(weights, chart, adjoints, j, i, marginals),
            )
            parts_backward(single_root, chart, adjoints, BETWEEN, i, j, between)
    return sum_to_one(marginals)


@kernel
def sum_to_one(marginals):
    """Return whether the probabilities (n+1, n+1) of each word's heads do so, as far as they should."""
    in_range = True
    for j in range(1, length(marginals)):
        total = zero(marginals)
        for i in range(length(marginals)):
            total = add(total, get(marginals, (i, j)))
        in_range = in_range and abs(as_float(total) - 1.0) < tolerance(marginals)
    return in_range


@kernel(forceinline=True)
def arc_backward(weights, chart, adjoints, head, dependent, marginals):
    """Fill the marginal of an arc; return what the adjoint of its span gets."""
    arc, adjoint = (head, dependent), get(adjoints, (ARC, head, dependent))
    put(marginals, arc, multiply(adjoint, get(chart, (ARC, head, dependent))))
    return multiply(adjoint, get(weights, arc))


@kernel(forceinline=True)
def parts_backward(single_root, chart, adjoints, kind, i, j, adjoint):
    """Add to the adjoints of what an item was summed from, given its own."""
    (first, stop), (x, y) = nodes_between(single_root, kind, i, j), factors(kind)
    of_x, of_y = row(adjoints, (x, i)), row(adjoints, (y, j))
    products_backward(adjoint, row(chart, (x, i)), of_x, row(chart, (y, j)), of_y, first, stop)


@kernel
def products_backward(adjoint, x, of_x, y, of_y, first, stop):
    """Add to the adjoints of the rows x and y, given that of the sum of x[k] * y[k], first <= k < stop.

    `Index` makes it two and a half times as fast.
    """
    for k in range(Index(first), Index(stop)):
        put(of_x, k, add(get(of_x, k), multiply(adjoint, get(y, k))))
        put(of_y, k, add(get(of_y, k), multiply(adjoint, get(x, k))))


# What the walker asks of a grammar.


@kernel(forceinline=True)
def split_at(kind, i, j, k):
    """Return the two items that one split at k consists of, a word and its head: see `walker.split`."""
    if kind == RIGHT:
        return (RIGHT, k, j), (BETWEEN, i, k), k - 1, i
    if kind == LEFT:
        return (LEFT, i, k), (BETWEEN, k, j), k - 1, j
    return (RIGHT, i, k), (LEFT, k + 1, j), NONE, NONE


@walker.total.register(EisnerGrammar)
def _total(grammar, item):
    return get(grammar.chart, (item[0], item[1], item[2]))


@walker.places.register(EisnerGrammar)
def _places(grammar, item, row):
    (first, stop), (x, y) = nodes_between(grammar.single_root, item[0], item[1], item[2]), factors(item[0])
    return first, stop, (x, item[1], y, item[2])


@walker.part.register(EisnerGrammar)
def _part(grammar, at, place):
    x, i, y, j = at
    return multiply(get(grammar.chart, (x, i, place)), get(grammar.chart, (y, j, place)))


@walker.split.register(EisnerGrammar)
def _split(grammar, item, row, place):
    return split_at(item[0], item[1], item[2], place)


# Projective trees from the top of a chart down: exact samples, and the tree of the largest sum of scores.
#
# All trees of n words are the item (0, 0, n, 0) of a grammar (`walker.py`).


@kernel(allocates=True)
def sample_trees(grammar, state, heads):
    """Fill heads (k, n) with independent trees: O(n^2) each at worst, about n log n where arcs are short."""
    n = heads.shape[1]
    todo = np.empty((2 * n + 2, WIDTH), np.int64)
    for t in range(heads.shape[0]):
        walk(grammar, state, todo, push(todo, 0, (0, 0, n, 0)), heads[t])


@kernel(allocates=True)
def follow_best(grammar, heads):
    """Fill heads (n,) with the best tree, which there is, of a chart of tropical numbers; of equals the first split."""
    n = heads.shape[0]
    todo = np.empty((2 * n + 2, WIDTH), np.int64)
    walk(grammar, None, todo, push(todo, 0, (0, 0, n, 0)), heads)


@kernel(allocates=True)
def best_tree(scores, single_root, heads):
    """Fill heads (n,) with the tree of the largest sum of scores (n+1, n+1), if there is one; return the sum."""
    grammar = best_items(scores, single_root)
    total = get(grammar.chart, (RIGHT, 0, heads.shape[0])).log
    if total > -math.inf:
        follow_best(grammar, heads)
    return total


@kernel(allocates=True)
def best_items(scores, single_root):
    """Return the grammar with the chart of scores (n+1, n+1) as tropical numbers."""
    chart = Tropical(np.full((TABLES, *scores.shape), -np.inf))
    inside(Tropical(scores), single_root, chart)
    return EisnerGrammar(single_root, chart)


# The best projective trees in order, lazily from Eisner's chart (Huang and Chiang 2005, algorithm 3).
#
# Every item of the chart has its derivations, best first, as a list that grows on demand: the first is known from the
# chart, and behind each one stand its two neighbours, which put the next derivation of a part in the place of one. What
# might come next waits in a heap of its own for every item. A tree has one derivation, so none is repeated.
#
# A derivation is a number: below 3 (n+1)^2 that of an item, whose best it is, then in the order made.

# Of a derivation are noted its item; where that is split; the two derivations that it is made of; the next best one of
# its item, NONE while unknown; and what is below it in the heap where it waits, to either side.
ITEM, SPLIT, PART, NEXT, BELOW, NOTES = 0, 1, 2, 4, 5, 7

# Of an item are noted its last derivation; the top of its heap, NONE where that is empty; and what is still to be done
# behind the last one: all its splits wait to be seen; a neighbour has to be made by its second part, by its first part;
# nothing; or there is none.
LAST, HEAP, TO_DO = range(3)
SPLITS, SECOND, FIRST, NOTHING, COMPLETE = 3, 2, 1, 0, -1


class BestDerivations(NamedTuple):
    """Derivations and those that wait to become one.

    scores: (n+1, n+1), ``[head, dependent]``; score (m,), with room for more: the sums of their arcs' scores; notes:
    (m, NOTES); agenda: (3 (n+1)^2, 3), of each item; used: (1,), how many derivations there are.
    """

    scores: Any
    single_root: bool
    score: Any
    notes: Any
    agenda: Any
    used: Any


@kernel(allocates=True)
def best_projective_trees(scores, single_root, size):
    """Return the best trees of scores (n+1, n+1), ``[head, dependent]``, best first: heads (k, n), k <= size."""
    n = scores.shape[0] - 1
    found, top = first_derivations(scores, single_root), number_of((RIGHT, 0, n), n + 1)
    heads, memory = np.empty((16, n), np.int32), np.empty(2 * n + 2, np.int64)
    count, derivation = 0, top if found.score[top] > -math.inf else NONE
    while count < size and derivation != NONE:
        if count == heads.shape[0]:
            heads = enlarged(heads)
        fill_heads(found, derivation, memory, heads[count])
        count += 1
        if count < size:
            found = with_next(found, top, memory)
            derivation = found.notes[derivation, NEXT]
    return heads[:count]


@kernel(allocates=True)
def first_derivations(scores, single_root):
    """Return the best derivation of every item."""
    grammar, nodes = best_items(scores, single_root), scores.shape[0]
    items = 3 * nodes * nodes
    score, notes, agenda = np.empty(2 * items), np.empty((2 * items, NOTES), np.int64), np.empty((items, 3), np.int64)
    for number in range(items):
        score[number] = 0.0
        fill(notes[number], NONE)
        fill(agenda[number], NONE)
        notes[number, ITEM] = agenda[number, LAST] = number
    for i in range(nodes):
        for j in range(i + 1, nodes):
            for kind in (RIGHT, LEFT, BETWEEN):
                item = kind, i, j
                number, k = number_of(item, nodes), best_split(grammar, item)[1]
                score[number] = total(grammar, item).log
                if k != NONE:
                    notes[number, SPLIT], agenda[number, TO_DO] = k, SPLITS
                    notes[number, PART], notes[number, PART + 1] = parts_of(number, k, nodes)
    return BestDerivations(scores, single_root, score, notes, agenda, np.full(1, items))


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


@kernel(allocates=True)
def with_next(found, top, wanted):
    """Return the derivations with the next one of the item `top`, if there is one.

    wanted: memory for the items that wait for each other, each below the one before: (2n+2,).
    """
    scores, single_root, score, notes, agenda, used = found
    wanted[0], depth, target = top, 1, agenda[top, LAST]
    while agenda[top, TO_DO] != COMPLETE and agenda[top, LAST] == target:
        item = wanted[depth - 1]
        last, to_do = agenda[item, LAST], agenda[item, TO_DO]
        if used[0] + scores.shape[0] + 2 > score.shape[0]:
            score, notes = enlarged(score), enlarged(notes)
            found = BestDerivations(scores, single_root, score, notes, agenda, used)
        if to_do == SPLITS:
            add_splits(found, item)
            agenda[item, TO_DO] = SECOND
        elif to_do == NOTHING:
            take_best(found, item)
            depth = max(depth - 1, 1)
        else:
            # Of two ways to the same pair of parts only one is taken: the first part goes on beside any second one,
            # the second one beside the best first one only.
            side = to_do - 1
            part, other = notes[last, PART + side], notes[last, PART + 1 - side]
            following = notes[part, NEXT]
            if side == 1 and other != notes[other, ITEM]:
                agenda[item, TO_DO] = FIRST
            elif following == NONE and agenda[notes[part, ITEM], TO_DO] != COMPLETE:
                wanted[depth], depth = notes[part, ITEM], depth + 1
            else:
                agenda[item, TO_DO] = to_do - 1
                if following != NONE:
                    first, second = (following, other) if side == 0 else (other, following)
                    add_candidate(found, item, notes[last, SPLIT], first, second)
    return found


@kernel
def add_splits(found, item):
    """Put the best derivation of every other split of an item in its heap."""
    nodes = found.scores.shape[0]
    first_node, stop = nodes_between(found.single_root, *item_of(item, nodes))
    for k in range(first_node, stop):
        if k != found.notes[item, SPLIT]:
            first, second = parts_of(item, k, nodes)
            add_candidate(found, item, k, first, second)


@kernel
def add_candidate(found, item, k, first, second):
    """Put a derivation, of an item split at k, in the item's heap, if it is possible."""
    kind, i, j = item_of(item, found.scores.shape[0])
    arc = 0.0 if kind == BETWEEN else found.scores[i if kind == RIGHT else j, k]
    score, new = found.score[first] + found.score[second] + arc, found.used[0]
    if score > -math.inf:
        found.score[new], found.notes[new, ITEM], found.notes[new, SPLIT] = score, item, k
        found.notes[new, PART], found.notes[new, PART + 1] = first, second
        found.notes[new, NEXT] = found.notes[new, BELOW] = found.notes[new, BELOW + 1] = NONE
        found.agenda[item, HEAP] = merged(found, found.agenda[item, HEAP], new)
        found.used[0] += 1


@kernel
def take_best(found, item):
    """Make the best of those that wait in an item's heap its next derivation; none: the item is complete."""
    notes, agenda = found.notes, found.agenda
    best = agenda[item, HEAP]
    if best == NONE:
        agenda[item, TO_DO] = COMPLETE
        return
    agenda[item, HEAP] = merged(found, notes[best, BELOW], notes[best, BELOW + 1])
    notes[agenda[item, LAST], NEXT] = best
    agenda[item, LAST], agenda[item, TO_DO] = best, SECOND


@kernel
def merged(found, a, b):
    """Return the top of two heaps made one: skew heaps (Sleator and Tarjan 1986), O(log m) a step on average."""
    notes, top, above = found.notes, NONE, NONE
    while a != NONE and b != NONE:
        if found.score[b] > found.score[a]:
            a, b = b, a
        if above == NONE:
            top = a
        else:
            notes[above, BELOW] = a
        above, a = a, notes[a, BELOW + 1]
        notes[above, BELOW + 1] = notes[above, BELOW]
    rest = a if b == NONE else b
    if above == NONE:
        return rest
    notes[above, BELOW] = rest
    return top


@kernel(allocates=True)
def enlarged(array):
    """Return an array with room for four times as much."""
    longer = np.empty((4 * array.shape[0], *array.shape[1:]), array.dtype)
    longer[: array.shape[0]] = array
    return longer


@kernel
def fill_heads(found, derivation, todo, heads):
    """Fill heads (n,) with the tree of a derivation of the whole sentence. todo: memory, (2n+2,)."""
    notes, nodes = found.notes, heads.shape[0] + 1
    todo[0], count = derivation, 1
    while count > 0:
        count -= 1
        now = todo[count]
        if notes[now, SPLIT] != NONE:
            _, _, word, head = split_at(*item_of(notes[now, ITEM], nodes), notes[now, SPLIT])
            if word != NONE:
                heads[word] = head
            todo[count], todo[count + 1] = notes[now, PART], notes[now, PART + 1]
            count += 2
