"""Alignments from the top of a chart down: exact samples, and the one of the largest weight.

An item (table, s, t, u, v) is what stands in a table of the chart over a bispan. It is split (`charts/walker.py`) in
row 0 as a leaf; there is a row for every order and middle of two parts, and a place for where the target side is
divided. All alignments are the item (WHOLE, 0, p, 0, q): row 0 is the one without links, the others are of the first
linked source word, with a place for the first linked target word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.bitext.kernels.chart import NOT_INVERTED, NOT_STRAIGHT, TOTAL, before, leaf
from deptree_cli.bitext.kernels.masks import ends, is_kept
from deptree_cli.bitext.kernels.spans import by_start
from deptree_cli.kernels.charts import walker
from deptree_cli.kernels.charts.walker import NONE, WIDTH, push, walk
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.operations import divide, get, length, multiply, zero

WHOLE = 3  # the table of all alignments, which the chart does not have


class Alignments(NamedTuple):
    """The grammar of p source and q target words, with the chart and what it sums up to.

    The other fields are those of `Weights` and `SpanMask` of these names: of a tuple within a tuple all arrays would be
    counted wherever one is used.
    """

    p: Any
    q: Any
    links: Any
    source_runs: Any
    target_runs: Any
    bispans: Any
    ends: Any
    chart: Any
    total: Any


@kernel(allocates=True)
def sample_links(weights, kept, chart, total, state, targets):
    """Fill targets (k, p) with the target words that source words are linked with in alignments drawn, -1 for none."""
    grammar, todo = grammar_of(weights, kept, chart, total)
    targets[:] = NONE
    for d in range(targets.shape[0]):
        walk(grammar, state, todo, push(todo, 0, (WHOLE, 0, grammar.p, 0, grammar.q)), targets[d])


@kernel(allocates=True)
def follow(weights, kept, chart, targets):
    """Fill targets (p,) with the target word of every source word, -1 for none.

    weights, chart: tropical numbers, the chart as `inside` fills it; there is an alignment. Every item is split anew
    where its sum is largest; of equals the first wins, and unlinked words before links.
    """
    grammar, todo = grammar_of(weights, kept, chart, zero(chart))
    targets[:] = NONE
    walk(grammar, None, todo, push(todo, 0, (WHOLE, 0, grammar.p, 0, grammar.q)), targets)


@kernel(allocates=True)
def grammar_of(weights, kept, chart, total):
    """Return the grammar, and memory for items that are still to be split: each has a link of its own."""
    p, q = length(weights.source_nulls), length(weights.target_nulls)
    given = weights.links, weights.source_runs, weights.target_runs, weights.bispans
    return Alignments(p, q, *given, kept.ends, chart, total), np.empty((min(p, q) + 1, WIDTH), np.int64)


@kernel(forceinline=True)
def entry(grammar, table, source, u, v):
    """Return what stands in the chart."""
    return get(grammar.chart, (Index(table), Index(source), Index(by_start(grammar.q, u, v))))


@kernel(forceinline=True)
def order_in(item, row):
    """Return whether the parts of an item change places, and where it is divided on the source side."""
    table, s, t, _, _ = item
    inverted = table == NOT_STRAIGHT or row >= t - s
    return inverted, s + row - (t - s - 1 if inverted and table == TOTAL else 0)


@walker.total.register(Alignments)
def _total(grammar, item):
    table, s, t, u, v = item
    if table == WHOLE:
        return grammar.total
    source = by_start(grammar.p, s, t)
    found = entry(grammar, table, source, u, v)
    return (
        divide(found, get(grammar.bispans, (source, by_start(grammar.q, u, v)))) if length(grammar.bispans) else found
    )


@walker.rows.register(Alignments)
def _rows(grammar, item):
    table, s, t, _, _ = item
    if table == WHOLE:
        return t + 1
    return 1 + (2 if table == TOTAL else 1) * (t - s - 1)


@walker.places.register(Alignments)
def _places(grammar, item, row):
    table, s, t, u, v = item
    if table == WHOLE and row == 0:
        return v, v + 1, (WHOLE, t, NONE, NONE, u, v)
    if table == WHOLE:
        return 0, v, (WHOLE, row - 1, TOTAL, by_start(t, row - 1, t), u, v)
    if row == 0:
        return u, u + 1, (table, s, NONE, t, u, v)
    inverted, middle = order_in(item, row)
    left, right = by_start(grammar.p, s, middle), by_start(grammar.p, middle, t)
    at = (NOT_INVERTED, right, TOTAL, left, u, v) if inverted else (TOTAL, left, NOT_STRAIGHT, right, u, v)
    first, end = ends(grammar, at[1], u)
    return first, min(end, v), at


@walker.part.register(Alignments)
def _part(grammar, at, place):
    x_table, x_source, y_table, y_source, u, v = at  # a leaf or no links: s, NONE, t
    n = np.int64(place)
    if y_table == NONE:
        return before(grammar, x_source, n) if x_table == WHOLE else leaf(grammar, x_source, y_source, u, v)
    if not is_kept(grammar, y_source, n, v):
        return zero(grammar.chart)
    x = before(grammar, x_source, n) if x_table == WHOLE else entry(grammar, x_table, x_source, u, n)
    return multiply(x, entry(grammar, y_table, y_source, n, v))


@walker.split.register(Alignments)
def _split(grammar, item, row, place):
    table, s, t, u, v = item
    nothing = TOTAL, s, s, u, u
    if table == WHOLE:
        return (TOTAL, row - 1, t, place, v) if row else nothing, nothing, NONE, NONE
    if row == 0:
        return nothing, nothing, s, u
    inverted, middle = order_in(item, row)
    if inverted:
        return (TOTAL, s, middle, place, v), (NOT_INVERTED, middle, t, u, place), NONE, NONE
    return (TOTAL, s, middle, u, place), (NOT_STRAIGHT, middle, t, place, v), NONE, NONE
