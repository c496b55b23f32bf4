"""Lifting arcs until a tree is projective, against the definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numba import config

from deptree_cli.core.dtypes import Heads
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import space
from deptree_cli.hpyp.kernels.configurations import projectivise
from deptree_cli.io.files.streams import open_input
from tests.tree_files import read_blocks


def crossed_arcs(heads: list[int]) -> list[tuple[int, int]]:
    """(length, dependent) of every arc with a word between its ends that is not below its head: the definition."""
    below: list[set[int]] = [set() for _ in range(len(heads) + 1)]
    for word in range(1, len(heads) + 1):
        above = word
        while above:
            above = heads[above - 1]
            below[above].add(word)
    return [
        (abs(head - word), word)
        for word, head in enumerate(heads, 1)
        if not set(range(min(head, word) + 1, max(head, word))) <= below[head]
    ]


def lifted(heads: list[int]) -> tuple[list[int], int]:
    """The tree made projective, and the number of lifts, everything computed anew after each."""
    heads, lifts = list(heads), 0
    while arcs := crossed_arcs(heads):
        _, word = min(arcs)
        heads[word - 1] = heads[heads[word - 1] - 1]
        lifts += 1
    return heads, lifts


def check(heads: Heads) -> int:
    expected, lifts = lifted(heads.tolist())
    found = heads.copy()
    assert projectivise(found) == lifts
    assert found.tolist() == expected
    return lifts


@pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
def test_every_small_tree(single_root: bool) -> None:
    """Every tree of up to 5 words; of 5 words 625 have a single root, and 1296 in all."""
    for n in range(1, 4 if config.DISABLE_JIT else 6):
        lifts = [check(heads) for heads in all_trees(n, space(single_root))]
        assert n < 4 or max(lifts) >= 1


def test_random_trees() -> None:
    """100 trees of 2 to 40 words, each word under a random one of those before it in a random order."""
    rng = np.random.default_rng(5)
    lifts = 0
    for _ in range(100):
        n = int(rng.integers(2, 41))
        order = rng.permutation(n)
        heads = np.zeros(n, dtype=np.int32)
        for rank in range(1, n):
            heads[order[rank]] = order[rng.integers(rank)] + 1
        lifts += check(heads)
    assert lifts > 1000


def test_of_equally_short_arcs_the_leftmost_dependent_goes_first() -> None:
    """5 -> 2 and 1 -> 4 cross. Word 2 is lifted to 3, then word 4 to 2 and to 3; from the right, 4 would stay at 5."""
    heads = np.array([2, 5, 0, 1, 3], dtype=np.int32)
    assert crossed_arcs(heads.tolist()) == [(3, 2), (3, 4)]
    assert projectivise(heads) == 3
    assert heads.tolist() == [2, 3, 0, 3, 3]


@pytest.mark.slow("size")
def test_a_treebank(shared: Path) -> None:
    """UD_English-EWT: 288 of 12,544 sentences are not projective."""
    with open_input(str(shared / "ewt/train.conllu.gz")) as file:
        trees = [np.array(block.heads, dtype=np.int32) for block in read_blocks(file.stream, file.place)]
    assert len(trees) == 12_544
    lifts = [check(heads) for heads in trees]
    assert sum(lift > 0 for lift in lifts) == 288
