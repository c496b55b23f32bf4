"""Trees of a cell, given a root and some heads: against enumeration, for every kind of partial tree."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.cells import draw_from, factorise_cell
from deptree_cli.kernels.head_path import FREE

KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])

# Root (0: several), and heads by word.
PARTS = [(0, {}), (2, {}), (0, {1: 0}), (0, {3: 1, 1: 4}), (2, {4: 2, 3: 4}), (1, {2: 3}), (3, {1: 2, 4: 1})]


def drawn(log_scores: np.ndarray, root: int, heads: np.ndarray, size: int, kind: Kind, state) -> np.ndarray:
    """Trees (size, n); heads by node."""
    n, weights = len(log_scores) - 1, kind.exp(log_scores)
    trees = np.full((size, n), -9, dtype=np.int32)
    cell, suffices = factorise_cell(weights, root, heads)
    assert suffices
    for tree in trees:
        draw_from(weights, root, heads, cell, state, tree)
    return trees


@KINDS
@pytest.mark.parametrize(("root", "given"), PARTS)
def test_trees_follow_the_distribution_given_heads(
    kind: Kind, root: int, given: dict[int, int], draws: int, state, graphs, enumerated, check_law
) -> None:
    """H0: independent draws from the trees with that root and those heads; chi-square, p < 1e-6 by chance."""
    log_scores = graphs.gaussian(4, 1.5, seed=3)
    exact = enumerated(log_scores, single_root=root > 0)
    fits = exact.trees[:, root - 1] == 0 if root else np.ones(len(exact.trees), dtype=bool)
    heads = np.full(5, FREE)
    for word, head in given.items():
        heads[word] = head
        fits = fits & (exact.trees[:, word - 1] == head)
    trees = drawn(log_scores, root, heads, draws // 4, kind, state)
    check_law(trees, exact.trees[fits], exact.log_probs[fits])


@pytest.mark.parametrize("seed", range(5))
def test_forbidden_arcs_are_never_drawn(seed: int, state, graphs) -> None:
    log_scores = graphs.holes(6, seed, single_root=False)
    heads = np.full(7, FREE)
    trees = drawn(log_scores, 0, heads, 60, REAL, state)
    heads[1:4] = trees[0, :3]
    trees = drawn(log_scores, 0, heads, 60, REAL, state)
    assert (trees[:, :3] == heads[1:4]).all()
    assert np.isfinite(log_scores[trees, np.arange(1, 7)]).all()
