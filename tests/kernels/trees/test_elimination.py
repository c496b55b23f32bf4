"""The sweeps of elimination, in either kind of numbers, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.numbers.wide import SAFE_LOG
from deptree_cli.kernels.trees.elimination import (
    arc_marginals,
    eliminate,
    reverse,
    root_adjoints,
    root_marginals,
    shift_columns,
    sweep_root,
)

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def marginals_of(f) -> np.ndarray:
    """P(head -> dependent), (n+1, n+1), by the sweep backwards."""
    n = len(f.order)
    adjoints, out = f.kind.zeros((n + 1, n)), np.zeros((n + 1, n + 1))
    reverse(f.A, f.S, f.order, adjoints, f.single_root)
    arc_marginals(f.weights, adjoints, f.order, out)
    return out


def root_marginals_of(f) -> np.ndarray:
    """P(ROOT -> word), (n+1,), by the shorter sweep under the single-root constraint."""
    n = len(f.order)
    adjoints, out = f.kind.zeros(n), np.zeros(n + 1)
    root_adjoints(f.A, f.S, f.order, adjoints)
    root_marginals(f.weights, adjoints, f.order, out)
    return out


@BOTH
@KINDS
@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("scale", [1, 10, 80, 300])
def test_sums_against_enumeration(
    kind: Kind, single_root: bool, n: int, scale: int, graphs, factors, enumerated
) -> None:
    """Where float64 may have lost something, it says so."""
    for log_scores in (graphs.gaussian(n, scale, seed=n), graphs.holes(n, n, single_root, scale)):
        f, exact = factors(log_scores, single_root, kind), enumerated(log_scores, single_root)
        if kind is REAL and f.depth < SAFE_LOG:
            continue
        assert f.log_z + f.constant == pytest.approx(exact.log_z, rel=1e-14, abs=1e-13)
        expected, atol = exact.marginals(), 1e-15 * max(100, 10 * scale)
        np.testing.assert_allclose(marginals_of(f), expected, rtol=0, atol=atol)
        if single_root:
            np.testing.assert_allclose(root_marginals_of(f), expected[0], rtol=0, atol=atol)


@BOTH
@pytest.mark.parametrize("n", [7, 20])
def test_the_two_kinds_agree(single_root: bool, n: int, graphs, factors) -> None:
    """The same additions and products, but for their order in inner products."""
    real, wide = (factors(graphs.gaussian(n, 5), single_root, kind) for kind in (REAL, WIDE))
    assert (real.order == wide.order).all()
    assert real.log_z == pytest.approx(wide.log_z, rel=1e-14)
    np.testing.assert_allclose(marginals_of(real), marginals_of(wide), rtol=1e-12, atol=1e-15)


def test_what_underflows_is_reported(graphs, factors, enumerated) -> None:
    """Halves of a sentence e^-800 apart: float64 finds no tree at all, or says that it may have lost some."""
    log_scores = graphs.disconnected(4, 800.0)
    assert factors(log_scores, True, REAL).depth < SAFE_LOG
    wide = factors(log_scores, True, WIDE)
    assert wide.log_z + wide.constant == pytest.approx(enumerated(log_scores).log_z, rel=1e-14)


@KINDS
def test_no_tree(kind: Kind, graphs) -> None:
    """Words 2 and 3 have no arc from outside."""
    log_scores = graphs.uniform(3)
    log_scores[:2, 2:] = -np.inf
    weights = kind.exp(np.concatenate((log_scores[1:, 1:], log_scores[:1, 1:])))
    for single_root in (True, False):
        factors = kind.each(np.copy, weights), kind.zeros(3), np.arange(3)
        assert eliminate(*factors, single_root) == (-np.inf, -np.inf)


@KINDS
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_other_root_weights_in_the_same_factors(kind: Kind, n: int, graphs, factors) -> None:
    """As if eliminated anew; and -inf where ROOT has no arc at all."""
    log_scores = graphs.gaussian(n, 3)
    f = factors(log_scores, True, kind)
    other = np.concatenate((f.shifted[1:, 1:], np.linspace(-2, 0, n)[None]))
    fresh = kind.exp(other)
    S, order = kind.zeros(n), np.arange(n)
    expected = eliminate(kind.each(np.copy, fresh), S, order, True)[0]
    assert sweep_root(f.A, f.S, f.order, fresh) == pytest.approx(expected, rel=1e-13, abs=1e-13)
    other[n] = -np.inf
    assert sweep_root(f.A, f.S, f.order, kind.exp(other)) == -np.inf


@BOTH
def test_columns_are_shifted_to_a_maximum_of_zero(single_root: bool, graphs) -> None:
    """Over the arcs from words, where there is a single root; ROOT's row then has a maximum of its own."""
    log_scores = graphs.gaussian(6, 4)
    log_scores[1:, 3] = -np.inf  # a word that only ROOT may govern
    shifted = np.empty_like(log_scores)
    constant = shift_columns(log_scores, single_root, shifted)
    others = [1, 2, 4, 5, 6]
    first = 1 if single_root else 0
    np.testing.assert_allclose(shifted[first:, others].max(axis=0), 0.0, atol=1e-14)
    assert shifted[0, 1:].max() == pytest.approx(0.0, abs=1e-14)
    assert np.isneginf(shifted[:, 0]).all()
    tree = np.array([3, 3, 0, 3, 3, 3])
    words = np.arange(1, 7)
    assert shifted[tree, words].sum() + constant == pytest.approx(log_scores[tree, words].sum())
