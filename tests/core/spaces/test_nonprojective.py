"""What a non-projective tree is, against a naive climb."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT


@pytest.mark.parametrize(
    ("heads", "single", "multi"),
    [
        ([0], True, True),
        ([0, 1, 2], True, True),
        ([2, 0, 2], True, True),
        ([0, 0, 1], False, True),
        ([0, 0, 0], False, True),
        ([2, 1, 0], False, False),  # a cycle beside a root
        ([2, 3, 1], False, False),  # a cycle and no root
        ([0, 2, 1], False, False),  # a self-loop
        ([1, 0, 2], False, False),  # another
        ([0, 1, 4], False, False),  # there is no word 4
        ([0, 1, -1], False, False),
        ([0, -3, 1], False, False),
    ],
)
def test_what_a_tree_is(heads: list[int], single: bool, multi: bool) -> None:
    assert SINGLE_ROOT.contains(np.array([heads])).tolist() == [single]
    assert MULTI_ROOT.contains(np.array([heads])).tolist() == [multi]


def climbs_to_root(heads: tuple[int, ...], word: int) -> bool:
    """Whether ROOT is above a word, one step at a time."""
    for _ in heads:
        word = heads[word - 1]
        if word == 0:
            return True
    return False


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_against_a_naive_climb(n: int) -> None:
    every = list(itertools.product(range(n + 1), repeat=n))
    naive = [all(climbs_to_root(heads, word) for word in range(1, n + 1)) for heads in every]
    single = [tree and heads.count(0) == 1 for tree, heads in zip(naive, every, strict=True)]
    assert MULTI_ROOT.contains(np.array(every)).tolist() == naive
    assert SINGLE_ROOT.contains(np.array(every)).tolist() == single


def test_long_chains_and_long_cycles() -> None:
    chain = np.arange(100)[None, :]
    cycle = np.append(chain[:, 1:], [[100]], axis=1)
    cycle[0, -1] = 1
    assert SINGLE_ROOT.contains(chain).all()
    assert not MULTI_ROOT.contains(cycle).any()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_integers_of_any_kind(dtype: type) -> None:
    trees = np.array([[0, 1, 2], [2, 1, 0], [0, 9, 1]], dtype=dtype)
    assert SINGLE_ROOT.contains(trees).tolist() == [True, False, False]
    assert SINGLE_ROOT.contains(trees[:0]).tolist() == []
