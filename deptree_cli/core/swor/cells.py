"""Memory for the cells of a partition tree, and trees from inside a cell by elimination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.numbers import Kind, in_range
from deptree_cli.core.spaces.nonprojective import Elimination, EliminationTables
from deptree_cli.kernels.distinct import cell_sampler as kernel
from deptree_cli.kernels.distinct.cells import Cells
from deptree_cli.kernels.distinct.partition_tree import Cursor
from deptree_cli.kernels.elimination.panels import WIDTH
from deptree_cli.kernels.numbers.operations import SAFE_LOG

# The weights of a sentence's arcs, in a kind of numbers.
Weights = Callable[[Kind], Any]

BY_CELL = ("share", "left", "total")  # those that hold numbers
OTHERS = ("below", "newest", "drawn", "above", "choice", "level", "log_prob", "spent")


def no_cells(capacity: int, size: int, n: int, kind: Kind) -> Any:
    """Memory for so many divided cells, none of them in use."""
    return Cells(
        used=np.zeros(1, dtype=np.int64),
        share=kind.zeros((capacity, n + 1)),
        left=kind.zeros((capacity, n + 1)),
        total=kind.zeros(capacity),
        below=np.empty((capacity, n + 1), dtype=np.int64),
        newest=np.empty((capacity, n + 1), dtype=np.int64),
        drawn=np.empty((capacity, n + 1)),
        above=np.empty(capacity, dtype=np.int64),
        choice=np.empty(capacity, dtype=np.int64),
        level=np.empty(capacity, dtype=np.int64),
        log_prob=np.empty(capacity),
        following=np.empty(size, dtype=np.int64),
        spent=np.empty((capacity, n + 1), dtype=np.int64),
        cancelled=np.empty((2 * size + 2, 2), dtype=np.int64),
        cancelled_count=np.zeros(1, dtype=np.int64),
        largest_cancelled=np.full(1, -np.inf),
    )


def more_cells(cells: Any, kind: Kind) -> Any:
    """The same cells with room for twice as many, and for all that one division makes."""
    by_cell = {name: kind.each(longer, getattr(cells, name)) for name in BY_CELL}
    return cells._replace(**by_cell, **{name: longer(getattr(cells, name)) for name in OTHERS})


def longer(array: Any) -> Any:
    """An array with room for twice as many rows, the new ones not filled."""
    capacity = 2 * len(array) + 2
    longer = np.empty((capacity, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def empty_factors(n: int, kind: Kind) -> Any:
    """Memory for the factors of a cell of a sentence of n words."""
    square = n + 1, n + 1
    return kernel.Factors(*(kind.zeros(shape) for shape in (square, n + 1, square, square, (3, WIDTH, n + 1))))


@dataclass(frozen=True, eq=False)
class CellFactors:
    """The factors of one cell: of the smaller graph in which words with heads are merged with what they hang on.

    Attributes:
        weights: of the sentence's arcs, in the kind of numbers that the cell needs.
        root, heads: the node that its trees hang on, and the heads (n+1,) that they share.
        cell, factors: as of `kernels/distinct/cell_sampler.py`.
    """

    weights: Any
    root: int
    heads: Int
    cell: Int
    factors: Any

    @classmethod
    def of(cls, weights: Weights, root: int, heads: Int, kind: Kind) -> CellFactors:
        """Factorise a cell, in wide numbers if this kind does not do."""
        return in_range(partial(cls._in, weights, root, heads), kind)

    @classmethod
    def _in(cls, weights: Weights, root: int, heads: Int, kind: Kind) -> tuple[CellFactors, bool]:
        n = len(heads) - 1
        found = cls(weights(kind), root, heads, np.empty((kernel.ROWS, n + 1), dtype=np.int64), empty_factors(n, kind))
        return found, kernel.factorise_cell(found.weights, root, heads, found.cell, found.factors)

    def draw(self, state: Any, row: Heads) -> None:
        """Fill row (n,) with a tree of the cell."""
        kernel.draw_from(self.weights, self.root, self.heads, self.cell, self.factors, state, row)


class CellSampler:
    """Trees of undivided cells by elimination: from the sentence's own factors, or those of the last cell with heads.

    Args:
        whole: the sentence's factorisation.
        kind: of the cells' numbers.
        top: log P(root), (n+1,).
    """

    def __init__(self, whole: Elimination, weights: Weights, kind: Kind, top: Float) -> None:
        self._whole, self._weights, self._kind, self._top = whole, weights, kind, top
        self._tables: EliminationTables | None = None
        self._factors: CellFactors | None = None

    def draw(self, cursor: Cursor, work: Any, state: Any) -> Cursor:
        """Put a tree of the cell that a cursor has come to, which `work` describes, into work.row."""
        needs, count, cell, choice, _, inside_cell, inside_choice, walks = cursor
        root = int(work.choices[0])
        if cell == 0 and self._reaches(root):
            self._tables = self._tables or EliminationTables(self._whole)
            self._tables.draw(np.array([root]), state, work.row[None])
            return Cursor(needs, count, cell, choice, True, inside_cell, inside_choice, walks)
        if self._factors is None or (inside_cell, inside_choice) != (cell, choice):
            self._factors = CellFactors.of(self._weights, root, work.fixed.copy(), self._kind)
        self._factors.draw(state, work.row)
        return Cursor(needs, count, cell, choice, True, cell, choice, walks)

    def _reaches(self, root: int) -> bool:
        """Whether the sentence's factors do for trees that hang on a node: unless it is hardly ever the root."""
        if self._whole.is_wide or root == 0:
            return True
        return bool(self._top[root] - self._whole.shifted.log_weights[0, root] > SAFE_LOG)
