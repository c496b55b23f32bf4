"""Packed alias tables: the probabilities they imply; and the walk on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from numpy.typing import NDArray

from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT
from deptree_cli.kernels.walks.wilson import build_tables, draw_roots, walk, walk_until_single_root, walk_without_tables

Float = NDArray[np.float64]
Walk = Callable[..., tuple[int, int]]

SEEDS = st.integers(0, 2**32 - 1)
# Plain Python takes a hundred times as long as machine code, so laws are tested with fewer draws.
FEWER = 20 if config.DISABLE_JIT else 1
TREES = 200 // FEWER

RESOLUTION = 2.0**-47  # thresholds have 48 bits, and rounding on the way to them is of the size of one more


def nothing_spare() -> NDArray[np.int64]:
    return np.zeros(1, dtype=np.int64)


def tables_of(weights: Float, first_head: int) -> tuple[NDArray[np.uint64], int]:
    """The tables of all words, (n+1, 2^bits)."""
    bits = (len(weights) - 1).bit_length()
    tables = np.zeros((len(weights), 1 << bits), dtype=np.uint64)
    build_tables(weights, first_head, bits, tables)
    return tables, bits


def implied(row: NDArray[np.uint64], nodes: int) -> Float:
    """The exact probability of each head: bucket b gives itself its threshold's share and the rest to its alias."""
    thresholds, aliases = (row >> np.uint64(16)).astype(float) / 2.0**48, (row & np.uint64(0xFFFF)).astype(int)
    probs = np.zeros(len(row))
    probs += thresholds / len(row)
    np.add.at(probs, aliases, (1.0 - thresholds) / len(row))
    assert (probs[nodes:] == 0).all()
    return probs[:nodes]


def random_weights(n: int, seed: int, spread: float, zeros: float) -> Float:
    """Weights over `spread` orders of magnitude below 1, some of them zero, at least one of each word positive."""
    rng = np.random.default_rng(seed)
    weights = 10.0 ** (-spread * rng.random((n + 1, n + 1)))
    weights[rng.random(weights.shape) < zeros] = 0.0
    weights[rng.integers(1, n + 1), :] = 1.0
    return weights


def check_tables(weights: Float, first_head: int) -> None:
    """Head probabilities to 2^-47, and exact zeros."""
    tables, _ = tables_of(weights, first_head)
    for word in range(len(weights)):  # of 0 the roots
        column = np.where(np.arange(len(weights)) >= first_head, weights[:, word], 0.0)
        probs = implied(tables[word], len(weights))
        np.testing.assert_allclose(probs, column / column.sum(), rtol=0, atol=RESOLUTION)
        exposed = reachable(tables[word])
        assert not exposed[np.flatnonzero(column == 0.0)].any()
        assert not exposed[len(weights) :].any()


def reachable(row: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which heads a draw could give: a bucket below its threshold, an alias wherever it is not certain."""
    found = np.zeros(len(row), dtype=bool)
    for bucket, entry in enumerate(row.tolist()):
        found[bucket] |= entry >> 16 > 0
        found[entry & 0xFFFF] = True  # thresholds end at 2^48 - 1: the alias is always possible
    return found


@given(st.integers(1, 40), SEEDS, st.sampled_from([0.0, 3.0, 16.0, 300.0]), st.sampled_from([0.0, 0.3, 0.9]))
def test_tables_imply_the_weights(n: int, seed: int, spread: float, zeros: float) -> None:
    for first_head in (0, 1):
        check_tables(random_weights(n, seed, spread, zeros), first_head)


@given(st.integers(2, 33), SEEDS)
def test_weights_that_differ_by_a_rounding_error(n: int, seed: int) -> None:
    """Shares next to 1, where the pairing of buckets hangs on the last bit."""
    rng = np.random.default_rng(seed)
    weights = 1.0 + rng.integers(-3, 4, size=(n + 1, n + 1)) * 1.1e-16
    weights[rng.random(weights.shape) < 0.2] = 0.0
    weights[1] = 1.0
    check_tables(weights, 0)
    check_tables(weights, 1)


def test_saturated_words_keep_their_tails() -> None:
    """A rival of 1e-12 is there to 2^-47 = 7e-15; 32-bit thresholds would lose it."""
    weights = np.full((5, 5), 1e-12 / 3)
    weights[1] = 1.0
    tables, _ = tables_of(weights, 0)
    assert implied(tables[2], 5)[3] == pytest.approx(1e-12 / 3, abs=RESOLUTION)
    assert implied(tables[2], 5)[3] > 2e-13


def test_a_word_without_heads_has_an_empty_table() -> None:
    weights = np.ones((4, 4))
    weights[1:, 2] = 0.0
    tables, _ = tables_of(weights, 1)
    assert (tables[2] == 0).all()
    assert tables[1].any()


def walks(
    weights: Float, roots: NDArray[np.int64], budget: int, walk: Walk = walk
) -> tuple[NDArray[np.int32], NDArray[np.bool_], tuple[int, int]]:
    """Heads, what was abandoned, and (trials, steps)."""
    tables, bits = tables_of(weights, 0 if roots[0] == 0 else 1)
    heads, abandoned = np.full((len(roots), len(weights) - 1), -9, dtype=np.int32), np.zeros(len(roots), dtype=np.bool_)
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    return heads, abandoned, walk(tables.ravel(), bits, roots, state, budget, nothing_spare(), heads, abandoned)


def walks_without_tables(
    weights: Float, single_root: bool, count: int, budget: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_]]:
    """Heads, roots, and what was abandoned; column 0 of weights has the weights of roots."""
    heads, roots = np.full((count, len(weights) - 1), -9, dtype=np.int32), np.full(count, -9, dtype=np.int64)
    abandoned, state = np.zeros(count, dtype=np.bool_), np.array([1, 2, 3, 4], dtype=np.uint64)
    walk_without_tables(weights, single_root, state, budget, nothing_spare(), heads, roots, abandoned)
    return heads, roots, abandoned


def no_loops(n: int, roots: float = 0.0) -> Float:
    """All arcs alike; column 0 for the weights of roots."""
    weights = np.ones((n + 1, n + 1))
    np.fill_diagonal(weights, 0.0)
    weights[1:, 0] = roots
    return weights


@pytest.mark.parametrize("n", [1, 2, 3, 9, 31, 32, 33])
def test_walks_end_in_trees(n: int) -> None:
    roots = np.random.default_rng(n).integers(1, n + 1, size=TREES)
    heads, abandoned, (trials, steps) = walks(no_loops(n), roots, 10**6)
    assert not abandoned.any()
    assert SINGLE_ROOT.contains(heads).all()
    assert (heads[np.arange(TREES), roots - 1] == 0).all()
    assert trials == TREES
    assert steps >= TREES * (n - 1)


@pytest.mark.parametrize("n", [1, 2, 9, 33])
def test_rejection_ends_in_single_roots(n: int) -> None:
    free, _, _ = walks(no_loops(n), np.zeros(TREES, dtype=np.int64), 10**6)
    kept, _, (trials, _) = walks(no_loops(n), np.zeros(TREES, dtype=np.int64), 10**6, walk_until_single_root)
    assert MULTI_ROOT.contains(free).all()
    assert SINGLE_ROOT.contains(kept).all()
    assert (trials == TREES) == (n == 1)


def test_a_budget_is_kept_tree_by_tree() -> None:
    """n - 1 steps suffice for a walk without a loop; who needs more is abandoned, and nobody pays for a neighbour."""
    n, roots = 6, np.ones(10 * TREES, dtype=np.int64)
    generous, _, _ = walks(no_loops(n), roots, 10**6)
    heads, abandoned, (_, steps) = walks(no_loops(n), roots, n - 1)
    assert 0.1 < abandoned.mean() < 0.99
    assert SINGLE_ROOT.contains(heads[~abandoned]).all()
    assert steps <= len(roots) * n
    assert not walks(no_loops(n), roots, 10**6)[1].any()
    assert walks(no_loops(n), roots, 0)[1].all()
    assert not walks(no_loops(1), np.ones(3, dtype=np.int64), 0)[1].any()  # a root alone needs no step
    assert generous.shape == heads.shape


@pytest.mark.parametrize("spare", [0, 7, 50, 10**6])
def test_spare_steps_are_shared_by_all_trees(spare: int) -> None:
    """With and without tables: whoever needs more than the budget takes from what is spare; nobody is abandoned before
    it is gone, and no step is taken beyond it but the one that notices."""
    n, count, weights = 6, TREES, no_loops(6)
    weights[1, 0] = 1.0  # the root is word 1
    heads, roots = np.empty((count, n), dtype=np.int32), np.ones(count, dtype=np.int64)
    abandoned, left = np.zeros(count, dtype=bool), np.array([spare])
    tables, bits = tables_of(weights, 1)
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    _, steps = walk(tables.ravel(), bits, roots, state, 9, left, heads, abandoned)
    scanned, left_too = np.zeros(count, dtype=bool), np.array([spare])
    steps_too = walk_without_tables(weights, True, state, 9, left_too, heads, roots, scanned)
    for rest, lost, taken in ((left[0], abandoned, steps), (left_too[0], scanned, steps_too)):
        assert 0 <= rest <= spare
        assert (rest == 0) == lost.any() or spare == 0
        assert taken <= 9 * count + spare - rest + lost.sum()


@pytest.mark.parametrize("kind", [walk, walk_until_single_root])
def test_a_walk_that_never_ends_is_abandoned(kind: Walk) -> None:
    """Words 1 and 2 see each other only."""
    weights = np.zeros((4, 4))
    weights[2, 1] = weights[1, 2] = weights[0, 3] = 1.0
    _, abandoned, (_, steps) = walks(weights, np.zeros(5, dtype=np.int64), 1000, kind)
    assert abandoned.all()
    assert steps <= 5 * 1001
    assert walks_without_tables(weights, False, 5, 1000)[2].all()


@pytest.mark.parametrize("n", [1, 2, 3, 9, 33])
def test_walks_without_tables_end_in_trees(n: int) -> None:
    heads, roots, abandoned = walks_without_tables(no_loops(n, roots=1.0), True, TREES, 10**6)
    assert not abandoned.any()
    assert SINGLE_ROOT.contains(heads).all()
    assert (heads[np.arange(TREES), roots - 1] == 0).all()
    spanning, nodes, _ = walks_without_tables(no_loops(n), False, TREES, 10**6)
    assert MULTI_ROOT.contains(spanning).all()
    assert (nodes == 0).all()


@pytest.mark.parametrize("budget", [0, 4, 5, 6, 12])
def test_budgets_mean_the_same_with_and_without_tables(budget: int) -> None:
    """H0: walks of both kinds are as often too long. 4,000 walks each over 6 words; the difference of two frequencies
    has a standard deviation of at most sqrt(2 * 1/4 / 4000) = 0.0112: within five, one miss in two million."""
    count = 4000 // FEWER
    weights = no_loops(6)
    weights[1, 0] = 1.0  # the root is word 1
    by_tables = walks(weights, np.ones(count, dtype=np.int64), budget)[1].mean()
    without = walks_without_tables(weights, True, count, budget)[2].mean()
    assert abs(by_tables - without) < 5 * np.sqrt(0.5 / count)
    assert (by_tables == 1.0) == (without == 1.0) == (budget < 5)


def roots_by_tables(probs: Float, count: int) -> NDArray[np.int64]:
    weights = np.zeros((len(probs), len(probs)))
    weights[:, 0] = probs
    tables, bits = tables_of(weights, 1)
    roots = np.full(count, -9, dtype=np.int64)
    draw_roots(tables.ravel(), bits, np.array([1, 2, 3, 4], dtype=np.uint64), roots)
    return roots


def roots_by_scanning(probs: Float, count: int) -> NDArray[np.int64]:
    weights = no_loops(len(probs) - 1)
    weights[:, 0] = probs
    return walks_without_tables(weights, True, count, 10**6)[1]


@pytest.mark.parametrize("draw", [roots_by_tables, roots_by_scanning])
def test_roots_follow_their_probabilities(draw: Callable[[Float, int], NDArray[np.int64]]) -> None:
    """H0: a root is drawn with its probability. 50,000 draws, the rarest root expected 2,500 times (without compilation
    2,500 and 125); chi-square with two degrees of freedom exceeds 20 with probability e^-10 = 5e-5. No root of
    probability 0."""
    probs, count = np.array([0, 0.05, 0.25, 0, 0.7]), 50_000 // FEWER
    counts = np.bincount(draw(probs, count), minlength=5)
    assert counts[[0, 3]].sum() == 0
    expected = count * probs[[1, 2, 4]]
    assert ((counts[[1, 2, 4]] - expected) ** 2 / expected).sum() < 20
