"""From the top of a chart down: of which two parts an item can be made, and a stack of items still to be split.

An item (table, s, t, u, v) is what stands in a table of the chart over a bispan.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.itg.chart import NOT_INVERTED, NOT_STRAIGHT, TOTAL
from deptree_cli.kernels.itg.masks import ends, is_kept
from deptree_cli.kernels.itg.spans import by_start
from deptree_cli.kernels.numbers.operations import get, multiply, zero

STRAIGHT, INVERTED = range(2)


@kernel(forceinline=True)
def has_order(table, order):
    """Return whether items of a table may be made of two parts in this order."""
    return table != (NOT_INVERTED if order == INVERTED else NOT_STRAIGHT)


@kernel(forceinline=True)
def parts(p, order, s, t, middle):
    """Return table and source span of the part that is first on the target side, and of the one that is second."""
    left, right = by_start(p, s, middle), by_start(p, middle, t)
    if order == INVERTED:
        return NOT_INVERTED, right, TOTAL, left
    return TOTAL, left, NOT_STRAIGHT, right


@kernel(forceinline=True)
def places(kept, source, u, v):
    """Return the first place where u..v can be divided if the first part is over this source span, and the end."""
    first, end = ends(kept, source, u)
    return first, min(end, v)


@kernel(forceinline=True)
def weight_of(kept, chart, q, x_table, x_source, y_table, y_source, u, place, v):
    """Return the weight of two parts."""
    if not is_kept(kept, y_source, place, v):
        return zero(chart)
    y = get(chart, (y_table, y_source, by_start(q, place, v)))
    return multiply(get(chart, (x_table, x_source, by_start(q, u, place))), y)


@kernel(forceinline=True)
def push(todo, count, table, s, t, u, v):
    """Put an item on a stack; return how many items are there."""
    todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3], todo[count, 4] = table, s, t, u, v
    return count + 1


@kernel(forceinline=True)
def split(todo, count, order, s, t, u, v, middle, place):
    """Put the two parts of an item on the stack; return how many items are there. Each has a link of its own."""
    if order == INVERTED:
        return push(todo, push(todo, count, TOTAL, s, middle, place, v), NOT_INVERTED, middle, t, u, place)
    return push(todo, push(todo, count, TOTAL, s, middle, u, place), NOT_STRAIGHT, middle, t, place, v)
