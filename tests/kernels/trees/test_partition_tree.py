"""The adaptive partition tree: every tree once, and what is left, for either kind of numbers and any thresholds.

The law of the order is in tests/laws.
"""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.oracle import Oracle
from deptree_cli.kernels.trees.cells import NONE, Cells
from deptree_cli.kernels.trees.head_distribution import FREE, sound_head_probs
from deptree_cli.kernels.trees.head_distribution import Workspace as HeadWorkspace
from deptree_cli.kernels.trees.partition_tree import Drawn, Problem, Rules, Workspace, draw_distinct
from deptree_cli.kernels.trees.wilson import build_tables

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def cells_for(cells: int, size: int, n: int, kind: Kind) -> Cells:
    def integers(*shape: int) -> np.ndarray:
        return np.full(shape, -9, dtype=np.int64)

    numbers = kind.zeros((cells, n + 1)), kind.zeros((cells, n + 1)), kind.zeros(cells)
    below, newest, above, choice = integers(cells, n + 1), integers(cells, n + 1), integers(cells), integers(cells)
    drawn, log_prob = np.empty((cells, n + 1)), np.empty(cells)
    level, following, used = integers(cells), integers(size), np.zeros(1, dtype=np.int64)
    return Cells(used, *numbers, below, newest, drawn, above, choice, level, log_prob, following)


def problem_of(f, exact: Oracle) -> Problem:
    """As core does it, but the words in another order."""
    n = len(f.order)
    order = np.random.default_rng(n).permutation(n) + 1
    rank = np.zeros(n + 1, dtype=np.int64)
    rank[order] = np.arange(n)
    bits = n.bit_length()
    tables = np.zeros((n + 1, 1 << bits), dtype=np.uint64)
    build_tables(np.exp(f.shifted), 1 if f.single_root else 0, bits, tables)
    wide = WIDE.exp(f.shifted)
    weights = wide if f.kind is WIDE else np.exp(f.shifted)
    log_z = exact.log_z - f.constant
    return Problem(f.single_root, weights, wide, f.shifted, log_z, order, rank, tables.ravel(), bits)


def draw(f, exact: Oracle, size: int, state: np.ndarray, rules: Rules, cells: int = 500) -> tuple[int, Drawn]:
    """How many trees were drawn, or NONE; and the trees."""
    n, kind = len(f.order), f.kind
    problem = problem_of(f, exact)
    heads = HeadWorkspace(kind.zeros((n, n)), kind.zeros(n), WIDE.zeros((n, n)), WIDE.zeros(n), WIDE.zeros(n + 1))
    integers = (np.zeros(length, dtype=np.int64) for length in (n, n + 1, n + 1))
    work = Workspace(heads, kind.zeros(n + 1), *integers, np.zeros(n, dtype=np.int32))
    top = kind.zeros(n + 1)
    if f.single_root:
        top = kind.exp(np.log(exact.marginals()[0], where=exact.marginals()[0] > 0, out=np.full(n + 1, -np.inf)))
    else:
        work.fixed[:] = FREE
        sound_head_probs(problem.weights, problem.wide_weights, 0, work.fixed, problem.order[0], heads, top)
    drawn = Drawn(np.full((size, n), -9, dtype=np.int32), np.full(size, np.nan), np.full(size + 1, np.nan))
    return draw_distinct(problem, rules, top, state, cells_for(cells, size, n, kind), drawn, 0, work), drawn


@BOTH
@KINDS
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize(
    ("budget", "repeats", "least"), [(1000, 4, 1e-6), (0, 4, 1e-6), (1000, 0, 0.5), (2, 50, 0.999)]
)
def test_every_tree_once(
    kind: Kind, single_root: bool, n: int, budget: int, repeats: int, least: float, state, graphs, factors, enumerated
) -> None:
    """With its probability, and with the mass that was left when it was drawn."""
    log_scores = graphs.gaussian(n, 3, seed=1)
    exact = enumerated(log_scores, single_root)
    size = len(exact.trees)
    count, drawn = draw(factors(log_scores, single_root, kind), exact, size, state, Rules(budget, repeats, least, 0.0))
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
    f, exact, rules = factors(log_scores, single_root), enumerated(log_scores, single_root), Rules(1000, 4, 1e-6, 0.0)
    counts, trees = {}, {}
    for cells in (1, 2, 50, 60, 500):
        count, drawn = draw(f, exact, 64, np.array([1, 2, 3, 4], dtype=np.uint64), rules, cells)
        counts[cells], trees[cells] = count, drawn.heads
    assert counts == {1: NONE, 2: NONE, 50: 64, 60: 64, 500: 64}
    assert np.array_equal(trees[50], trees[500])
    assert np.array_equal(trees[60], trees[500])


@KINDS
def test_drawing_stops_at_the_mass_that_is_asked_for(kind: Kind, state, graphs, factors, enumerated) -> None:
    log_scores = graphs.gaussian(4, 2)
    exact = enumerated(log_scores)
    count, drawn = draw(factors(log_scores, True, kind), exact, 64, state, Rules(1000, 4, 1e-6, 0.2))
    assert 0 < count < 64
    mass = np.exp(drawn.log_probs[:count])
    assert mass.sum() >= 0.8
    assert mass[:-1].sum() < 0.8


def test_float64_knows_where_it_ends(state, graphs, factors, enumerated) -> None:
    """Trees below e^-300 are not drawn: log_left says that something is left, and wide numbers go on from there."""
    log_scores = graphs.gaussian(4)
    log_scores[1:3, 3:] -= 400.0
    exact, rules = enumerated(log_scores), Rules(1000, 4, 1e-6, 0.0)
    count, drawn = draw(factors(log_scores), exact, 64, state, rules)
    assert count == (exact.log_probs > -300).sum() < 64
    assert drawn.log_left[count] < -300
    all_of_them, drawn = draw(factors(log_scores, True, WIDE), exact, 64, state, Rules(0, 4, 1e-6, 0.0))
    assert all_of_them == 64
    assert len(np.unique(drawn.heads, axis=0)) == 64
