"""The choices of a given tree lead to it again."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, TreeSpace
from deptree_cli.kernels.charts import EisnerGrammar
from deptree_cli.kernels.derivations import SPLIT, fill_extents, fill_path, first_item
from deptree_cli.kernels.walker import WIDTH, places, push_parts

BOTH = pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)


def grammar_of(n: int, single_root: bool) -> EisnerGrammar:
    """Without sums."""
    return EisnerGrammar(single_root, np.zeros((0, n + 1, n + 1)))


def path_of(tree: np.ndarray, single_root: bool) -> np.ndarray:
    n = len(tree)
    path, todo = np.full((2 * n, 4), -9), np.full((2 * n + 2, WIDTH), -9)
    first, last = np.full((2, n + 1), -9)
    return path[: fill_path(grammar_of(n, single_root), tree, path, todo, first, last)]


def made_by(path: np.ndarray, n: int, single_root: bool) -> tuple[int, ...]:
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
