"""The cells of a partition tree (`partition_tree.py`), and how much of each has not been drawn yet.

A *cell* is the set of all trees that share their first choices. A cell divided by one more choice is an item of
`Cells`, and entry h of its rows stands for the cell below it with choice h. What is left of a cell, as a share of it,
is one minus the probabilities of the trees drawn from it while that is far from 0, and from then on a sum over the
cells below it: never a subtraction that cancels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.operations import (
    add,
    get,
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
    (cells,) the logarithm of its probability.
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
    cells.below[new] = NONE
    cells.newest[new] = NONE
    cells.drawn[new] = 0.0
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
    log_cell = cells.log_prob[r] + logarithm(get(row(cells.share, r), h))
    cells.drawn[r, h] += math.exp(drawn.log_probs[tree] - log_cell)


@kernel
def refresh(cells, rules, r, h, depth):
    """Update what is left of the undivided cell (r, h); return False if so little is left that subtraction cancels.

    depth: how many choices make a tree.
    """
    rest = 1.0 - cells.drawn[r, h]
    if cells.newest[r, h] == NONE:
        return True
    if cells.level[r] == depth - 1 or rest < rules.least:
        put(row(cells.left, r), h, zero(row(cells.left, r)))
        return cells.level[r] == depth - 1
    put(row(cells.left, r), h, scale(get(row(cells.share, r), h), rest))
    return True


@kernel
def take_over(cells, r):
    """Update what is left of the divided cell r from what is left of the cells below it."""
    above, h = cells.above[r], cells.choice[r]
    put(cells.total, r, total_of(row(cells.left, r)))
    put(row(cells.left, above), h, multiply(get(row(cells.share, above), h), get(cells.total, r)))


@kernel
def pass_upwards(cells, r):
    """Update what is left of cell r and of all cells above it."""
    while r > 0:
        take_over(cells, r)
        r = cells.above[r]
    put(cells.total, r, total_of(row(cells.left, r)))
