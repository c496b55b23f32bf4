"""A projective tree as a sequence of choices: how the items of Eisner's chart are split, from the top down.

That makes 2 n choices for a tree of n words, and every tree is made by one sequence only. A choice is the node k at
which an item is split: there are so many even where an item can be split at one place only.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.charts import walker
from deptree_cli.kernels.charts.eisner import RIGHT, Eisner
from deptree_cli.kernels.charts.walker import (
    WIDTH,
    draw_split,
    part,
    places,
    push,
    push_parts,
    rows,
    total,
)
from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import add, divide, is_positive, logarithm, scale, zero


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
