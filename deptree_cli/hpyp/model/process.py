"""Pitman-Yor processes while they are trained, at rest, and as predictors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Array, Float, Int
from deptree_cli.hpyp.kernels import restaurants as kernel
from deptree_cli.hpyp.kernels.columns import ROOT_SYMBOL
from deptree_cli.hpyp.kernels.restaurants import BITS, NOBODY, NONE, Paths, Predictions, Restaurants

# A process at rest: who sits where, in arrays that are small and say all.


Int32 = NDArray[np.int32]

# Over all levels; kernels count them in int32.
MOST_CUSTOMERS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The restaurants of a process, every array in the order in which things were made.

    Of every node: `parents`, `symbols` (N,) int32; the root comes first, and has the parent NONE. Of every entry: node
    (`places`), dish, customers (`seated`) and tables (`served`), (M,) int32. Tables of dishes that are served at
    several: this many (`counts`) of this size, (B,) int32. Discounts and strengths are (levels,). `choices` is how many
    dishes there are, equally likely at first.
    """

    parents: Int32
    symbols: Int32
    places: Int32
    dishes: Int32
    seated: Int32
    served: Int32
    sizes: Int32
    counts: Int32
    discounts: Float
    strengths: Float
    choices: int

    @cached_property
    def levels(self) -> Int:
        """The level of every node, the root's being 0; of nodes that are too deep, the number of levels."""
        levels = np.zeros(len(self.parents), dtype=np.int64)
        above = self.parents
        for _ in range(len(self.discounts)):
            levels += above >= 0
            above = np.where(above >= 0, self.parents[above], NONE)
        return levels

    @cached_property
    def customers(self) -> Int:
        return np.bincount(self.places, self.seated, len(self.parents)).astype(np.int64)

    @cached_property
    def tables(self) -> Int:
        return np.bincount(self.places, self.served, len(self.parents)).astype(np.int64)

    @property
    def node_keys(self) -> Int:
        return keys_of(self.parents[1:], self.symbols[1:])

    @property
    def entry_keys(self) -> Int:
        return keys_of(self.places, self.dishes)

    def is_sound(self, dishes: int) -> bool:
        """Whether every number is in its range, dishes being below a number: kernels would not look.

        Whether the tables of a restaurant are customers in the one above, which they rely on when customers leave, is
        another matter (`hpyp/model/training.py`).
        """
        groups: list[tuple[Array, ...]] = [
            (self.parents, self.symbols),
            (self.places, self.dishes, self.seated, self.served),
            (self.sizes, self.counts),
            (self.discounts, self.strengths),
        ]
        flat = all(array.ndim == 1 and array.shape == group[0].shape for group in groups for array in group)
        if not flat or not len(self.parents):
            return False
        parents, symbols, nodes = self.parents[1:], self.symbols[1:], len(self.parents)
        return bool(
            self.parents[0] == NONE
            and ((parents >= 0) & (parents < np.arange(1, nodes))).all()
            and ((symbols >= 0) & (symbols < 1 << BITS)).all()
            and (self.levels < len(self.discounts)).all()
            and len(np.unique(self.node_keys)) == nodes - 1
            and ((self.places >= 0) & (self.places < nodes)).all()
            and ((self.dishes >= 0) & (self.dishes < dishes)).all()
            and ((self.served >= 0) & (self.served <= self.seated) & ((self.served > 0) | (self.seated == 0))).all()
            and self.seated.sum(dtype=np.int64) <= MOST_CUSTOMERS
            and len(np.unique(self.entry_keys)) == len(self.places)
            and self._has_sound_tables()
            and np.isfinite(self.strengths).all()
            and ((self.discounts > 0) & (self.discounts < 1) & (self.strengths > -self.discounts)).all()
        )

    def _has_sound_tables(self) -> bool:
        """Whether the bins of every dish that is served at several tables have as many tables, and its customers."""
        if not ((self.sizes > 0) & (self.counts > 0)).all():
            return False
        several = self.served > 1
        tables = np.cumsum(self.counts, dtype=np.int64)
        customers = np.cumsum(self.sizes.astype(np.int64) * self.counts)
        ends = np.searchsorted(tables, np.cumsum(self.served[several], dtype=np.int64))
        if not several.any():
            return not len(tables)
        return bool(
            ends[-1] == len(tables) - 1
            and np.array_equal(np.diff(tables[ends], prepend=0), self.served[several])
            and np.array_equal(np.diff(customers[ends], prepend=0), self.seated[several])
        )

    def arrays(self) -> dict[str, Array]:
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}


def keys_of(numbers: Int32, symbols: Int32) -> Int:
    return (numbers.astype(np.int64) << BITS) | symbols


# Hash tables of the right size (`hpyp/kernels/restaurants.py`).


# The share of a table that may be in use, and the fewest slots.
LOAD, FEWEST = 0.6, 1024


def table_of(keys: Int, values: Int, size: int = 0) -> Int:
    """A table with these keys and values, and room for this many in all."""
    slots = FEWEST
    while slots * LOAD < max(size, len(keys)):
        slots *= 2
    table = np.full((slots, 2), kernel.EMPTY, dtype=np.int64)
    kernel.fill(table, keys, values)
    return table


def entries_of(table: Int) -> Int:
    """The keys in a table and their values, (2, keys)."""
    return np.ascontiguousarray(table[table[:, 0] != kernel.EMPTY].T)


# One hierarchical Pitman-Yor process: its restaurants, with room that grows, and the events seated in them.


# Events that are looked up, and sentences whose events are seated, at once: there is room for all that they may add.
EVENTS, SENTENCES = 4096, 256

# The initial value of every discount and strength.
DISCOUNT, STRENGTH = 0.8, 0.0


class Process:
    """A process over `dishes` equally likely dishes, with contexts of `length` symbols; it changes as customers come.

    Its `restaurants` (`hpyp/kernels/restaurants.py`) are replaced by larger arrays when there is no more room.
    """

    def __init__(self, length: int, dishes: int) -> None:
        nothing = np.empty(0, dtype=np.int64)
        self.restaurants = Restaurants(
            nodes=np.array([[0, 0, NONE, 0]], dtype=np.int32),
            entries=np.empty((0, 5), dtype=np.int32),
            bins=np.empty((0, 3), dtype=np.int32),
            children=table_of(nothing, nothing),
            served=table_of(nothing, nothing),
            used=np.array([1, 0, 0, NONE], dtype=np.int64),
            discounts=np.full(length + 1, DISCOUNT),
            strengths=np.full(length + 1, STRENGTH),
            base=np.array([1.0 / dishes]),
        )

    @classmethod
    def restored(cls, at_rest: Snapshot) -> Process:
        """The process that a snapshot was taken of; from here on both go the same ways."""
        process = cls(len(at_rest.discounts) - 1, at_rest.choices)
        places, count, several = at_rest.places, len(at_rest.places), at_rest.served > 1
        first, after, bin_of = (np.full(size, NONE) for size in (len(at_rest.parents), count, count))
        # Entries are linked to their nodes newest first, as they were made, and bins to their entries.
        order, is_last = np.argsort(places, kind="stable"), np.ones(count, dtype=np.bool_)
        is_last[:-1] = np.diff(places[order]) > 0
        first[places[order[is_last]]] = order[is_last]
        after[order[1:]] = np.where(is_last[:-1], NONE, order[:-1])
        next_bin = np.arange(1, len(at_rest.sizes) + 1)
        ends = np.searchsorted(np.cumsum(at_rest.counts), np.cumsum(at_rest.served[several]))
        next_bin[ends], bin_of[several] = NONE, _starts(np.diff(ends, prepend=-1))[:-1]
        nodes = np.column_stack([at_rest.customers, at_rest.tables, first, at_rest.levels]).astype(np.int32)
        entries = np.column_stack([at_rest.dishes, after, at_rest.seated, at_rest.served, bin_of]).astype(np.int32)
        bins = np.column_stack([at_rest.sizes, at_rest.counts, next_bin]).astype(np.int32)
        process.restaurants = process.restaurants._replace(
            nodes=nodes,
            entries=entries,
            bins=bins,
            children=table_of(at_rest.node_keys, np.arange(1, len(nodes))),
            served=table_of(at_rest.entry_keys, np.arange(count)),
            used=np.array([len(nodes), len(entries), len(bins), NONE], dtype=np.int64),
            discounts=at_rest.discounts.copy(),
            strengths=at_rest.strengths.copy(),
        )
        return process

    def at_rest(self) -> Snapshot:
        now = self.restaurants
        nodes, entries = int(now.used[kernel.NODES]), int(now.used[kernel.ENTRIES])
        node_keys, entry_keys = np.full(nodes, -1, dtype=np.int64), np.empty(entries, dtype=np.int64)
        for table, keys in (now.children, node_keys), (now.served, entry_keys):
            found, numbers = entries_of(table)
            keys[numbers] = found
        sizes, counts = np.empty((2, now.used[kernel.BINS]), dtype=np.int32)
        written = kernel.write_bins(now, sizes, counts)
        return Snapshot(
            parents=(node_keys >> BITS).astype(np.int32),
            symbols=(node_keys & ((1 << BITS) - 1)).astype(np.int32),
            places=(entry_keys >> BITS).astype(np.int32),
            dishes=(entry_keys & ((1 << BITS) - 1)).astype(np.int32),
            seated=now.entries[:entries, kernel.SEATED].copy(),
            served=now.entries[:entries, kernel.SERVED].copy(),
            sizes=sizes[:written].copy(),
            counts=counts[:written].copy(),
            discounts=now.discounts.copy(),
            strengths=now.strengths.copy(),
            choices=round(1.0 / now.base[0]),
        )

    @property
    def levels(self) -> int:
        return len(self.restaurants.discounts)

    def make_room(self, nodes: int = 0, entries: int = 0, bins: int = 0) -> None:
        """Have room for this many nodes, entries and bins more, and some to spare."""

        def longer(array: Any, used: int, more: int) -> Any:
            """Has half as many rows again, and twice the room, if the array has to be copied."""
            if used + more <= len(array):
                return array
            larger = np.empty((int(1.5 * used) + 2 * more, array.shape[1]), dtype=array.dtype)
            larger[:used] = array[:used]
            return larger

        def for_all(table: Int, size: int) -> Int:
            if len(table) * LOAD >= size:
                return table
            keys, values = entries_of(table)
            return table_of(keys, values, size)

        now, used = self.restaurants, self.restaurants.used
        rows, more = longer(now.nodes, used[kernel.NODES], nodes), longer(now.entries, used[kernel.ENTRIES], entries)
        self.restaurants = now._replace(
            nodes=rows,
            entries=more,
            bins=longer(now.bins, used[kernel.BINS], bins),
            children=for_all(now.children, len(rows)),
            served=for_all(now.served, len(more)),
        )

    def index(self, contexts: Int32, dishes: Int32) -> Paths:
        """Look up the paths of events: contexts (events, length), dishes (events,). Nobody is seated yet.

        Events of similar contexts become neighbours in memory: they are sorted first.
        """
        order = np.lexsort(contexts.T[::-1]) if contexts.shape[1] else np.arange(len(contexts))
        shape = len(contexts), self.levels
        paths = Paths(np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32))
        for start in range(0, len(order), EVENTS):
            some = order[start : start + EVENTS]
            self.make_room(self.levels * len(some), self.levels * len(some))
            kernel.index(self.restaurants, contexts, dishes, some, paths)
        return paths

    def sweep(
        self, paths: Paths, cuts: Int, order: Int, seated: bool, state: NDArray[np.uint64], old: Paths = NOBODY
    ) -> float:
        """Seat the events of sentences anew, in this order (see the kernel); return their log-probability.

        `seated`: they are seated already. `old`: other events of these sentences, which leave.
        """
        log_prob = 0.0
        for start in range(0, len(order), SENTENCES):
            some = order[start : start + SENTENCES]
            self.make_room(bins=2 * self.levels * int((cuts[some + 1] - cuts[some]).sum()))
            log_prob = kernel.sweep(self.restaurants, paths, cuts, some, seated, old, log_prob, state)
        return log_prob


# What processes at rest predict: their tables for `hpyp/kernels/restaurants.py`.


# Restaurants with this many dishes have all probabilities written out, as long as these are not too many numbers.
MANY = 8
MOST = 1 << 21


def predictions(processes: Sequence[Snapshot], dishes: Sequence[int]) -> tuple[Predictions, Int]:
    """The tables of processes with dishes below a number each, and the root of each in them.

    Restaurants without customers are left out. If a process has one dish less to choose from, that is the root's
    symbol, which is never served.
    """
    roots = _starts([len(process.parents) for process in processes])
    pairs = list(zip(processes, roots.tolist(), strict=False))
    parents = _joined(np.where(process.parents < 0, NONE, process.parents + root) for process, root in pairs)
    places = _joined(process.places + root for process, root in pairs)
    symbols, served = _joined(p.symbols for p in processes), _joined(p.dishes for p in processes)
    discounts = _joined(process.discounts[process.levels] for process in processes)
    strengths = _joined(process.strengths[process.levels] for process in processes)
    customers, tables = _joined(p.customers for p in processes), _joined(p.tables for p in processes)
    seated, at_tables = _joined(p.seated for p in processes), _joined(p.served for p in processes)
    occupied = customers > 0
    total = np.where(occupied, strengths + customers, 1.0)
    order = np.argsort(places, kind="stable")
    order = order[seated[order] > 0]
    sizes = np.bincount(places[order], minlength=len(parents))
    chosen = [_written_out(sizes[root : root + len(p.parents)], n) for (p, root), n in zip(pairs, dishes, strict=True)]
    starts = _starts([len(many) * number for many, number in zip(chosen, dishes, strict=True)])
    rows = np.full(len(parents), NONE, dtype=np.int32)
    for root, many, number, start in zip(roots[:-1], chosen, dishes, starts[:-1], strict=True):
        rows[root + many] = start + number * np.arange(len(many))
    nodes = np.flatnonzero(occupied & (parents >= 0))
    found = Predictions(
        children=table_of(keys_of(parents[nodes], symbols[nodes]), nodes),
        served=table_of(keys_of(places[order], served[order]), np.arange(len(order))),
        factors=np.where(occupied, strengths + discounts * tables, 1.0) / total,
        starts=_starts(sizes).astype(np.int32),
        dishes=served[order],
        masses=((seated - discounts[places] * at_tables) / total[places])[order],
        rows=rows,
        full=np.empty(starts[-1]),
    )
    for (process, root), number, many in zip(pairs, dishes, chosen, strict=True):
        base = np.full(number, 1.0 / process.choices)
        if number > process.choices:
            base[ROOT_SYMBOL] = 0.0
        for node in (root + many).tolist():  # parents come before children
            own, above = rows[node], rows[parents[node]] if parents[node] >= 0 else NONE
            probs, entries = found.full[own : own + number], slice(found.starts[node], found.starts[node + 1])
            probs[:] = found.factors[node] * (base if above == NONE else found.full[above : above + number])
            probs[found.dishes[entries]] += found.masses[entries]
    return found, roots[:-1]


def _written_out(sizes: Int, dishes: int) -> Int:
    """The nodes with this many dishes that all probabilities are written out, parents before children: the root first.

    No node has dishes that its parent has not, so a node that is chosen has a parent that is.
    """
    many = MANY
    while (sizes >= many).sum() * dishes > MOST and many < dishes:
        many *= 2
    return np.union1d([0], np.flatnonzero(sizes >= many)) if many < dishes else np.zeros(1, dtype=np.int64)


def _starts(sizes: Iterable[int] | Int) -> Int:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


def _joined(arrays: Iterable[Array]) -> Array:
    return np.concatenate(list(arrays))
