"""A set of trees: what is in it is found, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.kernels.cells import place_of


def table_of(trees: np.ndarray, count: int, size: int) -> np.ndarray:
    """The first `count` of trees, each by its number and one."""
    table = np.zeros(size, dtype=np.int64)
    for tree in range(count):
        table[place_of(trees, trees[tree], table)] = tree + 1
    return table


@pytest.mark.parametrize("count", [0, 1, 15, 16, 300])
def test_trees_are_found(count: int) -> None:
    """The last ones are not in the set yet."""
    heads = np.random.default_rng(count).permutation(4**5)[: count + 20]
    trees = np.stack([heads // 4**i % 4 for i in range(5)], axis=1).astype(np.int32)
    table = table_of(trees, count, 1 << (4 * count + 3).bit_length())
    for tree, row in enumerate(trees):
        assert table[place_of(trees, row, table)] == (tree + 1 if tree < count else 0)


def test_a_full_neighbourhood() -> None:
    """Trees in one place move on to the next, around the end of the table, which is far more than a quarter full."""
    count = 30
    trees = np.arange(count, dtype=np.int32)[:, None]
    table = table_of(trees, count, 32)
    assert sorted(table[table > 0]) == list(range(1, count + 1))
    assert all(table[place_of(trees, trees[tree], table)] == tree + 1 for tree in range(count))
