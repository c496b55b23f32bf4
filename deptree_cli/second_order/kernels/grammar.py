"""The grammar of the second-order chart (`walker.py`): what its items are split into.

An item (kind, i, j, above) is COMPLETE, of head i out to the end j, or an ARC from i to j, either way, and `above` is
the grandparent; or it is a PAIR, what stands between the siblings i < j of the head `above`. Where nothing is scored by
grandparents, `above` is 0. All trees are COMPLETE of node 0.

A place is how far from i the node k is at which an item is split: the last dependent of a complete item; the sibling
before an arc's dependent, the head itself for none; behind which node a pair is divided.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.kernels.charts import walker
from deptree_cli.kernels.charts.walker import NONE, choose
from deptree_cli.kernels.flags import Index, kernel
from deptree_cli.kernels.numbers.operations import get, multiply
from deptree_cli.second_order.kernels.chart import ARC, COMPLETE, PAIR


class SecondOrder(NamedTuple):
    """The grammar: whether ROOT has one arc only, whether grandparents score; `chart.Weights`, and the chart."""

    single_root: Any
    by_grandparent: Any
    weights: Any
    chart: Any


class Complete(NamedTuple):
    """Where complete items are split."""

    by_grandparent: Any
    chart: Any


class Arc(NamedTuple):
    """Where items of arcs are split: without a sibling in row 0, with one in row 1."""

    single_root: Any
    by_grandparent: Any
    weights: Any
    chart: Any


class Pair(NamedTuple):
    """Where pairs are split."""

    chart: Any


@kernel(forceinline=True)
def entry(chart, kind, i, j, above):
    """Return what an item sums; by `Index` a tenth faster."""
    return get(chart, (kind, Index(i), Index(j), Index(above)))


@walker.total.register(SecondOrder)
def _total(grammar, item):
    return entry(grammar.chart, item[0], item[1], item[2], item[3])


@walker.choose.register(SecondOrder)
def _choose(grammar, item, rest):
    if item[0] == COMPLETE:
        return choose(Complete(grammar.by_grandparent, grammar.chart), item, rest)
    if item[0] == PAIR:
        return choose(Pair(grammar.chart), item, rest)
    return choose(Arc(grammar.single_root, grammar.by_grandparent, grammar.weights, grammar.chart), item, rest)


@walker.places.register(Complete)
def _places_of_complete(grammar, item, row):
    i, j = item[1], item[2]
    return 1, abs(j - i) + 1, (i, j, item[3], i if grammar.by_grandparent else 0, 1 if i < j else -1)


@walker.part.register(Complete)
def _part_of_complete(grammar, at, place):
    i, j, above, head, step = at
    k = i + step * np.int64(place)
    return multiply(entry(grammar.chart, ARC, i, k, above), entry(grammar.chart, COMPLETE, k, j, head))


@walker.rows.register(Arc)
def _rows_of_arc(grammar, item):
    return 2


@walker.places.register(Arc)
def _places_of_arc(grammar, item, row):
    i, j, above = item[1], item[2], item[3]
    head, step = i if grammar.by_grandparent else 0, 1 if i < j else -1
    stop = 1 if row == 0 or (grammar.single_root and i == 0) else abs(j - i)
    return row, stop, (i, j, above, head, step, get(grammar.weights.arcs, (Index(i), Index(j), Index(above))))


@walker.part.register(Arc)
def _part_of_arc(grammar, at, place):
    i, j, above, head, step, weight = at
    k = i + step * np.int64(place)
    first, second = (ARC, i, k, above), (PAIR, min(j, k), max(j, k), head)
    if place == 0:
        first, second = (COMPLETE, i, i, above), (COMPLETE, j, i + step, head)
    factor = multiply(get(grammar.weights.siblings, (Index(i), Index(j), Index(k))), entry(grammar.chart, *second))
    return multiply(multiply(entry(grammar.chart, *first), factor), weight)


@walker.places.register(Pair)
def _places_of_pair(grammar, item, row):
    return 0, item[2] - item[1], (item[1], item[2], item[3])


@walker.part.register(Pair)
def _part_of_pair(grammar, at, place):
    i, j, above = at
    k = i + np.int64(place)
    return multiply(entry(grammar.chart, COMPLETE, i, k, above), entry(grammar.chart, COMPLETE, j, k + 1, above))


@walker.split.register(SecondOrder)
def _split(grammar, item, row, place):
    kind, i, j, above = item[0], item[1], item[2], item[3]
    head, step = i if grammar.by_grandparent else 0, 1 if i < j else -1
    k = i + step * place
    if kind == PAIR:
        return (COMPLETE, i, k, above), (COMPLETE, j, k + 1, above), NONE, NONE
    if kind == COMPLETE:
        return (COMPLETE, k, j, head), (ARC, i, k, above), k - 1, i
    if row == 0:
        return (ARC, i, i, above), (COMPLETE, j, i + step, head), NONE, NONE
    return (ARC, i, k, above), (PAIR, min(j, k), max(j, k), head), k - 1, i
