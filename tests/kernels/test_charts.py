"""Eisner's chart against the number of projective trees, and where there is none; in tests/core by enumeration."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest

from deptree_cli.core.factorisation import shift
from deptree_cli.core.numbers import REAL, WIDE
from deptree_cli.core.spaces import EisnerChart, space
from deptree_cli.kernels.charts import TABLES, best_projective_trees, best_tree, inside
from deptree_cli.kernels.operations import logarithm

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=lambda kind: kind.name)


def number_of_trees(n: int, single_root: bool) -> int:
    """Of projective trees of n words, in closed form."""
    return comb(3 * n - 2, n - 1) // n if single_root else comb(3 * n, n) // (2 * n + 1)


@BOTH
@KINDS
def test_the_number_of_trees(single_root, kind, graphs) -> None:
    assert [number_of_trees(n, True) for n in range(1, 8)] == [1, 2, 7, 30, 143, 728, 3876]
    for n in (1, 2, 3, 4, 5, 6, 7, 12):
        weights = kind.exp(graphs.uniform(n))
        total = inside(weights, single_root, kind.zeros((TABLES, n + 1, n + 1)))
        assert logarithm(total) == pytest.approx(log(number_of_trees(n, single_root)), rel=1e-14, abs=1e-14)


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


@BOTH
@pytest.mark.parametrize("n", [1, 2, 5, 9, 30])
def test_marginals_in_both_kinds_of_numbers(single_root, n) -> None:
    rng = np.random.default_rng(n)
    scores = rng.normal(0.0, 3.0, (n + 1, n + 1))
    scores[(rng.random(scores.shape) < 0.2) & (np.abs(np.subtract.outer(*2 * [np.arange(n + 1)])) > 1)] = -np.inf
    scores[np.eye(n + 1, dtype=bool)] = scores[:, 0] = -np.inf
    trees = space(single_root, projective=True)
    real, wide = (EisnerChart.of(shift(scores, trees), trees, kind) for kind in (REAL, WIDE))
    assert wide.log_z == pytest.approx(real.log_z, rel=1e-14, abs=1e-13)
    np.testing.assert_allclose(wide.marginals(), real.marginals(), rtol=1e-12, atol=1e-15)
