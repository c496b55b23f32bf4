"""What `auto` chooses: distinct trees by what is left beside those drawn, in a tree that divides their space."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.conditionals import draw_trie, eisner_of, some_are_improbable, weights_in_range
from deptree_cli.core.numbers import REAL, WIDE, Kind, in_range
from deptree_cli.core.spaces import Eisner, EliminationTables, NonProjective, Projective, by_space, elimination_of
from deptree_cli.core.streams import kernel_state
from deptree_cli.core.swor import LEAST, Draws, clock_of
from deptree_cli.core.walks import alias_tables, path_tables
from deptree_cli.kernels import cells as kernel
from deptree_cli.kernels import derivations
from deptree_cli.kernels.cells import COUNT, Thresholds, hash_table
from deptree_cli.kernels.charts import LOG_LOST
from deptree_cli.kernels.elimination import WIDTH
from deptree_cli.kernels.head_path import NONE
from deptree_cli.kernels.operations import SAFE_LOG
from deptree_cli.kernels.walker import WIDTH as ITEM_WIDTH


def draw_auto(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`.

    Trees are drawn with replacement, repeats dropped, while that pays, and then from what is left: in float64, and once
    next to nothing is left, in wide numbers. So the last tree comes as surely as the first, however improbable.
    """
    drawing_of = by_space(DRAWINGS, distribution.space)
    if drawing_of is None:
        return draw_trie(distribution, size, rng, mass)
    clock, sums = clock_of(rng), distribution.factorisation
    heads, log_left, weights = np.empty((size, distribution.n), np.int32), np.empty(size + 1), sums.shifted.log_weights
    state, count = np.empty(4, np.uint64), 0
    drawn = kernel.Drawn(heads, np.empty(size), log_left, None, state, weights, sums.shifted_log_z)

    def fill(kind: Kind) -> tuple[int, bool]:
        nonlocal count
        drawing = drawing_of(distribution, kind, enlarged(drawn, count), count, 1.0 - mass, rng)
        while (needs := drawing.draw()) != kernel.DONE:
            drawing.provide(needs)
        count = int(drawing.cursor[COUNT])
        return count, not (log_left[count] <= drawing.rules.lowest and some_are_improbable(weights))

    in_range(fill, sums.kind if isinstance(sums, Eisner) else REAL)  # shares of cells need no wide numbers to begin
    return Draws.timed(heads[:count], distribution.tree_log_probs(heads[:count]), log_left[: count + 1], clock)


def enlarged(drawn: Any, count: int) -> Any:
    """The trees drawn, of which there are so many, with room for more in their hash table."""
    return drawn._replace(seen=hash_table(drawn.heads, count))


def longer(array: Any) -> Any:
    """An array with room for twice as many rows, the new ones not filled."""
    longer = np.empty((2 * len(array) + 2, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


# Trees that may cross: the partition tree of `kernels/cells.py`.


# A cell is divided once walks that ended in trees drawn before have cost that many times what dividing it costs; the
# speed is much the same from 0.05 to 1.
REPEATS = 0.3

# What elimination costs, in steps of a walk, about five nanoseconds: a tree for each of its words, and a factorisation
# times n^3; in float64, and in wide numbers.
TREE, WIDE_TREE = 50, 110
FACTORS, WIDE_FACTORS = 0.04, 0.45

# Room for so many divided cells at first; most sentences do with fewer.
CELLS = 1024

# What grows with the number of divided cells.
BY_CELL = ("share", "left", "total", "below", "newest", "drawn", "above", "choice", "level", "log_prob", "spent")


def no_cells(capacity: int, size: int, n: int, kind: Kind) -> Any:
    """Memory for so many divided cells, none of them in use."""
    return kernel.Cells(
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


def empty_factors(n: int, kind: Kind) -> Any:
    square = n + 1, n + 1
    return kernel.Factors(*(kind.zeros(shape) for shape in (square, n + 1, square, square, (3, WIDTH, n + 1))))


class CellDrawing:
    """The cells of one sentence's trees in one kind of numbers, from tree `count` of `drawn` on.

    until there are enough trees, or none is left:
        go down from the cell of all trees to an undivided one, by what is left of each
        until that has given a tree that was not drawn before:
            if repeats have cost as much as dividing the cell: divide it, and go down further
            else: walk to a tree of the cell, or where that takes too long draw one by elimination
        take the tree out of what is left of all cells above it
    """

    def __init__(
        self, distribution: ArcFactored, kind: Kind, drawn: Any, count: int, stop: float, rng: np.random.Generator
    ) -> None:
        whole, n, log_weights = elimination_of(distribution.factorisation), distribution.n, drawn.log_weights
        self._whole, self._kind, self._weights = whole, kind, cache(lambda kind: kind.exp(log_weights))
        self.rules = Thresholds(float(REPEATS), LEAST, stop, SAFE_LOG if kind is REAL else -np.inf)
        drawn.state[:] = kernel_state(rng)
        order = np.argsort(-distribution.marginals()[:, 1:].max(axis=0), kind="stable") + 1  # the most certain first
        rank = np.full(n + 1, n)
        rank[order] = np.arange(n)
        single_root, is_wide = whole.space.single_root, whole.is_wide
        tables, bits = alias_tables(self._weights(REAL), 1 if single_root else 0)
        choices, fixed, free, stamp = (
            np.zeros(length, dtype=np.int64) for length in (n if single_root else n + 1, n + 1, n, n + 1)
        )
        self._tree = kernel.PartitionTree(
            rules=self.rules,
            drawn=drawn,
            cells=no_cells(CELLS, len(drawn.heads), n, kind),
            walks=kind is REAL,
            tree_steps=int(n * (WIDE_TREE if is_wide else TREE)),
            factor_steps=WIDE_FACTORS if is_wide else FACTORS,
            single_root=single_root,
            order=order,
            rank=rank,
            tables=tables,
            bits=bits,
            choices=choices,
            fixed=fixed,
            free=free,
            stamp=stamp,
            row=np.zeros(n, dtype=np.int32),
        )
        self._top = np.where(np.arange(n + 1) == 0, 0.0, -np.inf)  # log P(root): of several, all hang on node 0
        if single_root:
            with np.errstate(divide="ignore"):
                self._top = whole.log_root_marginals() if kind is WIDE else np.log(distribution.root_marginals)
        self._tables: EliminationTables | None = None
        self._factors: Any = None
        self._rooms: dict[Kind, Any] = {}
        self.cursor = np.array([count, NONE, NONE, 0, NONE, NONE, 0], dtype=np.int64)
        kernel.begin(self._tree, kind.exp(self._top), count)
        if count:
            self._divide()

    def draw(self) -> int:
        return kernel.draw_by_walk(self._tree, self.cursor)

    def provide(self, needs: int) -> None:
        if needs == kernel.INSIDE:
            self._draw_inside()
        elif needs == kernel.DIVIDE:
            self._divide()
        else:
            self._tree = self._tree._replace(drawn=enlarged(self._tree.drawn, self.cursor[COUNT]))

    def _draw_inside(self) -> None:
        """Draw a tree of the cell at hand by the whole sentence's factors, or those of the last cell with heads."""
        tree, cursor, root, place = self._tree, self.cursor, int(self._tree.choices[0]), self.cursor[kernel.PLACE]
        cursor[kernel.FROM_INSIDE] = 1
        if place[0] == 0 and self._reaches(root):
            self._tables = self._tables or EliminationTables(self._whole)
            self._tables.draw(np.array([root]), tree.drawn.state, tree.row[None])
            return
        if (cursor[kernel.INSIDE_PLACE] != place).any():
            fixed, nodes = tree.fixed.copy(), self._whole.n + 1

            def factorised(kind: Kind) -> tuple[Any, bool]:
                memory = np.empty((kernel.ROWS, nodes), dtype=np.int64), empty_factors(nodes - 1, kind)
                found = self._weights(kind), root, fixed, *memory
                return found, kernel.factorise_cell(*found)

            self._factors = in_range(factorised, self._kind)
            cursor[kernel.INSIDE_PLACE] = place
        kernel.draw_from(*self._factors, tree.drawn.state, tree.row)

    def _reaches(self, root: int) -> bool:
        """Whether the sentence's factors do for trees that hang on a node: unless it is hardly ever the root."""
        weights = self._whole.shifted.log_weights
        return self._whole.is_wide or root == 0 or bool(self._top[root] - weights[0, root] > SAFE_LOG)

    def _divide(self) -> None:
        """Divide the cell that the draw has come to, then cancelled ones; the draw goes on below that cell."""
        cell, choice = r, h = self.cursor[kernel.PLACE].tolist()

        def divide(kind: Kind) -> tuple[int, bool]:
            nonlocal r, h
            if kind not in self._rooms:
                n, lossless = self._whole.n, kind is WIDE or weights_in_range(self._whole.shifted.log_weights)
                memory = path_tables(n, kind), kind.zeros(n + 1)
                self._rooms[kind] = kernel.DivisionWorkspace(self._weights(kind), lossless, *memory)
            result = kernel.ROOM
            while result == kernel.ROOM:
                result, r, h = kernel.divide_cells(self._tree, r, h, self._rooms[kind])
                if result == kernel.ROOM:
                    cells = self._tree.cells
                    more = {name: self._kind.each(longer, getattr(cells, name)) for name in BY_CELL}
                    self._tree = self._tree._replace(cells=cells._replace(**more))
            return result, result == kernel.DONE

        in_range(divide, self._kind)
        self.cursor[kernel.PLACE] = NONE if cell == NONE else self._tree.cells.below[cell, choice], NONE


# Projective trees: with replacement, then from the trie of `kernels/derivations.py`, made of how trees are made.


# A tree from the trie costs about as much as so many with replacement.
TRIE_COST = 10.0

# What float64 may have lost of a chart is far below this: e^-50.
LOWEST = 0.5 * LOG_LOST

# Room for so many slots at first.
SLOTS = 4096


class DerivationDrawing:
    """How projective trees are made, in one kind of numbers, from tree `count` of `drawn` on; a trie once that pays."""

    def __init__(
        self, distribution: ArcFactored, kind: Kind, drawn: Any, count: int, stop: float, rng: np.random.Generator
    ) -> None:
        eisner = eisner_of(distribution.factorisation)
        lossy = kind is REAL and some_are_improbable(drawn.log_weights)
        self.rules = Thresholds(float(TRIE_COST), LEAST, stop, LOWEST if lossy else -np.inf)
        self._drawn, self._todo = drawn, np.empty((2 * distribution.n + 2, ITEM_WIDTH), dtype=np.int64)
        self.cursor = np.array([count, 0, NONE], dtype=np.int64)
        self._trie: Any = None
        if kind is eisner.kind:
            self._eisner, drawn.state[:] = eisner, kernel_state(rng)
        else:  # goes on where float64 has ended
            self._eisner = eisner.in_wide_numbers
            self.provide(derivations.TRIE)

    def draw(self) -> int:
        if self._trie is None:
            given = self._eisner.grammar, self.rules, self._drawn, self._todo
            return derivations.draw_with_replacement(*given, self.cursor)
        return derivations.draw_from_trie(self._trie, self.cursor)

    def provide(self, needs: int) -> None:
        if needs == derivations.TRIE:
            self.cursor[derivations.IN_TRIE], self._trie = 0, self._no_nodes()
        elif needs == kernel.ROOM:
            left, below = self._trie.left, longer(self._trie.below)
            self._trie = self._trie._replace(left=self._eisner.kind.each(longer, left), below=below)
        else:
            self._drawn = enlarged(self._drawn, self.cursor[COUNT])

    def _no_nodes(self) -> Any:
        n, kind = self._eisner.n, self._eisner.kind
        first, last = np.empty((2, n + 1), dtype=np.int64)
        path, other = np.empty((2, 2 * n, 4), dtype=np.int64)
        return derivations.Trie(
            rules=self.rules,
            drawn=self._drawn,
            grammar=self._eisner.grammar,
            used=np.ones(1, dtype=np.int64),
            left=kind.exp(np.append(0.0, np.full(SLOTS - 1, -np.inf))),
            below=np.full(SLOTS, NONE),
            todo=self._todo,
            stack=np.empty_like(self._todo),
            first=first,
            last=last,
            path=path,
            other=other,
            rest=kind.zeros(2 * n + 1),
            other_rest=kind.zeros(2 * n + 1),
            slots=np.empty(2 * n + 1, dtype=np.int64),
            known=np.full(1, NONE),
        )


# Spaces without a drawing of their own are drawn from by a trie of heads.
DRAWINGS = {NonProjective: CellDrawing, Projective: DerivationDrawing}
