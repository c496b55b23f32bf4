"""The default: drawing with replacement, repeats dropped, in a space of trees that is divided where they pile up.

The partition tree of `kernels/distinct/partition_tree.py`, first in float64, then, once less than e^-300 is left,
in wide numbers: so the last tree comes as surely as the first, however improbable.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.samplers.colbourn import path_tables
from deptree_cli.core.samplers.wilson import alias_tables
from deptree_cli.core.spaces.nonprojective import Elimination, elimination_of
from deptree_cli.core.streams import kernel_state
from deptree_cli.core.swor.cells import CellSampler, Weights, more_cells, no_cells
from deptree_cli.core.swor.conditionals import some_are_improbable, weights_in_range
from deptree_cli.core.swor.draws import LEAST, Draws, clock_of
from deptree_cli.kernels.distinct import cell_division
from deptree_cli.kernels.distinct import partition_tree as kernel
from deptree_cli.kernels.distinct.cells import NONE
from deptree_cli.kernels.distinct.partition_problem import (
    Drawn,
    PartitionProblem,
    PartitionRules,
    PartitionTree,
    PartitionWorkspace,
)
from deptree_cli.kernels.distinct.tree_set import hash_table
from deptree_cli.kernels.numbers.operations import SAFE_LOG

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
        while result != cell_division.DONE:
            result, r, h = cell_division.divide_cells(self._tree, r, h, self._room(kind))
            if result == cell_division.NO_ROOM:
                self._tree = self._tree._replace(cells=more_cells(self._tree.cells, self._kind))
            elif result == cell_division.UNSOUND:
                kind = WIDE
        below = NONE if cell == NONE else int(self._tree.cells.below[cell, choice])
        return kernel.Cursor(needs, count, below, NONE, from_inside, inside_cell, inside_choice, walks)


def _division_workspace(
    n: int, weights: Weights, in_range: bool, of_cells: Kind, kind: Kind
) -> cell_division.DivisionWorkspace:
    """What divisions compute in, in this kind of numbers."""
    tables = path_tables(n, kind), kind.zeros(n + 1), of_cells.zeros(n + 1)
    return cell_division.DivisionWorkspace(weights(kind), in_range or kind is WIDE, *tables)


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
