"""A trie of drawn projective trees: what is left is the rest of the mass, and what is drawn is in proportion to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, TreeSpace
from deptree_cli.core.swor.derivations import eisner_of
from deptree_cli.kernels.charts.walker import NONE, WIDTH
from deptree_cli.kernels.distinct.derivation_nodes import (
    DerivationProblem,
    DerivationWorkspace,
    Trie,
    draw_tree,
    insert,
)
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def integers(*shape: int) -> np.ndarray:
    return np.full(shape, -9)


def problem_of(distribution: Any, kind: Kind) -> DerivationProblem:
    eisner = eisner_of(distribution.factorisation)
    eisner = eisner if kind is REAL else eisner.in_wide_numbers
    return DerivationProblem(eisner.grammar, eisner.shifted.log_weights, eisner.shifted_log_z)


def empty_trie(kind: Kind, slots: int = 3000) -> Trie:
    below = integers(slots)
    below[0] = NONE
    return Trie(np.ones(1, dtype=np.int64), kind.exp(np.append(0.0, np.full(slots - 1, 3.0))), below)


def workspace(n: int, kind: Kind) -> DerivationWorkspace:
    stacks, extents, paths = integers(2, 2 * n + 2, WIDTH), integers(2, n + 1), integers(2, 2 * n, 4)
    rests = kind.zeros(2 * n + 1), kind.zeros(2 * n + 1)
    known = np.full(1, NONE)
    return DerivationWorkspace(*stacks, *extents, *paths, *rests, integers(2 * n + 1), known)


@pytest.mark.slow("size")
@BOTH
@KINDS
@pytest.mark.parametrize("scale", [1, 20])
def test_what_is_left_is_the_mass_of_the_trees_not_known(kind: Kind, scale: int, trees: TreeSpace, graphs) -> None:
    """To ten digits of itself, whichever order they come in; nothing is left behind the last."""
    distribution = graphs.over(graphs.gaussian(4, scale), trees)
    oracle, problem, work = Oracle(distribution), problem_of(distribution, kind), workspace(4, kind)
    for seed in range(5):
        order, trie = np.random.default_rng(seed).permutation(len(oracle.trees)), empty_trie(kind)
        heads = oracle.trees[order]
        work.known[0] = NONE
        for known in range(len(heads)):
            insert(problem, trie, heads, known, work)
            left = np.exp(oracle.log_probs[order[known + 1 :]]).sum()
            assert kind.floats(trie.left)[0] == pytest.approx(left, rel=1e-10, abs=0)
    assert left == 0.0


@pytest.mark.slow("statistics")
@BOTH
@KINDS
@pytest.mark.parametrize("share", [0, 1, 5, 28])
def test_trees_come_in_proportion_to_what_is_left(
    kind: Kind, share: int, trees: TreeSpace, draws: int, state, graphs, check_law
) -> None:
    """H0: given the trees that are known, the others come in proportion to their probabilities, and none of the known
    ones. Of 4 words, so many of 30 or 55 trees known; chi-square, p < 1e-6 by chance."""
    distribution = graphs.over(graphs.gaussian(4, 1.5, seed=2), trees)
    oracle, problem, work, trie = (
        Oracle(distribution),
        problem_of(distribution, kind),
        workspace(4, kind),
        empty_trie(kind),
    )
    order = np.random.default_rng(share).permutation(len(oracle.trees))
    heads = np.append(oracle.trees[order], integers(1, 4).astype(np.int32), axis=0)
    for known in range(share):
        insert(problem, trie, heads, known, work)
    found = np.empty((draws, 4), dtype=np.int32)
    for each in found:
        draw_tree(problem, trie, heads, len(order), state, work)
        each[:] = heads[-1]
    rest = order[share:]
    check_law(found, oracle.trees[rest], oracle.log_probs[rest])
