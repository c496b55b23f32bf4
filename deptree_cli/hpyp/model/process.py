"""One hierarchical Pitman-Yor process: its restaurants, with room that grows, and the events seated in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Int
from deptree_cli.hpyp.kernels.restaurants import (
    BINS,
    CUSTOMERS,
    ENTRIES,
    FIRST,
    LEVEL,
    NODES,
    NONE,
    SEATED,
    SERVED,
    TABLES,
    Restaurants,
    link,
    write_bins,
)
from deptree_cli.hpyp.kernels.seating import NOBODY, index, sweep
from deptree_cli.hpyp.model.snapshot import Snapshot, parts_of
from deptree_cli.hpyp.model.tables import empty_table, entries_of, larger_table, table_of

Events32 = NDArray[np.int32]

# Events that are looked up, and sentences whose events are seated, at once: there is room for all that they may add.
EVENTS, SENTENCES = 4096, 256

# Where every discount and strength starts.
DISCOUNT, STRENGTH = 0.8, 0.0


@dataclass(frozen=True, eq=False)
class Paths:
    """Events that are looked up: the nodes and entries of each, (events, levels) int32."""

    nodes: Events32
    entries: Events32


class Process:
    """A process over `dishes` equally likely dishes, with contexts of `length` symbols; it changes as customers come.

    Attributes:
        restaurants: the arrays (`hpyp/kernels/restaurants.py`), replaced by larger ones when there is no more room.
    """

    def __init__(self, length: int, dishes: int) -> None:
        self.restaurants = Restaurants(
            nodes=np.array([[0, 0, NONE, 0]], dtype=np.int32),
            entries=np.empty((0, 5), dtype=np.int32),
            bins=np.empty((0, 3), dtype=np.int32),
            children=empty_table(0),
            served=empty_table(0),
            used=np.array([1, 0, 0, NONE], dtype=np.int64),
            discounts=np.full(length + 1, DISCOUNT),
            strengths=np.full(length + 1, STRENGTH),
            base=np.array([1.0 / dishes]),
        )

    @classmethod
    def restored(cls, at_rest: Snapshot) -> Process:
        """The process that a snapshot was taken of; from here on both go the same ways."""
        process = cls(len(at_rest.discounts) - 1, at_rest.choices)
        nodes = np.empty((len(at_rest.parents), 4), dtype=np.int32)
        nodes[:, CUSTOMERS], nodes[:, TABLES], nodes[:, FIRST] = at_rest.customers, at_rest.tables, NONE
        nodes[:, LEVEL] = at_rest.levels
        entries = np.empty((len(at_rest.places), 5), dtype=np.int32)
        entries[:, SEATED], entries[:, SERVED] = at_rest.seated, at_rest.served
        bins = np.empty((len(at_rest.sizes), 3), dtype=np.int32)
        link(at_rest.places, at_rest.dishes, at_rest.sizes, at_rest.counts, nodes, entries, bins)
        process.restaurants = process.restaurants._replace(
            nodes=nodes,
            entries=entries,
            bins=bins,
            children=table_of(at_rest.node_keys, np.arange(1, len(nodes))),
            served=table_of(at_rest.entry_keys, np.arange(len(entries))),
            used=np.array([len(nodes), len(entries), len(bins), NONE], dtype=np.int64),
            discounts=at_rest.discounts.copy(),
            strengths=at_rest.strengths.copy(),
        )
        return process

    def at_rest(self) -> Snapshot:
        """What the process is now."""
        now = self.restaurants
        nodes, entries = int(now.used[NODES]), int(now.used[ENTRIES])
        node_keys, entry_keys = np.full(nodes, -1, dtype=np.int64), np.empty(entries, dtype=np.int64)
        for table, keys in (now.children, node_keys), (now.served, entry_keys):
            found, numbers = entries_of(table)
            keys[numbers] = found
        none = np.empty(0, dtype=np.int32)
        sizes, counts = np.empty((2, write_bins(now, none, none)), dtype=np.int32)
        write_bins(now, sizes, counts)
        (parents, symbols), (places, dishes) = parts_of(node_keys), parts_of(entry_keys)
        return Snapshot(
            parents=parents,
            symbols=symbols,
            places=places,
            dishes=dishes,
            seated=now.entries[:entries, SEATED].copy(),
            served=now.entries[:entries, SERVED].copy(),
            sizes=sizes,
            counts=counts,
            discounts=now.discounts.copy(),
            strengths=now.strengths.copy(),
            choices=round(1.0 / now.base[0]),
        )

    @property
    def levels(self) -> int:
        """How many lengths of contexts there are, the empty one's included."""
        return len(self.restaurants.discounts)

    def make_room(self, nodes: int = 0, entries: int = 0, bins: int = 0) -> None:
        """Have room for so many nodes, entries and bins more, and some to spare."""
        now, used = self.restaurants, self.restaurants.used
        self.restaurants = now._replace(
            nodes=_longer(now.nodes, used[NODES], nodes),
            entries=_longer(now.entries, used[ENTRIES], entries),
            bins=_longer(now.bins, used[BINS], bins),
        )
        self.restaurants = self.restaurants._replace(
            children=larger_table(now.children, len(self.restaurants.nodes)),
            served=larger_table(now.served, len(self.restaurants.entries)),
        )

    def index(self, contexts: Events32, dishes: Events32) -> Paths:
        """Look up the paths of events: contexts (events, length), dishes (events,). Nobody is seated yet.

        Events of similar contexts become neighbours in memory: they are sorted first.
        """
        order = np.lexsort(contexts.T[::-1]) if contexts.shape[1] else np.arange(len(contexts))
        shape = len(contexts), self.levels
        paths = Paths(np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32))
        for start in range(0, len(order), EVENTS):
            some = order[start : start + EVENTS]
            self.make_room(self.levels * len(some), self.levels * len(some))
            index(self.restaurants, contexts, dishes, some, paths.nodes, paths.entries)
        return paths

    def sweep(
        self,
        paths: Paths,
        cuts: Int,
        order: Int,
        seated: bool,
        state: NDArray[np.uint64],
        old: Paths | None = None,
    ) -> float:
        """Seat the events of sentences anew, in this order (see the kernel); return their log-probability.

        Args:
            seated: whether they are seated already.
            old: other events of these sentences, which leave.
        """
        log_prob, leaving = 0.0, (old.nodes, old.entries) if old else NOBODY
        for start in range(0, len(order), SENTENCES):
            some = order[start : start + SENTENCES]
            self.make_room(bins=2 * self.levels * int((cuts[some + 1] - cuts[some]).sum()))
            log_prob = sweep(self.restaurants, paths.nodes, paths.entries, cuts, some, seated, leaving, log_prob, state)
        return log_prob


def _longer(array: Any, used: int, more: int) -> Any:
    """An array with room for so many rows more, half as many again, and twice the room, if it has to be copied."""
    if used + more <= len(array):
        return array
    larger = np.empty((int(1.5 * used) + 2 * more, array.shape[1]), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger
