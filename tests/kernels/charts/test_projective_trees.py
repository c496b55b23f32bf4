"""Maximum projective trees, and the best ones in order, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.spaces import space
from deptree_cli.kernels.charts.best_projective_trees import best_projective_trees
from deptree_cli.kernels.charts.projective_trees import best_tree
from tests.oracle import Oracle

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
Float = NDArray[np.float64]


def ties(graphs, n: int, seed: int) -> Float:
    """Integers, about half of the arcs forbidden; sums of them are exact."""
    return np.round(graphs.holes(n, seed, True, 2.0, projective=True))


def sums_of(graphs, scores: Float, single_root: bool) -> tuple[list[list[int]], Float]:
    """Every tree, and the sums of scores in decreasing order."""
    trees = Oracle(graphs.over(scores, space(single_root, projective=True))).trees
    return trees.tolist(), np.sort(scores[trees, np.arange(1, len(scores))].sum(axis=1))[::-1]


@pytest.mark.slow("size")
@BOTH
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_best_trees(single_root: bool, n: int, graphs) -> None:
    """All of them, none twice, in order; ties and forbidden arcs included."""
    for scores in (*(ties(graphs, n, seed) for seed in range(4)), graphs.gaussian(n)):
        trees, sums = sums_of(graphs, scores, single_root)
        for size in (1, 3, len(sums), len(sums) + 1):
            found = best_projective_trees(scores, single_root, size)
            np.testing.assert_allclose(scores[found, np.arange(1, n + 1)].sum(axis=1), sums[:size], rtol=0, atol=1e-14)
            assert all(tree in trees for tree in found.tolist())
            assert len({tuple(tree) for tree in found.tolist()}) == min(size, len(sums))


def test_no_tree() -> None:
    """Word 2 has no head; two words have ROOT only; only crossing arcs are left."""
    scores = np.full((3, 3), -np.inf)
    scores[0, 1] = 1.0
    nothing = np.empty(2, dtype=np.int32)
    assert best_tree(scores, True, nothing) == -np.inf
    assert best_projective_trees(scores, True, 5).shape == (0, 2)
    scores[0, 2] = 1.0
    assert best_tree(scores, True, nothing) == -np.inf
    assert best_tree(scores, False, nothing) == 2.0
    crossing = np.full((5, 5), -np.inf)
    crossing[[0, 1, 1, 2], [1, 2, 3, 4]] = 0.0
    assert best_tree(crossing, False, np.empty(4, dtype=np.int32)) == -np.inf
    assert best_projective_trees(crossing, False, 5).shape == (0, 4)
