"""Expectations of dynamic programs that are too large to sum, by randomized pruning.

Bouchard-Cote, Petrov and Klein 2009, Randomized Pruning.

- `Program`, `CellProgram`: a dynamic program of your own.
- `expectations`: the expectations of its features, by one of `METHODS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deptree_cli.lazy import lazy_names

if TYPE_CHECKING:
    from deptree_cli.pruning.methods import METHODS, expectations
    from deptree_cli.pruning.program import CellProgram, Program

__all__ = ["METHODS", "CellProgram", "Program", "expectations"]

__getattr__, __dir__ = lazy_names(
    __name__, {"CellProgram": "program", "METHODS": "methods", "Program": "program", "expectations": "methods"}
)
