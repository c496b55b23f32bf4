"""Restaurants of kernels for a few events, and what is in them in the terms of the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deptree_cli.hpyp.kernels import restaurants as kernel
from deptree_cli.hpyp.kernels.restaurants import NONE, Paths, Restaurants
from deptree_cli.hpyp.model import process as model
from tests.hpyp.model.reference_hpyp import Context, Event, Franchise, Seating, Sizes


def prefixes_of(restaurants: Restaurants) -> dict[int, Context]:
    """The contexts of all nodes, found from the children of each."""
    parents = {
        int(child): (int(key) >> kernel.BITS, int(key) & ((1 << kernel.BITS) - 1))
        for key, child in restaurants.children
        if key != NONE
    }
    found: dict[int, Context] = {0: ()}
    for node in sorted(parents):  # children are made after their parents
        parent, symbol = parents[node]
        found[node] = (*found[parent], symbol)
    return found


def sizes_of(restaurants: Restaurants, entry: int) -> Sizes:
    """The sizes of the tables of a dish, in falling order."""
    _, _, customers, tables, at = restaurants.entries[entry].tolist()
    if tables < 2:
        assert at == NONE
        return (customers,) * tables
    found: list[int] = []
    while at != NONE:
        size, count, at = restaurants.bins[at].tolist()
        found += [size] * count
    assert (sum(found), len(found)) == (customers, tables)
    return tuple(sorted(found, reverse=True))


def seating_of(restaurants: Restaurants) -> Seating:
    """The tables of each restaurant and dish; sums of customers and tables must be what the node says."""
    found: list[tuple[Event, Sizes]] = []
    for node, prefix in prefixes_of(restaurants).items():
        customers, tables, entry, level = restaurants.nodes[node].tolist()
        assert level == len(prefix)
        here = []
        while entry != NONE:
            here.append(((prefix, int(restaurants.entries[entry, kernel.DISH])), sizes_of(restaurants, entry)))
            entry = int(restaurants.entries[entry, kernel.NEXT])
        assert (sum(sum(sizes) for _, sizes in here), sum(len(sizes) for _, sizes in here)) == (customers, tables)
        found += [(event, sizes) for event, sizes in here if sizes]
    return tuple(sorted(found))


def franchise_of(restaurants: Restaurants) -> Franchise:
    """The same seating in a reference."""
    hyper = restaurants.discounts.tolist(), restaurants.strengths.tolist()
    choices = round(1 / restaurants.base[0])
    return Franchise.seated(choices, *hyper, seating_of(restaurants))


class Process:
    """The restaurants of some events, looked up and nobody seated, with room for all their tables.

    Attributes:
        restaurants: what kernels work on.
        nodes, entries: (events, levels) int32, the events' paths.
        prefixes: the context of each node.
    """

    def __init__(
        self, vocabulary: int, discounts: Sequence[float], strengths: Sequence[float], events: Sequence[Event]
    ) -> None:
        process, self.events = model.Process(len(discounts) - 1, vocabulary), list(events)
        process.restaurants.discounts[:], process.restaurants.strengths[:] = discounts, strengths
        contexts = np.array([context for context, _ in events], dtype=np.int32)
        paths = process.index(contexts, np.array([dish for _, dish in events], dtype=np.int32))
        process.make_room(bins=4096)
        self.restaurants, self.nodes, self.entries = process.restaurants, paths.nodes, paths.entries
        self.prefixes = prefixes_of(self.restaurants)

    def add(self, event: int, state: NDArray[np.uint64]) -> float:
        """Seat the customer of an event."""
        return float(kernel.add(self.restaurants, self.nodes[event], self.entries[event], state))

    def remove(self, event: int, state: NDArray[np.uint64]) -> None:
        """Send the customer of an event away."""
        kernel.remove(self.restaurants, self.nodes[event], self.entries[event], state)

    def seating(self) -> Seating:
        """The tables of each restaurant and dish."""
        return seating_of(self.restaurants)

    def franchise(self, seated: Sequence[int] | None = None) -> Franchise:
        """The same seating in a reference, which checks that it fits the events (numbers; all if None)."""
        franchise = franchise_of(self.restaurants)
        numbers = range(len(self.events)) if seated is None else seated
        franchise.events = Counter(self.events[number] for number in numbers)
        franchise.check()
        return franchise

    def sweep(self, times: int, state: NDArray[np.uint64]) -> None:
        """Resample the customers so many times, as training does: all are events of the same sentence."""
        self._sweep(times, True, state)

    def seat_all(self, state: NDArray[np.uint64]) -> None:
        """Seat the customers of all events, in their order."""
        self._sweep(1, False, state)

    def _sweep(self, times: int, seated: bool, state: NDArray[np.uint64]) -> None:
        cuts, order = np.array([0, len(self.events)]), np.zeros(times, dtype=np.int64)
        paths = Paths(self.nodes, self.entries)
        kernel.sweep(self.restaurants, paths, cuts, order, seated, kernel.NOBODY, 0.0, state)

    def bins_in_use(self) -> int:
        """How many bins hold tables, over all entries."""
        used = int(self.restaurants.used[kernel.ENTRIES])
        return sum(len(set(sizes)) for entry in range(used) if len(sizes := sizes_of(self.restaurants, entry)) > 1)

    def free_bins(self) -> int:
        """How many bins wait to be used again."""
        at, count = int(self.restaurants.used[kernel.FREE]), 0
        while at != NONE:
            at, count = int(self.restaurants.bins[at, kernel.NEXT_BIN]), count + 1
        return count


def random_events(number: int, levels: int, symbols: int, vocabulary: int, seed: int) -> list[Event]:
    """Events with contexts of levels - 1 symbols from 0 on; small numbers are frequent."""
    rng = np.random.default_rng(seed)

    def draw(size: int) -> int:
        return int(size * rng.random() ** 2)

    return [(tuple(draw(symbols) for _ in range(levels - 1)), draw(vocabulary)) for _ in range(number)]
