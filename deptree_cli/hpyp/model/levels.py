"""The levels of a parser's processes in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deptree_cli.hpyp.model.trained import Trained


@dataclass(frozen=True)
class Level:
    """The restaurants of a process whose contexts have one length.

    Attributes:
        process: `action`, `tag` or `word`.
        level: how many elements contexts have.
        context: the element that is added to those of the level before; empty for level 0.
        restaurants: how many have customers.
        customers, tables: of all of them.
        entries: how many dishes are served, counted in each restaurant.
        discount, strength: of the level.
    """

    process: str
    level: int
    context: str
    restaurants: int
    customers: int
    tables: int
    entries: int
    discount: float
    strength: float


def levels(trained: Trained) -> Iterator[Level]:
    """The levels of all processes, from the empty context on."""
    for name, process in zip(trained.symbols.names, trained.processes, strict=True):
        of_entries = process.levels[process.places]
        served = np.bincount(of_entries[process.served > 0], minlength=len(process.discounts))
        for level, element in enumerate(["", *getattr(trained.symbols.contexts, name)]):
            own = process.levels == level
            yield Level(
                name,
                level,
                element,
                int((process.customers[own] > 0).sum()),
                int(process.customers[own].sum()),
                int(process.tables[own].sum()),
                int(served[level]),
                float(process.discounts[level]),
                float(process.strengths[level]),
            )
