"""The adaptive partition tree: every tree once, and what is left, for either kind of numbers and any thresholds.

The law of the order is in tests/laws.
"""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.swor.cells import empty_factors
from deptree_cli.kernels.distinct import cell_division, cell_sampler
from deptree_cli.kernels.distinct import partition_tree as kernel
from deptree_cli.kernels.distinct.cells import NONE, Cells
from deptree_cli.kernels.distinct.partition_problem import (
    Drawn,
    PartitionProblem,
    PartitionRules,
    PartitionTree,
    PartitionWorkspace,
)
from deptree_cli.kernels.distinct.tree_set import hash_table
from deptree_cli.kernels.elimination.head_path import LEVELS, PathTables
from deptree_cli.kernels.walks.wilson import build_tables
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def integers(*shape: int) -> np.ndarray:
    return np.full(shape, -9, dtype=np.int64)


def cells_for(cells: int, size: int, n: int, kind: Kind) -> Cells:
    numbers = kind.zeros((cells, n + 1)), kind.zeros((cells, n + 1)), kind.zeros(cells)
    below, newest, above, choice = integers(cells, n + 1), integers(cells, n + 1), integers(cells), integers(cells)
    drawn, log_prob = np.full((cells, n + 1), np.nan), np.full(cells, np.nan)
    level, following, used = integers(cells), integers(size), np.zeros(1, dtype=np.int64)
    cancelled = integers(2 * size + 2, 2), np.zeros(1, dtype=np.int64), np.full(1, -np.inf)
    spent = integers(cells, n + 1)
    return Cells(used, *numbers, below, newest, drawn, above, choice, level, log_prob, following, spent, *cancelled)


def problem_of(f, exact: Oracle) -> PartitionProblem:
    """As core does it, but the words in another order."""
    n = f.n
    order = np.random.default_rng(n).permutation(n) + 1
    rank = np.full(n + 1, n)
    rank[order] = np.arange(n)
    bits = n.bit_length()
    tables = np.zeros((n + 1, 1 << bits), dtype=np.uint64)
    build_tables(np.exp(f.shifted), 1 if f.single_root else 0, bits, tables)
    weights = f.kind.exp(f.shifted)
    return PartitionProblem(
        f.single_root, weights, f.shifted, exact.log_z - f.constant, order, rank, tables.ravel(), bits
    )


class Driver:
    """What core does around the kernels, as simply as can be: all draws inside cells are from their own factors."""

    def __init__(self, f, exact: Oracle, size: int, rules: PartitionRules, cells: int) -> None:
        n, self.kind = f.n, f.kind
        drawn = Drawn(np.full((size, n), -9, dtype=np.int32), np.full(size, np.nan), np.full(size + 1, np.nan))
        depth = n if f.single_root else n + 1
        arrays = (np.zeros(length, dtype=np.int64) for length in (depth, n + 1, n, n + 1))
        work, seen = PartitionWorkspace(*arrays, np.zeros(n, dtype=np.int32)), hash_table(drawn.heads, 0)
        self.tree = PartitionTree(problem_of(f, exact), rules, cells_for(cells, size, n, self.kind), drawn, seen, work)
        top = np.full(n + 1, -np.inf)
        if f.single_root:
            top = np.log(exact.marginals()[0], where=exact.marginals()[0] > 0, out=top)
        else:
            top[0] = 0.0
        kernel.begin(self.tree, self.kind.exp(top), 0)

    def run(self, state: np.ndarray) -> int:
        """How many trees are drawn in the end, NONE if there is not enough memory for cells."""
        cursor = kernel.Cursor(kernel.DIVIDE, 0, NONE, NONE, False, NONE, NONE, 0)
        while True:
            cursor = kernel.draw_by_walk(self.tree, cursor, state)
            if cursor.needs == kernel.DONE:
                return cursor.n_drawn
            if cursor.needs == kernel.SET:
                self.tree = self.tree._replace(seen=hash_table(self.tree.drawn.heads, cursor.n_drawn))
            elif cursor.needs == kernel.INSIDE:
                self.draw_inside(state)
                cursor = cursor._replace(from_inside=True)
            elif not self.divide(cursor.cell, cursor.choice):
                return NONE
            elif cursor.cell != NONE:
                cursor = cursor._replace(cell=int(self.tree.cells.below[cursor.cell, cursor.choice]), choice=NONE)

    def draw_inside(self, state: np.ndarray) -> None:
        work, weights, kind = self.tree.work, self.tree.problem.weights, self.kind
        n, root = len(work.row), work.choices[0]
        cell, factors = integers(cell_sampler.ROWS, n + 1), empty_factors(n, kind)
        cell_sampler.factorise_cell(weights, root, work.fixed, cell, factors)
        cell_sampler.draw_from(weights, root, work.fixed, cell, factors, state, work.row)

    def divide(self, r: int, h: int) -> bool:
        n, kind = len(self.tree.work.row), self.kind
        tables = PathTables(kind.zeros((n, 3 * n + LEVELS)), kind.zeros((2 + n.bit_length(), n)))
        rows = kind.zeros(n + 1), kind.zeros(n + 1)
        room = cell_division.DivisionWorkspace(self.tree.problem.weights, True, tables, *rows)
        result, _, _ = cell_division.divide_cells(self.tree, r, h, room)
        assert result != cell_division.UNSOUND
        return result == cell_division.DONE


def draw(f, exact: Oracle, size: int, state: np.ndarray, rules: PartitionRules, cells: int = 500) -> tuple[int, Drawn]:
    """How many trees were drawn, or NONE; and the trees."""
    driver = Driver(f, exact, size, rules, cells)
    return driver.run(state), driver.tree.drawn


def rules(
    walks: bool = True, tree: int = 1000, repeats: float = 1.0, least: float = 1e-6, stop: float = 0.0
) -> PartitionRules:
    return PartitionRules(walks, tree, 0.0, repeats, least, stop)


@BOTH
@KINDS
@pytest.mark.parametrize(
    ("walks", "tree", "repeats", "least"),
    [(True, 1000, 1.0, 1e-6), (False, 1000, 1.0, 1e-6), (True, 1000, 0.0, 0.5), (True, 2, 10.0, 0.999)],
)
def test_every_tree_once(
    kind: Kind,
    single_root: bool,
    walks: bool,
    tree: int,
    repeats: float,
    least: float,
    state,
    graphs,
    factors,
    enumerated,
) -> None:
    """With its probability, and with the mass that was left when it was drawn."""
    log_scores = graphs.gaussian(4, 3, seed=1)
    exact = enumerated(log_scores, single_root)
    size = len(exact.trees)
    chosen = rules(walks, tree, repeats, least)
    count, drawn = draw(factors(log_scores, single_root, kind), exact, size, state, chosen)
    assert count == size
    order = np.lexsort(drawn.heads.T[::-1])
    assert drawn.heads[order].tolist() == exact.trees.tolist()
    np.testing.assert_allclose(drawn.log_probs[order], exact.log_probs, atol=1e-12)
    left = np.append(np.exp(drawn.log_probs)[::-1].cumsum()[::-1], 0.0)
    np.testing.assert_allclose(np.exp(drawn.log_left), left, rtol=1e-9, atol=1e-12)


@BOTH
def test_the_memory_for_cells_does_not_show(single_root: bool, graphs, factors, enumerated) -> None:
    """Too little is reported, and nothing else depends on it."""
    log_scores = graphs.gaussian(4, 3, seed=1)
    f, exact = factors(log_scores, single_root), enumerated(log_scores, single_root)
    counts, trees = {}, {}
    for cells in (1, 2, 200, 500):
        count, drawn = draw(f, exact, 64, np.array([1, 2, 3, 4], dtype=np.uint64), rules(), cells)
        counts[cells], trees[cells] = count, drawn.heads
    assert counts == {1: NONE, 2: NONE, 200: 64, 500: 64}
    assert np.array_equal(trees[200], trees[500])


@KINDS
def test_drawing_stops_at_the_mass_that_is_asked_for(kind: Kind, state, graphs, factors, enumerated) -> None:
    log_scores = graphs.gaussian(4, 2)
    exact = enumerated(log_scores)
    count, drawn = draw(factors(log_scores, True, kind), exact, 64, state, rules(stop=0.2))
    assert 0 < count < 64
    mass = np.exp(drawn.log_probs[:count])
    assert mass.sum() >= 0.8
    assert mass[:-1].sum() < 0.8


def test_float64_knows_where_it_ends(state, graphs, factors, enumerated) -> None:
    """Trees below e^-300 are not drawn: log_left says that something is left, and wide numbers go on from there."""
    log_scores = graphs.gaussian(4)
    log_scores[1:3, 3:] -= 400.0
    exact = enumerated(log_scores)
    count, drawn = draw(factors(log_scores), exact, 64, state, rules())
    assert count == (exact.log_probs > -300).sum() < 64
    assert drawn.log_left[count] < -300
    all_of_them, drawn = draw(factors(log_scores, True, WIDE), exact, 64, state, rules(walks=False))
    assert all_of_them == 64
    assert len(np.unique(drawn.heads, axis=0)) == 64
