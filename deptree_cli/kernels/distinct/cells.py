"""The cells of a partition tree (`partition_tree.py`), and how much of each has not been drawn yet.

A *cell* is the set of all trees that share their first choices. A cell divided by one more choice is an item of
`Cells`, and entry h of its rows stands for the cell below it with choice h. What is left of an undivided cell is one
minus the probabilities of the trees drawn from it, as shares of the cell; of a divided one it is a sum over the cells
below it. Where next to nothing is left of a cell, the subtraction has *cancelled*: such a cell is divided as soon as
what rounding may have done to it shows in what is left of all cells.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from deptree_cli.kernels.elementary import fill
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    get,
    is_positive,
    length,
    logarithm,
    multiply,
    put,
    row,
    scale,
    zero,
)

NONE = -1


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

    used: object
    share: object
    left: object
    total: object
    below: object
    newest: object
    drawn: object
    above: object
    choice: object
    level: object
    log_prob: object
    following: object
    spent: object
    cancelled: object
    cancelled_count: object
    largest_cancelled: object


@kernel
def open_cell(cells, above, h, probs):
    """Add a divided cell, entry h of cell `above`, whose choice has the probabilities probs (n+1,).

    Returns its index, NONE if there is no memory left for it.
    """
    new = cells.used[0]
    if new == cells.above.shape[0]:
        return NONE
    cells.used[0] += 1
    for choice in range(cells.drawn.shape[1]):
        put(row(cells.share, new), choice, get(probs, choice))
        put(row(cells.left, new), choice, get(probs, choice))
    put(cells.total, new, total_of(probs))
    fill(cells.below[new], NONE)
    fill(cells.newest[new], NONE)
    fill(cells.drawn[new], 0.0)
    fill(cells.spent[new], 0)
    cells.above[new] = above
    cells.choice[new] = h
    if above == NONE:
        cells.level[new] = 0
        cells.log_prob[new] = 0.0
    else:
        cells.level[new] = cells.level[above] + 1
        cells.log_prob[new] = cells.log_prob[above] + logarithm(get(row(cells.share, above), h))
        cells.below[above, h] = new
    return new


@kernel
def total_of(left):
    """Return the sum of a row of numbers."""
    total = zero(left)
    for h in range(length(left)):
        total = add(total, get(left, h))
    return total


@kernel
def record(cells, drawn, r, h, tree):
    """Count a tree of `drawn` among those drawn from the undivided cell (r, h)."""
    cells.following[tree] = cells.newest[r, h]
    cells.newest[r, h] = tree
    cells.drawn[r, h] += math.exp(drawn.log_probs[tree] - log_prob_of(cells, r, h))


@kernel
def log_prob_of(cells, r, h):
    """Return the logarithm of the probability of the cell (r, h)."""
    return cells.log_prob[r] + logarithm(get(row(cells.share, r), h))


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
def refresh_divided(cells, r):
    """Update what is left of the divided cell r from what is left of the cells below it."""
    above, h = cells.above[r], cells.choice[r]
    put(cells.total, r, total_of(row(cells.left, r)))
    put(row(cells.left, above), h, multiply(get(row(cells.share, above), h), get(cells.total, r)))


@kernel
def pass_upwards(cells, r):
    """Update what is left of cell r and of all cells above it."""
    while r > 0:
        refresh_divided(cells, r)
        r = cells.above[r]
    put(cells.total, r, total_of(row(cells.left, r)))
