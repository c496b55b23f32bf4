"""Covariances of arcs with a function of trees, by dual numbers over either kind, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.trees.elimination import arc_products, eliminate, reverse

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def found(f, values: np.ndarray) -> np.ndarray:
    """By one sweep of each on dual numbers; values (n+1, n+1)."""
    kind, n = f.kind, len(f.order)
    direction = np.concatenate((values[1:, 1:], values[:1, 1:]))
    weights = Dual(f.weights, kind.scaled(f.weights, direction))
    A = Dual(*(kind.each(np.copy, part) for part in weights))
    S, order = Dual(kind.zeros(n), kind.zeros(n)), np.arange(n)
    assert eliminate(A, S, order, f.single_root)[0] == pytest.approx(f.log_z, rel=1e-14)
    adjoints = Dual(kind.zeros((n + 1, n)), kind.zeros((n + 1, n)))
    reverse(A, S, order, adjoints, f.single_root)
    out = Dual(kind.zeros((n + 1, n + 1)), kind.zeros((n + 1, n + 1)))
    arc_products(weights, adjoints, order, out)
    return kind.floats(out.tangent)


@BOTH
@pytest.mark.parametrize("n", [1, 2, 4, 5])
@pytest.mark.parametrize(("kind", "scale"), [(REAL, 1), (REAL, 10), (WIDE, 1), (WIDE, 10), (WIDE, 100), (WIDE, 400)])
def test_against_enumeration(single_root: bool, n: int, kind: Kind, scale: int, graphs, factors, enumerated) -> None:
    log_scores = graphs.gaussian(n, scale)
    values = np.random.default_rng(n).normal(size=(n + 1, n + 1))
    exact = enumerated(log_scores, single_root)
    probs, words = np.exp(exact.log_probs), np.arange(1, n + 1)
    sums = values[exact.trees, words].sum(axis=1)
    has_arc = np.zeros((len(probs), n + 1, n + 1))
    has_arc[np.arange(len(probs))[:, None], exact.trees, words] = 1.0
    expected = np.tensordot(probs * (sums - probs @ sums), has_arc, axes=1)
    covariances = found(factors(log_scores, single_root, kind), values)
    np.testing.assert_allclose(covariances, expected, rtol=1e-10, atol=1e-13)
