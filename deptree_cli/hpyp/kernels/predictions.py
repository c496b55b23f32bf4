"""What processes predict once nobody comes or goes any more: tables from which probabilities are read off.

With f = (theta + d T) / (theta + C) of a restaurant and m = (c - d t) / (theta + C) of a dish in it, the recursion of
`restaurants.py` is p_l(k) = m + f p_{l-1}(k). Restaurants with many dishes have p_l written out for every dish.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from deptree_cli.hpyp.kernels.restaurants import NONE, find
from deptree_cli.kernels.flags import kernel


class Predictions(NamedTuple):
    """The tables of all processes of a parser together: a trie with a root for each.

    Attributes:
        children, served: hash tables as those of `Restaurants`.
        factors: (N,), f of every node.
        starts: (N + 1,) int32, where the entries of every node begin.
        dishes, masses: (M,) int32 and float64, dish and m of every entry.
        rows: (N,) int32, where the probabilities of a node's dishes are written out in `full`, or NONE. Those of roots
            are, and those of the parents of nodes whose are.
        full: all these probabilities, end to end.
    """

    children: Any
    served: Any
    factors: Any
    starts: Any
    dishes: Any
    masses: Any
    rows: Any
    full: Any


@kernel
def path_of(tables, root, context, path):
    """Walk from a root along a context while there are customers; return the level of the last node.

    path: (levels,) int64, written down to that level.
    """
    path[0] = root
    for level in range(context.shape[0]):
        node = find(tables.children, path[level], context[level])
        if node == NONE:
            return level
        path[level + 1] = node
    return context.shape[0]


@kernel
def predict_dishes(tables, root, context, path, probs):
    """Write the probability of every dish in a context into probs (dishes,); path: (levels,) int64, room to work."""
    factors, starts, dishes, masses, rows = tables.factors, tables.starts, tables.dishes, tables.masses, tables.rows
    deepest = path_of(tables, root, context, path)
    level, left = deepest, 1.0
    while rows[path[level]] == NONE:
        left *= factors[path[level]]
        level -= 1
    written_out = tables.full[rows[path[level]] :]
    for dish in range(probs.shape[0]):
        probs[dish] = left * written_out[dish]
    left = 1.0
    for below in range(deepest, level, -1):
        node = path[below]
        for entry in range(starts[node], starts[node + 1]):
            probs[dishes[entry]] += left * masses[entry]
        left *= factors[node]


@kernel
def predict_dish(tables, root, context, path, dish):
    """Return the probability of one dish in a context."""
    deepest = path_of(tables, root, context, path)
    return predict_below(tables, path, deepest, dish, tables.full[tables.rows[root] + dish])


@kernel
def predict_below(tables, path, deepest, dish, prob):
    """Return the probability of a dish at path[deepest], given that at path[0]."""
    for level in range(1, deepest + 1):
        node = path[level]
        prob *= tables.factors[node]
        entry = find(tables.served, node, dish)
        if entry != NONE:
            prob += tables.masses[entry]
    return prob


@kernel
def write_out(tables, nodes, parents, base):
    """Write the probabilities of all dishes out in `full`, for nodes that come behind their parents.

    parents: NONE for a root, whose dishes have the probabilities base (dishes,) before there are customers.
    """
    dishes = base.shape[0]
    for i in range(nodes.shape[0]):
        node = nodes[i]
        probs = tables.full[tables.rows[node] : tables.rows[node] + dishes]
        above = base
        if parents[i] != NONE:
            above = tables.full[tables.rows[parents[i]] : tables.rows[parents[i]] + dishes]
        for dish in range(dishes):
            probs[dish] = tables.factors[node] * above[dish]
        for entry in range(tables.starts[node], tables.starts[node + 1]):
            probs[tables.dishes[entry]] += tables.masses[entry]
