"""Distinct trees by division of their space into cells, and what `auto` chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.conditionals import draw_trie, eisner_of, some_are_improbable, weights_in_range
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.numbers import REAL, WIDE, Kind, in_range
from deptree_cli.core.spaces import (
    Eisner,
    Elimination,
    EliminationTables,
    NonProjective,
    Projective,
    by_space,
    elimination_of,
)
from deptree_cli.core.streams import kernel_state
from deptree_cli.core.swor import LEAST, Draws, clock_of
from deptree_cli.core.walks import alias_tables, path_tables
from deptree_cli.kernels import cells as kernel
from deptree_cli.kernels import derivations
from deptree_cli.kernels.cells import (
    Cells,
    Cursor,
    Drawn,
    PartitionProblem,
    PartitionRules,
    PartitionTree,
    PartitionWorkspace,
    hash_table,
)
from deptree_cli.kernels.charts import LOG_LOST
from deptree_cli.kernels.derivations import DerivationProblem, DerivationWorkspace, Trie
from deptree_cli.kernels.elimination import WIDTH
from deptree_cli.kernels.head_path import NONE
from deptree_cli.kernels.operations import SAFE_LOG
from deptree_cli.kernels.walker import NONE as NO_NODE
from deptree_cli.kernels.walker import WIDTH as ITEM_WIDTH

# Memory for the cells of a partition tree, and trees from inside a cell by elimination.


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
    by_cell = {name: kind.each(longer, getattr(cells, name)) for name in BY_CELL}
    return cells._replace(**by_cell, **{name: longer(getattr(cells, name)) for name in OTHERS})


def longer(array: Any) -> Any:
    """An array with room for twice as many rows, the new ones not filled."""
    capacity = 2 * len(array) + 2
    longer = np.empty((capacity, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def empty_factors(n: int, kind: Kind) -> Any:
    square = n + 1, n + 1
    return kernel.Factors(*(kind.zeros(shape) for shape in (square, n + 1, square, square, (3, WIDTH, n + 1))))


@dataclass(frozen=True, eq=False)
class CellFactors:
    """The factors of one cell: of the smaller graph in which words with heads are merged with what they hang on.

    `root` is the node that its trees hang on, `heads` (n+1,) what they share; weights are of the sentence's arcs.
    """

    weights: Any
    root: int
    heads: Int
    cell: Int
    factors: Any

    @classmethod
    def of(cls, weights: Weights, root: int, heads: Int, kind: Kind) -> CellFactors:
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
    """Trees of undivided cells by elimination: from the whole sentence's factors, or those of the last cell with heads.

    `top` is log P(root), (n+1,).
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


# The default: drawing with replacement, repeats dropped, in a space of trees that is divided where they pile up.
#
# The partition tree of `kernels/cells.py`, first in float64, then, once less than e^-300 is left,
# in wide numbers: so the last tree comes as surely as the first, however improbable.


# A cell is divided once walks that ended in trees drawn before have cost that many times what dividing it costs; the
# speed is much the same from 0.05 to 1.
REPEATS = 0.3

# What elimination costs, in steps of a walk, about five nanoseconds: a tree for each of its words, and a factorisation
# times n^3; in float64, and in wide numbers.
TREE, WIDE_TREE = 50, 110
FACTORS, WIDE_FACTORS = 0.04, 0.45

# Room for so many divided cells at first; most sentences do with fewer.
CELLS = 1024


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    clock = clock_of(rng)
    n, whole = distribution.n, elimination_of(distribution.factorisation)
    drawn: Any = Drawn(np.empty((size, n), dtype=np.int32), np.empty(size), np.empty(size + 1))
    rules = PartitionRules(
        walks=True,
        tree=int(n * (WIDE_TREE if whole.is_wide else TREE)),
        factors=WIDE_FACTORS if whole.is_wide else FACTORS,
        repeats=float(REPEATS),
        least=LEAST,
        stop=1.0 - mass,
    )
    count = Partition(distribution, REAL, rules, rng, drawn, 0).fill()
    if drawn.log_left[count] <= SAFE_LOG and some_are_improbable(whole.shifted.log_weights):
        count = Partition(distribution, WIDE, rules._replace(walks=False), rng, drawn, count).fill()
    heads = drawn.heads[:count]
    return Draws.timed(heads, distribution.tree_log_probs(heads), drawn.log_left[: count + 1], clock)


def _root_log_probs(distribution: ArcFactored, whole: Elimination, kind: Kind) -> Float:
    """log P(root), (n+1,), of those in the range of a kind; where there may be several, all trees hang on node 0."""
    if not whole.space.single_root:
        return np.where(np.arange(whole.n + 1) == 0, 0.0, -np.inf)
    if kind is WIDE:
        return whole.log_root_marginals()
    with np.errstate(divide="ignore"):
        return np.log(distribution.root_marginals)


class Partition:
    """The cells of one sentence's trees in one kind of numbers, from tree `count` of `drawn` on."""

    def __init__(
        self, distribution: ArcFactored, kind: Kind, rules: Any, rng: np.random.Generator, drawn: Any, count: int
    ) -> None:
        whole = elimination_of(distribution.factorisation)
        n, log_weights, top = whole.n, whole.shifted.log_weights, _root_log_probs(distribution, whole, kind)
        self._kind, weights = kind, cache(lambda kind: kind.exp(log_weights))
        self._room = cache(partial(_division_workspace, n, weights, weights_in_range(log_weights), kind))
        self._inside, self._state = CellSampler(whole, weights, kind, top), kernel_state(rng)
        cells = no_cells(CELLS, len(drawn.heads), n, kind)
        problem = _problem(distribution, whole, weights, kind)
        work = _workspace(n, depth=n if whole.space.single_root else n + 1)
        self._tree: Any = PartitionTree(problem, rules, cells, drawn, hash_table(drawn.heads, count), work)
        kernel.begin(self._tree, kind.exp(top), count)
        self._cursor = kernel.Cursor(kernel.DIVIDE, count, NONE, NONE, False, NONE, NONE, 0)

    def fill(self) -> int:
        """Draw as many trees as there are to be; how many there are then.

        until there are enough trees, or none is left:
            go down from the cell of all trees to an undivided one, by what is left of each
            until that has given a tree that was not drawn before:
                if repeats have cost as much as dividing the cell: divide it, and go down further
                else: walk to a tree of the cell, or where that takes too long draw one by elimination
            take the tree out of what is left of all cells above it
        """
        cursor = self._cursor if self._cursor.n_drawn == 0 else self._divide_cell(self._cursor)
        while True:
            cursor = kernel.draw_by_walk(self._tree, cursor, self._state)
            if cursor.needs == kernel.INSIDE:
                cursor = self._inside.draw(cursor, self._tree.work, self._state)
            elif cursor.needs == kernel.DIVIDE:
                cursor = self._divide_cell(cursor)
            elif cursor.needs == kernel.SET:
                self._tree = self._tree._replace(seen=hash_table(self._tree.drawn.heads, cursor.n_drawn))
            else:
                return cursor.n_drawn

    def _divide_cell(self, cursor: kernel.Cursor) -> kernel.Cursor:
        """Divide the cell that the draw has come to, then cancelled ones; the draw goes on below that cell."""
        needs, count, cell, choice, from_inside, inside_cell, inside_choice, walks = cursor
        kind, r, h, result = self._kind, cell, choice, NONE
        while result != kernel.DONE:
            result, r, h = kernel.divide_cells(self._tree, r, h, self._room(kind))
            if result == kernel.NO_ROOM:
                self._tree = self._tree._replace(cells=more_cells(self._tree.cells, self._kind))
            elif result == kernel.UNSOUND:
                kind = WIDE
        below = NONE if cell == NONE else int(self._tree.cells.below[cell, choice])
        return kernel.Cursor(needs, count, below, NONE, from_inside, inside_cell, inside_choice, walks)


def _division_workspace(
    n: int, weights: Weights, in_range: bool, of_cells: Kind, kind: Kind
) -> kernel.DivisionWorkspace:
    tables = path_tables(n, kind), kind.zeros(n + 1), of_cells.zeros(n + 1)
    return kernel.DivisionWorkspace(weights(kind), in_range or kind is WIDE, *tables)


def _problem(distribution: ArcFactored, whole: Elimination, weights: Weights, kind: Kind) -> PartitionProblem:
    certain = distribution.marginals()[:, 1:].max(axis=0)
    order = np.argsort(-certain, kind="stable") + 1  # the most certain word first
    rank = np.full(whole.n + 1, whole.n)
    rank[order] = np.arange(whole.n)
    single_root, log_weights, log_z = whole.space.single_root, whole.shifted.log_weights, whole.shifted_log_z
    tables, bits = alias_tables(weights(REAL), 1 if single_root else 0)
    return PartitionProblem(single_root, weights(kind), log_weights, log_z, order, rank, tables, bits)


def _workspace(n: int, depth: int) -> PartitionWorkspace:
    choices, fixed, free, stamp = (np.zeros(length, dtype=np.int64) for length in (depth, n + 1, n, n + 1))
    return PartitionWorkspace(choices, fixed, free, stamp, np.zeros(n, dtype=np.int32))


# Distinct projective trees: drawing with replacement, repeats dropped, then from a trie of how the trees are made.
#
# The trie of `kernels/derivations.py` is in the chart's numbers, and once next to nothing is left, in wide ones: so the
# last tree comes as surely as the first, however improbable.


# A tree from the trie costs about as much as so many with replacement.
TRIE_COST = 10.0

# What float64 may have lost of a chart is far below this: e^-50.
LOWEST = 0.5 * LOG_LOST

# Room for so many slots at first.
SLOTS = 4096


def draw_derivations(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    clock = clock_of(rng)
    eisner = eisner_of(distribution.factorisation)
    lossy = not eisner.is_wide and some_are_improbable(eisner.shifted.log_weights)
    rules = derivations.DerivationRules(TRIE_COST, LEAST, 1.0 - mass, LOWEST if lossy else -np.inf)
    drawing = Drawing(distribution.n, size, rng)
    if not drawing.with_replacement(eisner, rules):
        drawing.from_trie(eisner, rules)
        if drawing.log_left[drawing.count] < rules.lowest:
            drawing.from_trie(eisner.in_wide_numbers, rules._replace(lowest=-np.inf))
    heads, log_left = drawing.heads[: drawing.count], drawing.log_left[: drawing.count + 1]
    return Draws.timed(heads, distribution.tree_log_probs(heads), log_left, clock)


class Drawing:
    """Up to `size` trees of n words, as far as they have been drawn.

    `log_left` (size+1,) is the logarithm of the mass left before each tree and after the last.
    """

    def __init__(self, n: int, size: int, rng: np.random.Generator) -> None:
        self.heads: Heads = np.empty((size, n), dtype=np.int32)
        self.log_left: Float = np.empty(size + 1)
        self._state = kernel_state(rng)
        self._cursor = derivations.Cursor(derivations.SET, 0, 0, 0)

    @property
    def count(self) -> int:
        return self._cursor.n_drawn

    def with_replacement(self, eisner: Eisner, rules: derivations.DerivationRules) -> bool:
        """Draw with replacement, dropping repeats, while that pays; whether no more trees are to be drawn."""
        problem, todo = _derivation_problem(eisner), np.empty((2 * eisner.n + 2, ITEM_WIDTH), dtype=np.int64)
        drawn = self._state, self.heads, self.log_left
        while self._cursor.needs == derivations.SET:
            seen = hash_table(self.heads, self.count)
            self._cursor = derivations.draw_new(problem, rules, *drawn, seen, self._cursor, todo)
        return self._cursor.needs == derivations.DONE

    def from_trie(self, eisner: Eisner, rules: derivations.DerivationRules) -> None:
        """Draw all other trees that are to be drawn, in the chart's numbers as far as these reach."""
        problem, trie, work = (
            _derivation_problem(eisner),
            _no_nodes(eisner.kind),
            _derivation_workspace(eisner.n, eisner.kind),
        )
        drawn = self._state, self.heads, self.log_left
        self._cursor = derivations.draw_rest(problem, rules, *drawn, trie, self._cursor._replace(in_trie=0), work)
        while self._cursor.needs == derivations.SLOTS:
            trie = trie._replace(left=eisner.kind.each(longer, trie.left), below=longer(trie.below))
            self._cursor = derivations.draw_rest(problem, rules, *drawn, trie, self._cursor, work)


def _derivation_problem(eisner: Eisner) -> DerivationProblem:
    return DerivationProblem(eisner.grammar, eisner.shifted.log_weights, eisner.shifted_log_z)


def _no_nodes(kind: Kind) -> Trie:
    left = kind.exp(np.append(0.0, np.full(SLOTS - 1, -np.inf)))
    return Trie(np.ones(1, dtype=np.int64), left, np.full(SLOTS, NO_NODE))


def _derivation_workspace(n: int, kind: Kind) -> DerivationWorkspace:
    todo, stack = np.empty((2, 2 * n + 2, ITEM_WIDTH), dtype=np.int64)
    first, last = np.empty((2, n + 1), dtype=np.int64)
    path, other = np.empty((2, 2 * n, 4), dtype=np.int64)
    rest, other_rest, slots = kind.zeros(2 * n + 1), kind.zeros(2 * n + 1), np.empty(2 * n + 1, dtype=np.int64)
    return DerivationWorkspace(todo, stack, first, last, path, other, rest, other_rest, slots, np.full(1, NO_NODE))


# The default, by tree space: each draws with replacement while that pays, and then from what is left.
#
# Spaces without an algorithm of their own are drawn from by a trie of heads.


ALGORITHMS = {NonProjective: draw, Projective: draw_derivations}


def draw_auto(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    algorithm = by_space(ALGORITHMS, distribution.space, draw_trie)
    return algorithm(distribution, size, rng, mass)
