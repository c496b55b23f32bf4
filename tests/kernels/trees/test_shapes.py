"""Which heads are trees, which arcs cross and which have gaps, against their definitions, by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deptree_cli.core.dtypes import Int
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import MULTI_ROOT
from deptree_cli.kernels.orders import are_trees, crossings, gaps

SIZES = pytest.mark.parametrize("n", [1, 2, 3, 4])


def all_heads(n: int) -> Int:
    """Every row of heads in range, trees or not."""
    return np.array(list(itertools.product(range(n + 1), repeat=n)), dtype=np.int64)


def climb(heads: list[int], word: int) -> list[int]:
    """A word, its head, and so on, in n steps at most; with ROOT at the end if it is above the word."""
    line = [word]
    while line[-1] and len(line) <= len(heads):
        line.append(heads[line[-1] - 1])
    return line


@SIZES
def test_trees_are_what_climbs_to_root(n: int) -> None:
    every = all_heads(n)
    naive = [all(climb(heads, word)[-1] == 0 for word in range(1, n + 1)) for heads in every.tolist()]
    assert are_trees(every).tolist() == naive
    assert sum(naive) == (n + 1) ** (n - 1)  # Cayley 1889


def test_heads_out_of_range_are_no_trees() -> None:
    assert are_trees(np.array([[0, 1], [0, 3], [0, -1], [-3, 0]])).tolist() == [True, False, False, False]
    assert are_trees(np.empty((2, 0), np.int64)).tolist() == [False, False]
    assert are_trees(np.empty((0, 2), np.int64)).tolist() == []


@SIZES
def test_the_first_arc_that_crosses(n: int) -> None:
    """Of two arcs one begins below the other and ends beyond it; words between the ends of an arc are named first."""
    every = all_heads(n)
    arcs = [[sorted((head, word)) for word, head in enumerate(heads, 1)] for heads in every.tolist()]
    for own, found in zip(arcs, crossings(every).tolist(), strict=True):
        for (first, last), other in zip(own, found, strict=True):
            across = [i for i, (a, b) in enumerate(own, 1) if a < first < b < last or first < a < last < b]
            assert other == next(iter([i for i in across if first < i < last] or across), 0)


@SIZES
def test_gaps(n: int) -> None:
    """Some word between the ends is not below the head; trees without gaps are those without arcs that cross."""
    trees = all_trees(n, MULTI_ROOT).astype(np.int64)
    for heads, found in zip(trees.tolist(), gaps(trees).tolist(), strict=True):
        between = [range(min(head, word) + 1, max(head, word)) for word, head in enumerate(heads, 1)]
        expected = [any(h not in climb(heads, i) for i in inside) for h, inside in zip(heads, between, strict=True)]
        assert found == expected
    assert (gaps(trees).any(axis=1) == crossings(trees).any(axis=1)).all()
