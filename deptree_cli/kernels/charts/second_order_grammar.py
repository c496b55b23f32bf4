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
from deptree_cli.kernels.charts.second_order import ARC, COMPLETE, PAIR
from deptree_cli.kernels.charts.walker import NONE
from deptree_cli.kernels.numbers.operations import get, multiply
from deptree_cli.kernels.xoshiro import U64


class SecondOrder(NamedTuple):
    """The grammar: whether ROOT has one arc only, whether grandparents score; `second_order.Weights`, and the chart."""

    single_root: Any
    by_grandparent: Any
    weights: Any
    chart: Any


# All parts are products of one form, without branches: an array that is handed over along one branch of several costs
# more than a part. `places` says which: (x, i, s, y, a, b, c, d, e, u, v, w) is chart[x, i, k, s] times
# chart[y, a + b k, c + d k, e] times siblings[u, v, w k]. Number 0 of weights is 1, where a kind has no such factor.


@walker.total.register(SecondOrder)
def _total(grammar, item):
    return get(grammar.chart, (item[0], item[1], item[2], item[3]))


@walker.rows.register(SecondOrder)
def _rows(grammar, item):
    return 2 if item[0] == ARC else 1  # without a sibling, and with one


@walker.places.register(SecondOrder)
def _places(grammar, item, row):
    kind, i, j, above = item[0], item[1], item[2], item[3]
    head, step = i if grammar.by_grandparent else 0, 1 if i < j else -1
    distance = abs(j - i)
    arc, first, stop = (0, 0, 0), 0, distance
    if kind == COMPLETE:
        first, stop, factors = 1, distance + 1, (ARC, i, above, COMPLETE, 0, 1, j, 0, head, 0, 0, 0)
    elif kind == PAIR:
        factors = COMPLETE, i, above, COMPLETE, j, 0, 1, 1, above, 0, 0, 0
    elif row == 0:
        arc, stop, factors = (i, j, above), 1, (COMPLETE, i, above, COMPLETE, j, 0, i + step, 0, head, i, j, 1)
    else:
        arc, first, stop = (i, j, above), 1, 1 if grammar.single_root and i == 0 else distance
        factors = (ARC, i, above, PAIR, 0, 1, j, 0, head, i, j, 1)
        if i > j:
            factors = (ARC, i, above, PAIR, j, 0, 0, 1, head, i, j, 1)
    return first, stop, (factors, step, get(grammar.weights.arcs, arc))


@walker.part.register(SecondOrder)
def _part(grammar, at, place):
    x, i, s, y, a, b, c, d, e, u, v, w = at[0]
    k = i + at[1] * np.int64(place)
    first, second = (x, i, U64(k), s), (y, U64(a + b * k), U64(c + d * k), e)
    factor = multiply(get(grammar.weights.siblings, (u, v, U64(w * k))), get(grammar.chart, second))
    return multiply(multiply(get(grammar.chart, first), factor), at[2])


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
