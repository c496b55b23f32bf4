"""The levels of a parser's processes in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deptree_cli.hpyp.model.trained import Trained


def levels(trained: Trained) -> Iterator[dict[str, Any]]:
    """The levels of all processes, from the empty context on: the restaurants whose contexts have one length.

    Of each the process and how many elements contexts have (`level`); the element that is added to those of the level
    before (`context`); how many restaurants have customers, and all their customers, tables and dishes (`entries`).
    """
    for name, process in zip(trained.symbols.names, trained.processes, strict=True):
        of_entries = process.levels[process.places]
        served = np.bincount(of_entries[process.served > 0], minlength=len(process.discounts))
        for level, element in enumerate(["", *getattr(trained.symbols.contexts, name)]):
            own = process.levels == level
            yield {
                "process": name,
                "level": level,
                "context": element,
                "restaurants": int((process.customers[own] > 0).sum()),
                "customers": int(process.customers[own].sum()),
                "tables": int(process.tables[own].sum()),
                "entries": int(served[level]),
                "discount": float(process.discounts[level]),
                "strength": float(process.strengths[level]),
            }
