"""What processes at rest predict: their tables for `hpyp/kernels/predictions.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Float, Int
from deptree_cli.hpyp.kernels.columns import ROOT_SYMBOL
from deptree_cli.hpyp.kernels.predictions import Predictions, write_out
from deptree_cli.hpyp.kernels.restaurants import NONE
from deptree_cli.hpyp.model.snapshot import Snapshot, keys_of
from deptree_cli.hpyp.model.tables import table_of

# Restaurants with so many dishes have the probabilities of all written out, as long as these are not too many numbers.
MANY = 8
MOST = 1 << 21


def predictions(processes: Sequence[Snapshot], dishes: Sequence[int]) -> tuple[Predictions, Int]:
    """The tables of processes with dishes below a number each, and the root of each in them.

    Restaurants without customers are left out. Where a process has one dish less to choose from, that is the root's
    symbol, which is never served.
    """
    roots = _starts([len(process.parents) for process in processes])
    pairs = list(zip(processes, roots.tolist(), strict=False))
    parents = _joined(np.where(process.parents < 0, NONE, process.parents + root) for process, root in pairs)
    places = _joined(process.places + root for process, root in pairs)
    symbols, served = _joined(p.symbols for p in processes), _joined(p.dishes for p in processes)
    occupied, factors, masses = _shares(processes, places)
    order = np.argsort(places, kind="stable")
    order = order[_joined(process.seated for process in processes)[order] > 0]
    sizes = np.bincount(places[order], minlength=len(parents))
    chosen = [_written_out(sizes[root : root + len(p.parents)], n) for (p, root), n in zip(pairs, dishes, strict=True)]
    nodes = np.flatnonzero(occupied & (parents >= 0))
    rows, full = _rows(roots, chosen, dishes)
    found = Predictions(
        children=table_of(keys_of(parents[nodes], symbols[nodes]), nodes),
        served=table_of(keys_of(places[order], served[order]), np.arange(len(order))),
        factors=factors,
        starts=_starts(sizes).astype(np.int32),
        dishes=served[order],
        masses=masses[order],
        rows=rows,
        full=full,
    )
    for (process, root), number, many in zip(pairs, dishes, chosen, strict=True):
        write_out(found, root + many, parents[root + many], _base(process, number))
    return found, roots[:-1]


def _shares(processes: Sequence[Snapshot], places: Int) -> tuple[Bool, Float, Float]:
    """Whether every node has customers; f of every node; m of every entry."""
    discounts = _joined(process.discounts[process.levels] for process in processes)
    strengths = _joined(process.strengths[process.levels] for process in processes)
    customers, tables = _joined(p.customers for p in processes), _joined(p.tables for p in processes)
    seated, served = _joined(p.seated for p in processes), _joined(p.served for p in processes)
    occupied = customers > 0
    total = np.where(occupied, strengths + customers, 1.0)
    factors = np.where(occupied, strengths + discounts * tables, 1.0) / total
    return occupied, factors, (seated - discounts[places] * served) / total[places]


def _written_out(sizes: Int, dishes: int) -> Int:
    """The nodes with so many dishes that all probabilities are written out, parents before children: the root first.

    No node has dishes that its parent has not, so a node that is chosen has a parent that is.
    """
    many = MANY
    while (sizes >= many).sum() * dishes > MOST and many < dishes:
        many *= 2
    return np.union1d([0], np.flatnonzero(sizes >= many)) if many < dishes else np.zeros(1, dtype=np.int64)


def _rows(roots: Int, chosen: Sequence[Int], dishes: Sequence[int]) -> tuple[Array, Float]:
    """Where the probabilities of every node are written out, and room for them."""
    rows = np.full(roots[-1], NONE, dtype=np.int32)
    starts = _starts([len(nodes) * number for nodes, number in zip(chosen, dishes, strict=True)])
    for root, nodes, number, start in zip(roots[:-1], chosen, dishes, starts[:-1], strict=True):
        rows[root + nodes] = start + number * np.arange(len(nodes))
    return rows, np.empty(starts[-1])


def _base(process: Snapshot, dishes: int) -> Float:
    """The probabilities of dishes before there are customers."""
    base = np.full(dishes, 1.0 / process.choices)
    if dishes > process.choices:
        base[ROOT_SYMBOL] = 0.0
    return base


def _starts(sizes: Iterable[int] | Int) -> Int:
    """Where pieces of these sizes begin when laid end to end, and where the last ends."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


def _joined(arrays: Iterable[Array]) -> Array:
    return np.concatenate(list(arrays))
