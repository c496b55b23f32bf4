"""The sweeps of elimination, in either kind of numbers, against enumeration."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deptree_cli.core.numbers import PRECISE, REAL, WIDE, Kind
from deptree_cli.kernels.numbers.paired import Paired, paired
from deptree_cli.kernels.numbers.wide import SAFE_LOG
from deptree_cli.kernels.trees.elimination import (
    arc_products,
    eliminate,
    product_of_pivots,
    reverse,
    root_adjoints,
    root_marginals,
    shift_columns,
    sweep_root,
    tree_log_probs,
)

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE, PRECISE], ids=["float64", "wide", "precise"])


def marginals_of(f) -> np.ndarray:
    """P(head -> dependent), (n+1, n+1), by the sweep backwards."""
    n = len(f.order)
    adjoints, out = f.kind.zeros((n + 1, n)), f.kind.zeros((n + 1, n + 1))
    reverse(f.A, f.S, f.order, adjoints, f.single_root)
    arc_products(f.weights, adjoints, f.order, out)
    return f.kind.floats(out)


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
    shifted, rest = paired(np.empty_like(log_scores))
    constant = shift_columns(paired(log_scores), single_root, Paired(shifted, rest))[0]
    others = [1, 2, 4, 5, 6]
    first = 1 if single_root else 0
    np.testing.assert_allclose(shifted[first:, others].max(axis=0), 0.0, atol=1e-14)
    assert shifted[0, 1:].max() == pytest.approx(0.0, abs=1e-14)
    assert np.isneginf(shifted[:, 0]).all()
    tree = np.array([3, 3, 0, 3, 3, 3])
    words = np.arange(1, 7)
    assert shifted[tree, words].sum() + constant == pytest.approx(log_scores[tree, words].sum())


@BOTH
@pytest.mark.parametrize("offset", [0.0, 1e4, -1e9, -9e14])
def test_shifts_round_nothing_off(single_root: bool, offset: float, graphs) -> None:
    """A tree's shifted scores, their rests and the constant add up to its scores: exact fractions, twice 53 bits."""
    log_scores = graphs.gaussian(5, 3)
    log_scores[0] += offset
    log_scores[:, 2] += offset / 3
    given = Paired(log_scores, np.where(np.isfinite(log_scores), log_scores * 2.0**-54, 0.0))
    high, low = paired(np.empty_like(log_scores))
    constant = shift_columns(given, single_root, Paired(high, low))
    for tree in ([0, 1, 2, 3, 4], [2, 0, 2, 2, 4], [5, 3, 4, 5, 0]):
        arcs = [(head, word) for word, head in enumerate(tree, 1)]
        before = sum(Fraction(given.high[arc]) + Fraction(given.low[arc]) for arc in arcs)
        after = sum(Fraction(high[arc]) + Fraction(low[arc]) for arc in arcs) + sum(map(Fraction, constant))
        assert abs(after - before) <= abs(Fraction(offset) + 100) * Fraction(1, 2**98)


def test_log_probabilities_of_trees_that_masks_are_part_of() -> None:
    """Only differences count: to 16 digits beside scores of 9e14; and a forbidden arc is no arc."""
    high = np.full((3, 3), -np.inf)
    high[0, 1], high[0, 2], high[1, 2], high[2, 1] = -9e14, -9e14, 0.0, -0.4
    low = np.zeros((3, 3))
    low[0, 1] = 0.025
    out = np.empty(3)
    trees = np.array([[0, 1], [2, 0], [2, 2]], dtype=np.int64)
    tree_log_probs(high, low, (-9e14, 1 / 64), trees, out)
    assert out.tolist() == [pytest.approx(0.025 - 1 / 64, rel=1e-14), pytest.approx(-0.4 - 1 / 64, rel=1e-14), -np.inf]


@BOTH
@pytest.mark.parametrize("kind", [WIDE, PRECISE], ids=["wide", "precise"])
def test_the_product_of_pivots_is_the_partition_function(kind: Kind, single_root: bool, graphs, factors) -> None:
    f = factors(graphs.gaussian(6, 50), single_root, kind)
    total = kind.each(np.atleast_1d, product_of_pivots(f.A, f.S))
    assert np.log(kind.floats(total))[0] == pytest.approx(f.log_z, rel=1e-14)
