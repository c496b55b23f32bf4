"""The choices of a given tree lead to it again, and what is beside them is what enumeration says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, TreeSpace
from deptree_cli.core.swor.derivations import eisner_of
from deptree_cli.kernels.charts.eisner import Eisner
from deptree_cli.kernels.charts.walker import WIDTH, places, push_parts
from deptree_cli.kernels.distinct.derivation_path import SPLIT, fill_extents, fill_path, fill_rest
from deptree_cli.kernels.distinct.derivations import first_item
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])

Tree = tuple[int, ...]


def grammar_of(n: int, single_root: bool) -> Eisner:
    """Without sums."""
    return Eisner(single_root, np.zeros((0, n + 1, n + 1)))


def path_of(tree: np.ndarray, single_root: bool) -> np.ndarray:
    n = len(tree)
    path, todo = np.full((2 * n, 4), -9), np.full((2 * n + 2, WIDTH), -9)
    first, last = np.full((2, n + 1), -9)
    return path[: fill_path(grammar_of(n, single_root), tree, path, todo, first, last)]


def made_by(path: np.ndarray, n: int, single_root: bool) -> Tree:
    """The tree of a path: items of one place only are split there, the others as the path says."""
    grammar, todo, heads = grammar_of(n, single_root), np.full((2 * n + 2, WIDTH), -9), np.full(n, -9)
    items, depth, splits = first_item(n, todo), 0, 0
    while items:
        items -= 1
        item = tuple(todo[items, :3].tolist())
        k, stop, _ = places(grammar, item, 0)
        if stop - k > 1:
            assert path[depth, :3].tolist() == [*item]
            k, depth = path[depth, SPLIT], depth + 1
        items, splits = push_parts(grammar, item, 0, k, todo, items, heads), splits + 1
    assert depth == len(path)
    assert splits == 2 * n
    return tuple(heads.tolist())


@BOTH
@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_tree_has_a_path_of_its_own(n: int, trees: TreeSpace) -> None:
    every = all_trees(n, trees)
    paths = [path_of(tree, trees.single_root) for tree in every]
    assert [made_by(path, n, trees.single_root) for path in paths] == [tuple(tree) for tree in every.tolist()]
    assert len({path.tobytes() for path in paths}) == len(every)


def test_extents() -> None:
    """Of every tree of five words that is projective."""
    for tree in all_trees(5, PROJECTIVE_MULTI):
        first, last = np.full((2, 6), -9)
        fill_extents(tree, first, last)
        below = {node: {node} for node in range(6)}
        for word in range(1, 6):
            node = word
            while node:
                node = int(tree[node - 1])
                below[node].add(word)
        assert (first.tolist(), last.tolist()) == ([min(below[w]) for w in below], [max(below[w]) for w in below])


def grammar_in(kind: Kind, distribution: Any) -> Eisner:
    eisner = eisner_of(distribution.factorisation)
    assert not eisner.is_wide
    return (eisner if kind is REAL else eisner.in_wide_numbers).grammar


@BOTH
@KINDS
def test_what_is_beside_a_tree_is_the_mass_of_all_that_leave_it(kind: Kind, trees: TreeSpace, graphs) -> None:
    """Given its first choices, to twelve digits of itself though next to nothing is beside the best tree."""
    distribution = graphs.over(graphs.gaussian(4, 30), trees)
    oracle, grammar = Oracle(distribution), grammar_in(kind, distribution)
    paths = [path_of(tree, trees.single_root).tolist() for tree in oracle.trees]
    least = 0.0
    for path in paths:
        rest = kind.exp(np.full(9, 7.0))
        fill_rest(grammar, np.array(path), 1, len(path), rest)
        found = kind.floats(rest)
        assert found[0] == pytest.approx(np.exp(7.0))
        for depth in range(1, len(path) + 1):
            agree = np.array([other[:depth] == path[:depth] for other in paths])
            others = agree & np.array([other != path for other in paths])
            log_share = np.logaddexp.reduce(oracle.log_probs[others], initial=-np.inf) - np.logaddexp.reduce(
                oracle.log_probs[agree]
            )
            assert found[depth] == pytest.approx(np.exp(log_share), rel=1e-12)
            least = min(least, log_share) if np.isfinite(log_share) else least
    assert least < -30
