"""A process at rest: who sits where, in arrays that are small and say all."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Array, Float, Int
from deptree_cli.kernels.hpyp.restaurants import BITS, NONE

Int32 = NDArray[np.int32]


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

    @property
    def base(self) -> float:
        """The probability of every dish before there are customers."""
        return 1.0 / self.choices

    @cached_property
    def levels(self) -> Int:
        """The level of every node, the root's being 0."""
        levels = np.zeros(len(self.parents), dtype=np.int64)
        below = np.flatnonzero(self.parents == 0)
        level = 1
        known = np.zeros(len(self.parents), dtype=np.bool_)
        while below.size:
            levels[below] = level
            known[:] = False
            known[below] = True
            below = np.flatnonzero((self.parents >= 0) & known[self.parents])
            level += 1
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
        return _keys(self.parents[1:], self.symbols[1:])

    @property
    def entry_keys(self) -> Int:
        """The keys of entries in hash tables."""
        return _keys(self.places, self.dishes)

    def _by_node(self, counts: Int32) -> Int:
        return np.bincount(self.places, counts, len(self.parents)).astype(np.int64)

    def is_sound(self, dishes: int) -> bool:
        """Whether every number is in its range, dishes being below a number: kernels would not look."""
        nodes, entries = len(self.parents), len(self.places)
        lengths = {nodes: [self.symbols], entries: [self.dishes, self.seated, self.served]}
        if any(len(array) != length for length, arrays in lengths.items() for array in arrays):
            return False
        if not nodes or self.parents[0] != NONE or len(self.sizes) != len(self.counts):
            return False
        several = np.where(self.served > 1, self.served, 0)
        return bool(
            ((self.parents[1:] >= 0) & (self.parents[1:] < np.arange(1, nodes))).all()
            and ((self.symbols[1:] >= 0) & (self.symbols[1:] < 1 << BITS)).all()
            and ((self.places >= 0) & (self.places < nodes) & (self.dishes >= 0) & (self.dishes < dishes)).all()
            and ((self.served >= 0) & (self.served <= self.seated) & ((self.served > 0) | (self.seated == 0))).all()
            and ((self.sizes > 0) & (self.counts > 0)).all()
            and self.counts.sum() == several.sum()
            and (self.levels < len(self.discounts)).all()
            and ((self.discounts > 0) & (self.discounts < 1) & (self.strengths > -self.discounts)).all()
        )

    def arrays(self) -> dict[str, Array]:
        """All of it by name."""
        return {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}


def _keys(numbers: Int32, symbols: Int32) -> Int:
    return (numbers.astype(np.int64) << BITS) | symbols


def parts_of(keys: Int) -> tuple[Int32, Int32]:
    """The numbers and symbols of keys."""
    return (keys >> BITS).astype(np.int32), (keys & ((1 << BITS) - 1)).astype(np.int32)
