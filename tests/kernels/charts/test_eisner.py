"""Eisner's chart against the number of projective trees, and where there is none; in tests/core by enumeration."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.charts.best_projective_trees import best_projective_trees
from deptree_cli.kernels.charts.eisner import TABLES, inside
from deptree_cli.kernels.charts.projective_trees import best_tree
from deptree_cli.kernels.numbers.operations import logarithm

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)


def number_of_trees(n: int, single_root: bool) -> int:
    """Of projective trees of n words, in closed form."""
    return comb(3 * n - 2, n - 1) // n if single_root else comb(3 * n, n) // (2 * n + 1)


@BOTH
@KINDS
def test_the_number_of_trees(single_root: bool, kind: Kind, graphs) -> None:
    for n in (1, 2, 3, 4, 5, 6, 7, 12):
        weights = kind.exp(graphs.uniform(n))
        total = inside(weights, single_root, kind.zeros((TABLES, n + 1, n + 1)))
        assert logarithm(total) == pytest.approx(log(number_of_trees(n, single_root)), rel=1e-14, abs=1e-14)
    assert [number_of_trees(n, True) for n in range(1, 8)] == [1, 2, 7, 30, 143, 728, 3876]


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
