"""Items from the top of a chart down: what an item can be split by, and what it is split into.

An item (table, s, t, u, v) is what stands in a table of the chart over a bispan; that of another table with the same
items in the other order of target spans is the same one. All derivations are TOTAL over the two whole sentences.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.itg.rules import (
    INVERTED,
    INVERTED_OF_TWO,
    INVERTED_PAIR_BY_END,
    NOT_INVERTED,
    NOT_STRAIGHT_BY_END,
    PAIR,
    PAIR_BY_END,
    RULES,
    STRAIGHT,
    STRAIGHT_OF_TWO,
    STRAIGHT_PAIR,
    THREE,
    TOTAL,
    TOTAL_BY_END,
    WITH_THREE,
)
from deptree_cli.kernels.itg.spans import by_end, by_start
from deptree_cli.kernels.numbers.operations import get, length

# A rule that says that an item is a terminal.
TERMINAL = -1


@kernel
def is_rule_of(table, rule):
    """Return whether an item of this table may be made by a rule."""
    if table in (PAIR, PAIR_BY_END):
        return rule >= STRAIGHT_OF_TWO
    if table == STRAIGHT_PAIR:
        return rule == STRAIGHT_OF_TWO
    if table == INVERTED_PAIR_BY_END:
        return rule == INVERTED_OF_TWO
    if table == NOT_STRAIGHT_BY_END:
        return rule != STRAIGHT and rule < STRAIGHT_OF_TWO
    if table == NOT_INVERTED:
        return rule != INVERTED and rule < STRAIGHT_OF_TWO
    return rule < STRAIGHT_OF_TWO


@kernel
def rules_in(chart):
    """Return the number of rules of a chart's grammar."""
    return len(RULES) if length(chart) == WITH_THREE else THREE


@kernel
def is_by_end(table):
    """Return whether a table has target spans sorted by their ends."""
    return table in (TOTAL_BY_END, NOT_STRAIGHT_BY_END, PAIR_BY_END, INVERTED_PAIR_BY_END)


@kernel
def value_of(chart, p, q, table, s, t, u, v):
    """Return what stands in a table for a bispan."""
    target = by_end(u, v) if is_by_end(table) else by_start(q, u, v)
    return get(chart, (table, by_start(p, s, t), target))


@kernel
def push(todo, count, table, s, t, u, v):
    """Put an item on a stack; return how many items are there."""
    todo[count, 0], todo[count, 1], todo[count, 2], todo[count, 3], todo[count, 4] = table, s, t, u, v
    return count + 1


@kernel
def all_derivations(p, q, todo):
    """Begin a stack, todo (room_for(p, q), 5), with the item of all derivations; return how many items there are."""
    return push(todo, 0, TOTAL, 0, p, 0, q)


@kernel
def room_for(p, q):
    """Return how many items can be on the stack: each but the terminals, one per word at most, is split once."""
    return 2 * (p + q)


@kernel
def split(todo, count, rule, s, t, u, v, middle, place):
    """Put the two children of an item on the stack; return how many items are there.

    rule: by which it is made; middle, place: where it is divided on the source and on the target side.
    """
    left, right = RULES[rule, 1], RULES[rule, 2]
    if RULES[rule, 0]:
        return push(todo, push(todo, count, left, s, middle, place, v), right, middle, t, u, place)
    return push(todo, push(todo, count, left, s, middle, u, place), right, middle, t, place, v)
