"""The oracle checks itself: against Cayley's formula, a naive climb and sums by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from deptree_cli.core.oracle import LARGEST_N, Oracle, all_trees, are_trees


@pytest.mark.parametrize("n", range(1, 7))
def test_cayley(n: int) -> None:
    assert len(all_trees(n)) == n ** (n - 1)
    assert len(all_trees(n, single_root=False)) == (n + 1) ** (n - 1)


@pytest.mark.parametrize("single_root", [True, False])
def test_trees_differ_and_come_in_order(single_root: bool) -> None:
    trees = all_trees(4, single_root).tolist()
    assert trees == sorted(trees)
    assert len(set(map(tuple, trees))) == len(trees)


def test_too_many_trees_are_refused() -> None:
    with pytest.raises(ValueError, match="8 words have too many trees"):
        all_trees(LARGEST_N + 1)


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
    assert are_trees(np.array([heads])).tolist() == [single]
    assert are_trees(np.array([heads]), single_root=False).tolist() == [multi]


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
    assert are_trees(np.array(every), single_root=False).tolist() == naive
    assert are_trees(np.array(every)).tolist() == single


def test_long_chains_and_long_cycles() -> None:
    chain = np.arange(100)[None, :]
    cycle = np.append(chain[:, 1:], [[100]], axis=1)
    cycle[0, -1] = 1
    assert are_trees(chain).all()
    assert not are_trees(cycle, single_root=False).any()


@pytest.mark.parametrize("single_root", [True, False])
def test_probabilities_by_hand(single_root: bool, graphs) -> None:
    log_scores = graphs.gaussian(3, seed=1)
    oracle = Oracle(graphs.sentence(log_scores, single_root))
    weights = [
        math.prod(math.exp(log_scores[h, d + 1]) for d, h in enumerate(tree)) for tree in all_trees(3, single_root)
    ]
    assert oracle.log_z == pytest.approx(math.log(math.fsum(weights)), abs=1e-14)
    assert np.exp(oracle.log_probs) == pytest.approx(np.array(weights) / math.fsum(weights), abs=1e-15)
    by_hand = sum(w for tree, w in zip(all_trees(3, single_root), weights, strict=True) if tree[1] == 3) / sum(weights)
    assert oracle.marginals()[3, 2] == pytest.approx(by_hand, abs=1e-15)


def test_trees_over_forbidden_arcs_are_left_out(graphs) -> None:
    oracle = Oracle(graphs.sentence(graphs.figure1()))
    assert oracle.trees.tolist() == [[0, 1, 1], [0, 3, 1], [2, 3, 0]]
    assert np.exp(oracle.log_probs) == pytest.approx([1 / 3] * 3)
    assert oracle.marginals()[0] == pytest.approx([0, 2 / 3, 0, 1 / 3])
