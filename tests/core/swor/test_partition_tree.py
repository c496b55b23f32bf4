"""The adaptive partition tree: whatever its thresholds, its memory or its kind of numbers; laws are in tests/laws."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.swor import partition_tree
from tests.oracle import Oracle
from tests.pearson import chi_square

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def drawn(distribution: TreeDistribution, size: int, seed: int = 1) -> np.ndarray:
    return partition_tree.draw(distribution, size, np.random.default_rng(seed)).heads


@BOTH
@pytest.mark.parametrize("size", [64, 1000, 3000])
def test_memory_for_cells_does_not_show(single_root: bool, size: int, graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution = graphs.distribution(graphs.gaussian(5, 2), single_root)
    expected = drawn(distribution, size)
    monkeypatch.setattr(partition_tree, "CELLS", 2)
    assert np.array_equal(drawn(distribution, size), expected)


@BOTH
def test_memory_is_not_read_before_it_is_written(single_root: bool, graphs, over_junk) -> None:
    """More trees than the first set of them holds."""
    distribution = graphs.distribution(graphs.gaussian(7, 2), single_root)
    assert np.array_equal(*over_junk(lambda: drawn(distribution, 1500)))


def order_p_value(distribution: TreeDistribution, runs: int) -> float:
    """Chi-square of the first two trees over their exact order probabilities."""
    oracle = Oracle(distribution)
    probs, count = np.exp(oracle.log_probs), len(oracle.trees)
    number = {tuple(tree): index for index, tree in enumerate(oracle.trees.tolist())}
    orders = probs[:, None] * probs / (1.0 - probs)[:, None]
    np.fill_diagonal(orders, 0.0)
    counts, rng = np.zeros((count, count), dtype=np.int64), np.random.default_rng(5)
    for _ in range(runs):
        first, second = partition_tree.draw(distribution, 2, rng).heads.tolist()
        counts[number[tuple(first)], number[tuple(second)]] += 1
    possible = orders > 0
    assert counts[~possible].sum() == 0
    return float(chi_square(counts[possible], orders[possible])[2])


@pytest.mark.slow("statistics")
@BOTH
@pytest.mark.parametrize(("tree", "repeats"), [(1, 0.0), (1, 1.0), (6, 0.0), (6, 1.0)])
def test_the_order_does_not_depend_on_when_walks_are_given_up(
    single_root: bool, tree: int, repeats: float, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H0: the first two trees are a, b with probability p_a * p_b / (1 - p_a). Walks are given up after one step, or
    after six, which about half of them need; trees then come from inside cells. 1,500 runs on 4 words, rare pairs
    pooled until expected five times; threshold 0.001 / 8."""
    monkeypatch.setattr(partition_tree, "TREE", tree / 4)  # for each of the words
    monkeypatch.setattr(partition_tree, "FACTORS", 0.0)
    monkeypatch.setattr(partition_tree, "REPEATS", repeats)
    distribution = graphs.distribution(graphs.gaussian(4, 2.5, seed=3), single_root)
    assert order_p_value(distribution, 1500) > 0.001 / 8


def requests(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What draws need, by name."""
    asked: Counter[str] = Counter()
    kernel = partition_tree.kernel
    names = {getattr(kernel, name): name for name in ("DONE", "SET", "INSIDE", "DIVIDE")}
    draw_by_walk = kernel.draw_by_walk

    def counting(*arguments: Any) -> Any:
        cursor = draw_by_walk(*arguments)
        asked[names[cursor.needs]] += 1
        return cursor

    monkeypatch.setattr(kernel, "draw_by_walk", counting)
    return asked


@BOTH
def test_saturated_sentences_are_not_divided_level_by_level(
    single_root: bool, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where mass is spread and no walk ends, every tree takes one draw inside a cell, and no cell is divided."""
    asked = requests(monkeypatch)
    trees = drawn(graphs.distribution(graphs.saturated(40), single_root), 30)
    assert len(np.unique(trees, axis=0)) == 30
    assert asked["INSIDE"] == 30
    assert asked["DIVIDE"] == 0


def test_a_cell_is_divided_along_a_tree_at_once(graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly all mass is on few trees: there are no more divisions than trees, each of which takes O(n^3)."""
    asked = requests(monkeypatch)
    trees = drawn(graphs.distribution(graphs.gaussian(30, 100)), 40)
    assert len(np.unique(trees, axis=0)) == 40
    assert 0 < asked["DIVIDE"] <= 40


@pytest.mark.parametrize("scale", [1, 5, 15])
def test_no_tree_twice_of_many(scale: int, graphs) -> None:
    draws = partition_tree.draw(graphs.distribution(graphs.gaussian(100, scale)), 10_000, np.random.default_rng(3))
    assert len(np.unique(draws.heads, axis=0)) == len(draws.heads) == 10_000


@BOTH
def test_from_float64_on_in_wide_numbers(single_root: bool, graphs) -> None:
    """Three trees in four have less than e^-300: they come after all others, and in the order of their mass."""
    log_scores = graphs.gaussian(4)
    log_scores[1:3, 3:] -= 400.0
    distribution = graphs.distribution(log_scores, single_root)
    draws = partition_tree.draw(distribution, 200, np.random.default_rng(4))
    assert sorted(draws.heads.tolist()) == Oracle(distribution).trees.tolist()
    assert draws.log_probs.min() < -700
    assert (draws.log_probs[np.diff(draws.log_probs, prepend=0) < -300].size) > 0
