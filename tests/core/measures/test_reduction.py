"""Trees without some words, and with several words as one, against climbing by hand."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.measures import Reduction, depths, joined, without
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import MULTI_ROOT


@pytest.mark.parametrize("removed", [[2], [1, 3], [1, 2, 3, 4]])
def test_dependents_of_what_is_left_out_go_to_its_head(removed: list[int]) -> None:
    trees = all_trees(4, MULTI_ROOT).astype(np.int64)
    gone = np.isin(np.arange(1, 5), removed)
    kept = [word for word in range(1, 5) if word not in removed]
    for tree, found in zip(trees.tolist(), without(trees, gone).tolist(), strict=True):
        heads = []
        for word in kept:
            head = tree[word - 1]
            while head in removed:
                head = tree[head - 1]
            heads.append(kept.index(head) + 1 if head else 0)
        assert found == heads


@pytest.mark.parametrize("units", [[0, 0, 1, 2], [0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]])
def test_units_of_words_make_trees(units: list[int]) -> None:
    """The head of a unit is the unit of the head of its highest word; single roots stay single."""
    trees = all_trees(4, MULTI_ROOT).astype(np.int64)
    found = joined(trees, np.array(units))
    assert MULTI_ROOT.contains(found).all()
    single = (trees == 0).sum(axis=1) == 1
    assert ((found[single] == 0).sum(axis=1) == 1).all()
    below = depths(trees.ravel(), np.arange(len(trees) + 1) * 4).reshape(-1, 4)
    for tree, heads, depth in zip(trees.tolist(), found.tolist(), below.tolist(), strict=True):
        for unit in range(max(units) + 1):
            words = [word for word in range(4) if units[word] == unit]
            head = tree[min(words, key=lambda word: depth[word])]
            assert heads[unit] == (units[head - 1] + 1 if head else 0)


def test_both_at_once() -> None:
    """A multiword token of two words, and a full stop that goes: 1-2 depend on 3, the root."""
    reduction = Reduction(np.array([False, False, False, True]), np.array([0, 0, 1, 2]))
    assert reduction.of(np.array([[3, 1, 0, 3], [3, 3, 0, 1]])).tolist() == [[2, 0], [2, 0]]
