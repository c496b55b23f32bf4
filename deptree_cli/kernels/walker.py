"""From the top of a chart down: random and best derivations of any grammar.

An *item* is a tuple of integers, and is split in one of several ways: at a *place* in a *row* of places, which
count from a first one to that before `stop`. A grammar is a named tuple with a `chart` that says what items are
like: how probable they are by `total`, `rows`, `places` and `part`, and what they are split into by `split`. Items
that are still to be split are a stack, todo (m, WIDTH); what is pushed last is split first.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.operations import is_less, is_negative, is_positive, operation, scale, subtract, zero
from deptree_cli.kernels.xoshiro import TO_UNIT, U64, step

WIDTH = 5  # of an item; grammars that need fewer integers leave the last ones alone
NONE = -1


@operation
def total(grammar, item):
    """Return the sum of the parts of an item."""
    raise NotImplementedError


@operation
def rows(grammar, item):
    """Return how many rows of places an item has."""
    return 1


@operation
def places(grammar, item, row):
    """Return the first place of a row, the one behind the last, and integers that say what their parts are."""
    raise NotImplementedError


@operation
def part(grammar, at, place):
    """Return a part of an item, a number of the chart's kind; at: as `places` returns it."""
    raise NotImplementedError


@operation
def split(grammar, item, row, place):
    """Return the two items that one split at a place consists of, the word that it links, and with which.

    The second item is split first. An item (kind, i, i, ...) is nothing, and so is the word NONE.
    """
    raise NotImplementedError


@operation
def choose(grammar, item, rest):
    """Return the row and place at which an item is split: as of `draw_split`, or, if `rest` is None, of `best_split`.

    Where kinds of items have parts of different forms, a grammar's own body goes on with a grammar for each kind, so
    that loops over parts are compiled without branches.
    """
    if rest is None:
        return best_split(grammar, item)
    return draw_split(grammar, item, rest)


# All is inlined, numbers are handed over rather than arrays, and the random state is in local variables: counting the
# references to arrays takes longer than drawing a short tree.


@kernel(forceinline=True)
def push_parts(grammar, item, row, place, todo, count, out):
    """Push what an item split at a place consists of, and put its link into `out`; return how many items wait."""
    first, second, word, link = split(grammar, item, row, place)
    if word != NONE:
        out[word] = link
    return push(todo, push(todo, count, first), second)


@kernel(forceinline=True)
def push(todo, count, item):
    """Put an item on a stack, unless it is nothing; return how many items are there."""
    if item[1] == item[2]:
        return count
    for m in range(len(item)):
        todo[count, m] = item[m]
    return count + 1


@kernel(forceinline=True)
def walk(grammar, state, todo, count, out):
    """Split the first `count` items of a stack, and all that they are split into; put links into `out`.

    state: of the random bits, to draw derivations in proportion to their weights; None to follow the best one.
    """
    if state is not None:
        s0, s1, s2, s3 = state
    while count > 0:
        count -= 1
        item = todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3], todo[count, 4]
        if state is None:
            row, place = choose(grammar, item, None)
        else:
            bits, s0, s1, s2, s3 = step(s0, s1, s2, s3)
            uniform = np.float64(bits >> U64(11)) * TO_UNIT
            row, place = choose(grammar, item, scale(total(grammar, item), uniform))
        count = push_parts(grammar, item, row, place, todo, count, out)
    if state is not None:
        state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel(forceinline=True)
def draw_split(grammar, item, rest):
    """Return the row and place at which the sum of an item's parts first exceeds `rest`.

    What rounding leaves over goes to the last positive part: none of 0 is ever taken.
    """
    for row in range(rows(grammar, item)):
        first, stop, at = places(grammar, item, row)
        for place in range(Index(first), Index(stop)):
            rest = subtract(rest, part(grammar, at, place))
            if is_negative(rest):
                return row, np.int64(place)
    return last_split(grammar, item)


@kernel
def last_split(grammar, item):
    """Return the row and place of an item's last positive part."""
    for row in range(rows(grammar, item) - 1, -1, -1):
        first, stop, at = places(grammar, item, row)
        for place in range(stop - 1, first - 1, -1):
            if is_positive(part(grammar, at, place)):
                return row, place
    return NONE, NONE


@kernel(forceinline=True)
def best_split(grammar, item):
    """Return the row and place of an item's largest part, of equals the first; NONE if nothing is possible."""
    best, best_row, best_place = zero(grammar.chart), NONE, NONE
    for row in range(rows(grammar, item)):
        first, stop, at = places(grammar, item, row)
        for place in range(first, stop):
            score = part(grammar, at, place)
            if is_less(best, score):
                best, best_row, best_place = score, row, place
    return best_row, best_place
