"""A process at rest: who sits where, in arrays that are small and say all."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Array, Float, Int
from deptree_cli.hpyp.kernels.restaurants import BITS, NONE

Int32 = NDArray[np.int32]

# Over all levels; kernels count them in int32.
MOST_CUSTOMERS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The restaurants of a process, every array in the order in which things were made.

    Attributes:
        parents, symbols: (N,) int32, of every node; the root comes first, and has the parent NONE.
        places, dishes, seated, served: (M,) int32, of every entry: its node and dish, customers and tables.
        sizes, counts: (B,) int32, tables of dishes that are served at several: so many of this size.
        discounts, strengths: (levels,).
        choices: how many dishes there are, each as likely before there are customers.
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
        """How many customers every node has."""
        return self._by_node(self.seated)

    @cached_property
    def tables(self) -> Int:
        """How many tables every node has."""
        return self._by_node(self.served)

    @property
    def node_keys(self) -> Int:
        """The keys of nodes but the root in hash tables."""
        return keys_of(self.parents[1:], self.symbols[1:])

    @property
    def entry_keys(self) -> Int:
        """The keys of entries in hash tables."""
        return keys_of(self.places, self.dishes)

    def _by_node(self, counts: Int32) -> Int:
        return np.bincount(self.places, counts, len(self.parents)).astype(np.int64)

    def is_sound(self, dishes: int) -> bool:
        """Whether every number is in its range, dishes being below a number: kernels would not look.

        Whether the tables of a restaurant are customers in the one above, which they rely on when customers leave, is
        another matter (`hpyp/model/resuming.py`).
        """
        return (
            self._has_right_shapes()
            and self._has_sound_nodes()
            and self._has_sound_entries(dishes)
            and self._has_sound_tables()
            and bool(np.isfinite(self.strengths).all())
            and bool(((self.discounts > 0) & (self.discounts < 1) & (self.strengths > -self.discounts)).all())
        )

    def _has_right_shapes(self) -> bool:
        groups: list[tuple[Array, ...]] = [
            (self.parents, self.symbols),
            (self.places, self.dishes, self.seated, self.served),
            (self.sizes, self.counts),
            (self.discounts, self.strengths),
        ]
        flat = all(array.ndim == 1 and array.shape == group[0].shape for group in groups for array in group)
        return flat and len(self.parents) > 0

    def _has_sound_nodes(self) -> bool:
        parents, symbols, nodes = self.parents[1:], self.symbols[1:], len(self.parents)
        return bool(
            self.parents[0] == NONE
            and ((parents >= 0) & (parents < np.arange(1, nodes))).all()
            and ((symbols >= 0) & (symbols < 1 << BITS)).all()
            and (self.levels < len(self.discounts)).all()
            and _are_distinct(self.node_keys)
        )

    def _has_sound_entries(self, dishes: int) -> bool:
        return bool(
            ((self.places >= 0) & (self.places < len(self.parents))).all()
            and ((self.dishes >= 0) & (self.dishes < dishes)).all()
            and ((self.served >= 0) & (self.served <= self.seated) & ((self.served > 0) | (self.seated == 0))).all()
            and self.seated.sum(dtype=np.int64) <= MOST_CUSTOMERS
            and _are_distinct(self.entry_keys)
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
        """All of it by name."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}


def _are_distinct(keys: Int) -> bool:
    """Whether no key is there twice."""
    keys = np.sort(keys)
    return bool((keys[1:] != keys[:-1]).all())


def keys_of(numbers: Int32, symbols: Int32) -> Int:
    """The keys of numbers of nodes with symbols in hash tables."""
    return (numbers.astype(np.int64) << BITS) | symbols


def parts_of(keys: Int) -> tuple[Int32, Int32]:
    """The numbers and symbols of keys."""
    return (keys >> BITS).astype(np.int32), (keys & ((1 << BITS) - 1)).astype(np.int32)
