"""Ancestral draws with a given root, in either kind of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces.rules import are_trees
from deptree_cli.kernels.trees.colbourn import draw_ancestral

KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def drawn(log_scores: np.ndarray, roots: np.ndarray, kind: Kind, state: np.ndarray) -> np.ndarray:
    """A tree for each root, (k, n)."""
    n = len(log_scores) - 1
    levels = 2 + n.bit_length()
    heads = np.full((len(roots), n), -9, dtype=np.int32)
    workspace = kind.zeros((levels, n, n)), kind.zeros((levels, n)), kind.zeros(n + 1)
    draw_ancestral(kind.exp(log_scores), roots, state, *workspace, heads)
    return heads


@KINDS
@pytest.mark.parametrize("root", [0, 1, 3])
def test_trees_follow_the_distribution_given_the_root(
    kind: Kind, root: int, draws: int, state, graphs, enumerated, check_law
) -> None:
    """H0: independent draws from the trees with that root; chi-square, p < 1e-6 by chance."""
    log_scores = graphs.gaussian(4, 1.5, seed=2)
    exact = enumerated(log_scores, single_root=root > 0)
    fits = exact.trees[:, root - 1] == 0 if root else np.ones(len(exact.trees), dtype=bool)
    heads = drawn(log_scores, np.full(draws // 4, root), kind, state)
    check_law(heads, exact.trees[fits], exact.log_probs[fits])


@KINDS
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 17])
def test_every_way_to_halve_a_sentence(kind: Kind, n: int, state, graphs) -> None:
    roots = np.random.default_rng(n).integers(1, n + 1, size=10)
    heads = drawn(graphs.gaussian(n, 4), roots, kind, state)
    assert are_trees(heads).all()
    assert (heads[np.arange(10), roots - 1] == 0).all()
