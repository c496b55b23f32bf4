"""Memory for the cells of a partition tree, and trees from inside a cell by elimination."""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.numbers import SAFE_LOG, WIDE, Kind
from deptree_cli.core.spaces.elimination import Elimination, Tables
from deptree_cli.kernels.distinct import cell_sampler as kernel
from deptree_cli.kernels.distinct.cells import Cells
from deptree_cli.kernels.distinct.partition_tree import CELL, CHOICE, KNOWN_CELL, KNOWN_CHOICE
from deptree_cli.kernels.elimination.panels import WIDTH

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


def cell_factors(n: int, kind: Kind) -> Any:
    """Memory for the factors of a cell of a sentence of n words."""
    square = n + 1, n + 1
    return kernel.Factors(*(kind.zeros(shape) for shape in (square, n + 1, square, square, (3, WIDTH, n + 1))))


class Inside:
    """Trees of undivided cells by elimination: the sentence's own factors, or those of the last cell with heads."""

    def __init__(self, whole: Elimination, weights: Any, kind: Kind, top: Float) -> None:
        self.shifted = whole.shifted
        self._whole, self._weights, self._kind, self._top = whole, weights, kind, top
        self._tables: Tables | None = None
        self._factors: dict[Kind, Any] = {}
        self._in_use = kind
        self._cell = np.empty((kernel.ROWS, whole.n + 1), dtype=np.int64)

    def draw(self, at: Int, work: Any, state: Any) -> None:
        """Put a tree of the cell that `at` and `work` name into work.row."""
        root = int(work.choices[0])
        if at[CELL] == 0 and self._reaches(root):
            self._tables = self._tables or Tables(self._whole)
            self._tables.draw(np.array([root]), state, work.row[None])
            return
        if (at[KNOWN_CELL], at[KNOWN_CHOICE]) != (at[CELL], at[CHOICE]):
            self._factorise(root, work.fixed)
            at[KNOWN_CELL], at[KNOWN_CHOICE] = at[CELL], at[CHOICE]
        weights, factors = self._given(self._in_use)
        kernel.draw_from(weights, root, work.fixed, self._cell, factors, state, work.row)

    def _reaches(self, root: int) -> bool:
        """Whether the sentence's factors do for trees that hang on a node: unless it is hardly ever the root."""
        if self._whole.is_wide or root == 0:
            return True
        return bool(self._top[root] - self.shifted.log_weights[0, root] > SAFE_LOG)

    def _factorise(self, root: int, heads: Int) -> None:
        self._in_use = self._kind
        weights, factors = self._given(self._in_use)
        if kernel.factorise_cell(weights, root, heads, self._cell, factors) < SAFE_LOG and self._kind is not WIDE:
            self._in_use = WIDE
            weights, factors = self._given(WIDE)
            kernel.factorise_cell(weights, root, heads, self._cell, factors)

    def _given(self, kind: Kind) -> Any:
        """Weights, and room for a cell's factors."""
        if kind not in self._factors:
            n = self._whole.n
            weights = self._weights if kind is self._kind else kind.exp(self.shifted.log_weights)
            self._factors[kind] = weights, cell_factors(n, kind)
        return self._factors[kind]
