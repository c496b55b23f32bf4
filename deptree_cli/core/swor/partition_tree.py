"""The default: drawing with replacement, repeats dropped, in a space of trees that is divided where they pile up.

The partition tree of `kernels/distinct/partition_tree.py`, first in float64, then, once less than e^-300 is left,
in wide numbers: so the last tree comes as surely as the first, however improbable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import REAL, SAFE_LOG, WIDE, Kind
from deptree_cli.core.samplers.colbourn import path_tables
from deptree_cli.core.samplers.costs import FACTORS, WIDE_FACTORS, steps_of_tree
from deptree_cli.core.samplers.wilson import alias_tables
from deptree_cli.core.spaces.elimination import Elimination, elimination_of
from deptree_cli.core.streams import kernel_state
from deptree_cli.core.swor.cells import Inside, more_cells, no_cells
from deptree_cli.core.swor.conditionals import is_lossless, some_are_improbable
from deptree_cli.core.swor.draws import LEAST, Draws, clock_of
from deptree_cli.kernels.distinct import cell_division
from deptree_cli.kernels.distinct import partition_tree as kernel
from deptree_cli.kernels.distinct.cells import NONE
from deptree_cli.kernels.distinct.partition_problem import Drawn, Problem, Rules, Workspace
from deptree_cli.kernels.distinct.tree_set import hash_table

# A cell is divided once walks that ended in trees drawn before have cost that many times what dividing it costs; the
# speed is much the same from 0.05 to 1.
REPEATS = 0.3

# Room for so many divided cells at first; most sentences do with fewer.
CELLS = 1024


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
    """Up to `size` distinct trees, of which the last brings the probability drawn to `mass`."""
    clock = clock_of(rng)
    n, whole = distribution.n, elimination_of(distribution.factorisation)
    drawn: Any = Drawn(np.empty((size, n), dtype=np.int32), np.empty(size), np.empty(size + 1))
    rules = Rules(
        walks=True,
        tree=steps_of_tree(n, whole.is_wide),
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
        weights = REAL.exp(log_weights)
        self._kind, self._rules, self._drawn = kind, rules, drawn
        self._weights = weights if kind is REAL else WIDE.exp(log_weights)
        self._problem = _problem(distribution, whole, weights, self._weights)
        self._lossless = is_lossless(log_weights)
        self._inside = Inside(whole, self._weights, kind, top)
        self._state = kernel_state(rng)
        depth = n if whole.space.single_root else n + 1
        choices, fixed, free, stamp = (np.zeros(length, dtype=np.int64) for length in (depth, n + 1, n, n + 1))
        self._work: Any = Workspace(choices, fixed, free, stamp, np.zeros(n, dtype=np.int32))
        self._at = np.array([count, NONE, NONE, 0, 0, NONE, NONE])
        self._cells = no_cells(CELLS, len(drawn.heads), n, kind)
        self._tables: dict[Kind, Any] = {}
        kernel.begin(self._problem, rules, kind.exp(top), self._cells, drawn, count, self._work)

    def fill(self) -> int:
        """Draw as many trees as there are to be; how many there are then."""
        problem, rules, drawn, at, work = self._problem, self._rules, self._drawn, self._at, self._work
        if at[kernel.COUNT]:
            self._divide(NONE, NONE)
        seen = hash_table(drawn.heads, at[kernel.COUNT])
        while True:
            wanted = kernel.draw_distinct(problem, rules, self._state, self._cells, drawn, seen, at, work)
            if wanted == kernel.DONE:
                return int(at[kernel.COUNT])
            if wanted == kernel.SET:
                seen = hash_table(drawn.heads, at[kernel.COUNT])
            elif wanted == kernel.INSIDE:
                self._inside.draw(at, work, self._state)
            else:
                self._divide(at[kernel.CELL], at[kernel.CHOICE])

    def _divide(self, r: int, h: int) -> None:
        """Divide cell (r, h), then cancelled ones; the draw goes on below (r, h)."""
        came_from = r, h
        kind = self._kind
        while True:
            result, r, h = cell_division.divide_cells(
                self._cells, self._problem, self._rules, self._drawn, r, h, self._work, *self._room(kind)
            )
            if result == cell_division.DONE:
                break
            if result == cell_division.NO_ROOM:
                self._cells = more_cells(self._cells, self._kind)
            else:
                kind = WIDE
        if came_from[0] != NONE:
            self._at[kernel.CELL] = self._cells.below[came_from]
            self._at[kernel.CHOICE] = NONE

    def _room(self, kind: Kind) -> Any:
        """What `divide_cells` takes to compute in this kind of numbers."""
        if kind not in self._tables:
            n = self._problem.rank.shape[0] - 1
            weights = self._weights if kind is self._kind else WIDE.exp(self._inside.shifted.log_weights)
            tables = path_tables(n, kind), kind.zeros(n + 1), self._kind.zeros(n + 1)
            self._tables[kind] = (weights, self._lossless or kind is WIDE, *tables)
        return self._tables[kind]


def _problem(distribution: ArcFactored, whole: Elimination, weights: Float, numbers: Any) -> Any:
    certain = distribution.marginals()[:, 1:].max(axis=0)
    order = np.argsort(-certain, kind="stable") + 1  # the most certain word first
    rank = np.full(whole.n + 1, whole.n)
    rank[order] = np.arange(whole.n)
    tables, bits = alias_tables(weights, 1 if whole.space.single_root else 0)
    log_weights, log_z = whole.shifted.log_weights, whole.shifted_log_z
    return Problem(whole.space.single_root, numbers, log_weights, log_z, order, rank, tables, bits)
