"""The oracle checks itself: against Cayley's formula and sums by hand. (A naive climb is in tests/kernels/trees.)"""

from __future__ import annotations

import math

import numpy as np
import pytest

from deptree_cli.core.oracle import LARGEST_N, all_trees
from deptree_cli.core.spaces import MULTI_ROOT, space
from tests.oracle import Oracle


@pytest.mark.parametrize("n", range(1, 7))
def test_cayley(n: int) -> None:
    assert len(all_trees(n)) == n ** (n - 1)
    assert len(all_trees(n, MULTI_ROOT)) == (n + 1) ** (n - 1)


@pytest.mark.parametrize("single_root", [True, False])
def test_trees_differ_and_come_in_order(single_root: bool) -> None:
    trees = all_trees(4, space(single_root)).tolist()
    assert trees == sorted(trees)
    assert len(set(map(tuple, trees))) == len(trees)


def test_too_many_trees_are_refused() -> None:
    with pytest.raises(ValueError, match="8 words have too many trees"):
        all_trees(LARGEST_N + 1)


@pytest.mark.parametrize("single_root", [True, False])
def test_probabilities_by_hand(single_root: bool, graphs) -> None:
    log_scores, trees = graphs.gaussian(3, seed=1), all_trees(3, space(single_root))
    oracle = Oracle(graphs.distribution(log_scores, single_root))
    weights = [math.prod(math.exp(log_scores[h, d + 1]) for d, h in enumerate(tree)) for tree in trees]
    assert oracle.log_z == pytest.approx(math.log(math.fsum(weights)), abs=1e-14)
    assert np.exp(oracle.log_probs) == pytest.approx(np.array(weights) / math.fsum(weights), abs=1e-15)
    by_hand = sum(w for tree, w in zip(trees, weights, strict=True) if tree[1] == 3) / sum(weights)
    assert oracle.marginals()[3, 2] == pytest.approx(by_hand, abs=1e-15)


def test_trees_over_forbidden_arcs_are_left_out(graphs) -> None:
    oracle = Oracle(graphs.distribution(graphs.figure1()))
    assert oracle.trees.tolist() == [[0, 1, 1], [0, 3, 1], [2, 3, 0]]
    assert np.exp(oracle.log_probs) == pytest.approx([1 / 3] * 3)
    assert oracle.marginals()[0] == pytest.approx([0, 2 / 3, 0, 1 / 3])
