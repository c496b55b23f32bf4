"""Maximum trees, and the best trees of Lawler's parts, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.kernels.trees import best_tree, best_trees_below
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def best(scores: np.ndarray, single_root: bool) -> tuple[np.ndarray, float]:
    heads = np.full(len(scores) - 1, -9, dtype=np.int32)
    return heads, best_tree(scores, single_root, heads)


def totals_of(exact: Oracle, scores: np.ndarray) -> np.ndarray:
    """Scores of all trees, exact where arcs' scores are integers."""
    return scores[exact.trees, np.arange(1, len(scores))].sum(axis=1)


def integers(graphs, n: int, seed: int, single_root: bool) -> np.ndarray:
    """Scores with ties, about half of the arcs forbidden; sums of them are exact."""
    return np.round(graphs.holes(n, seed, single_root, scale=2))


@BOTH
def test_no_tree(single_root: bool) -> None:
    """Word 2 has no head; or both words have ROOT only."""
    scores = np.full((3, 3), -np.inf)
    scores[0, 1] = 1.0
    assert best(scores, single_root)[1] == -np.inf
    scores[0, 2] = 1.0
    assert best(scores, single_root)[1] == (-np.inf if single_root else 2.0)


@BOTH
def test_the_best_of_all_trees(single_root: bool, graphs, enumerated) -> None:
    for seed in range(60):
        scores = integers(graphs, 1 + seed % 4, seed, single_root)
        exact = enumerated(scores, single_root)
        heads, total = best(scores, single_root)
        assert total == totals_of(exact, scores).max()
        assert heads.tolist() in exact.trees.tolist()


def test_the_best_of_the_best_trees_of_each_root() -> None:
    """Whether one word takes ROOT at first, or several do, or none is possible."""
    rng, found = np.random.default_rng(1), set()
    for n in range(2, 32):
        scores = rng.integers(-9, 9, (n + 1, n + 1)).astype(float)
        scores[rng.random((n + 1, n + 1)) < 0.5 * (n % 3)] = -np.inf
        heads, total = best(scores, single_root=True)
        of_each = []
        for root in range(1, n + 1):
            given = scores.copy()
            given[0, np.arange(n + 1) != root] = -np.inf
            of_each.append(best(given, single_root=False)[1])
        assert total == max(of_each)
        found.add((best(scores, single_root=False)[1] > total, total > -np.inf))
        if total > -np.inf:
            assert np.count_nonzero(heads == 0) == 1
            assert scores[heads, np.arange(1, n + 1)].sum() == total
    assert found == {(False, True), (True, True), (False, False)}


@pytest.mark.slow("size")
@BOTH
@pytest.mark.parametrize("first", [1, 2, 4])
def test_the_best_tree_of_each_part(single_root: bool, first: int, graphs, enumerated) -> None:
    """Part i: like the tree before word i, unlike it in word i; word `first` has some heads banned."""
    n = 4
    for seed in range(15):
        scores = integers(graphs, n, seed, single_root)
        exact = enumerated(scores, single_root)
        tree, _ = best(scores, single_root)
        banned = np.random.default_rng(seed).random(n + 1) < 0.3
        banned[tree[first - 1]] = False
        heads, totals = np.full((n, n), -9, dtype=np.int32), np.full(n, np.nan)
        best_trees_below(scores, single_root, tree, first, banned, heads, totals)
        for word in range(first, n + 1):
            agree = (exact.trees[:, : word - 1] == tree[: word - 1]).all(axis=1)
            part = agree & (exact.trees[:, word - 1] != tree[word - 1]) & ~banned[exact.trees[:, first - 1]]
            expected = totals_of(exact, scores)[part].max(initial=-np.inf)
            assert totals[word - 1] == expected
            if part.any():
                assert heads[word - 1].tolist() in exact.trees[part].tolist()
