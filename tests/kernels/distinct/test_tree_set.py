"""A set of trees: what is in it is found, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.kernels.cells import NONE, hash_table, place_of


@pytest.mark.parametrize("count", [0, 1, 15, 16, 300])
def test_trees_are_found(count: int) -> None:
    """The last ones are not in the set yet."""
    heads = np.random.default_rng(count).permutation(4**5)[: count + 20]
    trees = np.stack([heads // 4**i % 4 for i in range(5)], axis=1).astype(np.int32)
    table = hash_table(trees, count)
    assert len(table) >= 4 * count
    assert (table != NONE).sum() == count
    for tree, row in enumerate(trees):
        assert table[place_of(trees, row, table)] == (tree if tree < count else NONE)


def test_a_full_neighbourhood() -> None:
    """Trees in one place move on to the next, around the end of the table, which is far more than a quarter full."""
    count = 30
    trees = np.arange(count, dtype=np.int32)[:, None]
    table = np.full(32, NONE, dtype=np.int64)
    for tree in range(count):
        table[place_of(trees, trees[tree], table)] = tree
    assert sorted(table[table != NONE]) == list(range(count))
    assert all(table[place_of(trees, trees[tree], table)] == tree for tree in range(count))
