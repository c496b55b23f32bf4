"""Elimination in panels against enumeration, and against elimination that searches for pivots, in all kinds of numbers.

Lengths go over two panels and a bit, so that there are full panels, one that the last word cuts short, and none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import config
from numpy.typing import NDArray

from deptree_cli.core.numbers import PRECISE, REAL, WIDE, Kind
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.trees import elimination
from deptree_cli.kernels.trees.blocked_elimination import WIDTH, factorise, reverse

Float = NDArray[np.float64]

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
# Precise numbers and duals of wide ones serve no batch and take long to compile: only where nothing is compiled.
OF_ALL = [REAL, WIDE, PRECISE] if config.DISABLE_JIT else [REAL, WIDE]
KINDS = pytest.mark.parametrize("kind", OF_ALL, ids=lambda kind: kind.name)
OF_DUALS = pytest.mark.parametrize("kind", [REAL, WIDE] if config.DISABLE_JIT else [REAL], ids=lambda kind: kind.name)
LENGTHS = pytest.mark.parametrize("n", [*range(1, 11), 13])


class Blocked(NamedTuple):
    """What comes out of both sweeps; products: weights times adjoints, (n+1, n+1), in the kind's numbers."""

    log_z: float
    depth: float
    A: Any
    S: Any
    products: Any


def full_of_rubbish(kind: Kind, shape: tuple[int, ...]) -> Any:
    """Numbers that nobody may read: what the sweep backwards fills need not be zeros at first."""
    return kind.each(lambda part: np.full_like(part, 77), kind.zeros(shape))


def blocked(weights: Any, n: int, single_root: bool, kind: Kind, dual: bool = False) -> Blocked:
    """Both sweeps; weights (n+1, n): words first, ROOT last."""

    def made(array: Any) -> Any:
        return Dual(array(), array()) if dual else array()

    A = Dual(*(kind.each(np.copy, part) for part in weights)) if dual else kind.each(np.copy, weights)
    S, products = made(lambda: kind.zeros(n)), made(lambda: kind.zeros((n + 1, n + 1)))
    room = made(lambda: full_of_rubbish(kind, (3, WIDTH, n + 1)))
    log_z, depth = factorise(A, S, room, single_root)
    if log_z > -np.inf:
        adjoints = made(lambda: full_of_rubbish(kind, (n + 1, n)))
        reverse(A, S, adjoints, room, single_root)
        elimination.arc_products(weights, adjoints, np.arange(n), products)
    return Blocked(log_z, depth, A, S, products)


def with_pivots(f: Any, weights: Any, dual: bool = False) -> Any:
    """Weights times adjoints, (n+1, n+1), by elimination that searches for pivots: an independent program."""
    n, kind = len(f.order), f.kind
    parts = weights if dual else (weights,)
    A, S = [kind.each(np.copy, part) for part in parts], [kind.zeros(n) for _ in parts]
    adjoints, out = [kind.zeros((n + 1, n)) for _ in parts], [kind.zeros((n + 1, n + 1)) for _ in parts]
    A, S, adjoints, out = (Dual(*arrays) if dual else arrays[0] for arrays in (A, S, adjoints, out))
    order = np.arange(n)
    elimination.eliminate(A, S, order, f.single_root)
    elimination.reverse(A, S, order, adjoints, f.single_root)
    elimination.arc_products(weights, adjoints, order, out)
    return out


def with_directions(f: Any, values: Float) -> Dual:
    """The weights as dual numbers: their tangents are weights times values (n+1, n+1), by node."""
    return Dual(f.weights, f.kind.scaled(f.weights, np.concatenate((values[1:, 1:], values[:1, 1:]))))


@BOTH
@KINDS
@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("scale", [1, 10, 80])
def test_sums_against_enumeration(
    kind: Kind, single_root: bool, n: int, scale: int, graphs, factors, enumerated
) -> None:
    log_scores = graphs.gaussian(n, scale, seed=n)
    f, exact = factors(log_scores, single_root, kind), enumerated(log_scores, single_root)
    found = blocked(f.weights, n, single_root, kind)
    assert found.log_z + f.constant == pytest.approx(exact.log_z, rel=1e-14, abs=1e-13)
    np.testing.assert_allclose(
        kind.floats(found.products), exact.marginals(), rtol=0, atol=1e-15 * max(100, 10 * scale)
    )


@BOTH
@KINDS
def test_forbidden_arcs(kind: Kind, single_root: bool, graphs, factors, enumerated) -> None:
    """A graph with holes has its sums, or a pivot of 0 because words cannot be reached in their order."""
    with_sums = 0
    for seed in range(40):
        n = 2 + seed % 4
        log_scores = graphs.holes(n, seed, single_root)
        f = factors(log_scores, single_root, kind)
        found = blocked(f.weights, n, single_root, kind)
        if found.log_z > -np.inf:
            exact = enumerated(log_scores, single_root)
            assert found.log_z + f.constant == pytest.approx(exact.log_z, rel=1e-14, abs=1e-13)
            np.testing.assert_allclose(kind.floats(found.products), exact.marginals(), rtol=0, atol=1e-14)
            with_sums += 1
        else:
            assert single_root  # with several roots ROOT reaches all words of a graph that has a tree
    assert with_sums == 40 if not single_root else 5 < with_sums < 40


@BOTH
@KINDS
@LENGTHS
def test_against_elimination_with_pivots(kind: Kind, single_root: bool, n: int, graphs, factors) -> None:
    f = factors(graphs.gaussian(n, 6, seed=n), single_root, kind)
    found = blocked(f.weights, n, single_root, kind)
    assert found.log_z == pytest.approx(f.log_z, rel=1e-14, abs=1e-14)
    expected, marginals = kind.floats(with_pivots(f, f.weights)), kind.floats(found.products)
    np.testing.assert_allclose(marginals, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-13)


@BOTH
@pytest.mark.skipif(not config.DISABLE_JIT, reason="precise numbers are tried uncompiled")
def test_precise_numbers_keep_their_digits(single_root: bool, graphs, factors) -> None:
    """Both parts of the marginals: 31 digits by either way to eliminate."""
    f = factors(graphs.gaussian(9, 3), single_root, PRECISE)
    found, expected = blocked(f.weights, 9, single_root, PRECISE).products, with_pivots(f, f.weights)
    highs, lows = (np.ldexp(part, 512 * found.exponent.clip(-2)) for part in (found.high, found.low))
    others, rests = (np.ldexp(part, 512 * expected.exponent.clip(-2)) for part in (expected.high, expected.low))
    np.testing.assert_allclose((highs - others) + (lows - rests), 0.0, rtol=0, atol=1e-29)


@BOTH
@LENGTHS
@OF_DUALS
def test_dual_numbers_against_elimination_with_pivots(kind: Kind, single_root: bool, n: int, graphs, factors) -> None:
    values = np.random.default_rng(n).normal(size=(n + 1, n + 1))
    f = factors(graphs.gaussian(n, 3, seed=n), single_root, kind)
    weights = with_directions(f, values)
    found, expected = blocked(weights, n, single_root, kind, dual=True), with_pivots(f, weights, dual=True)
    assert found.log_z == pytest.approx(f.log_z, rel=1e-14, abs=1e-14)
    np.testing.assert_allclose(kind.floats(found.products.value), kind.floats(expected.value), rtol=0, atol=1e-14)
    np.testing.assert_allclose(kind.floats(found.products.tangent), kind.floats(expected.tangent), rtol=0, atol=1e-13)


@BOTH
@pytest.mark.parametrize("n", [1, 2, 4, 5])
@OF_DUALS
@pytest.mark.parametrize("scale", [1, 10])
def test_covariances_against_enumeration(
    single_root: bool, n: int, kind: Kind, scale: int, graphs, factors, enumerated
) -> None:
    """The tangents, over every tree: Cov(1[arc in tree], sum of the tree's values)."""
    log_scores, values = graphs.gaussian(n, scale), np.random.default_rng(n).normal(size=(n + 1, n + 1))
    exact, words = enumerated(log_scores, single_root), np.arange(1, n + 1)
    probs, sums = np.exp(exact.log_probs), values[exact.trees, words].sum(axis=1)
    expected = np.zeros((n + 1, n + 1))
    for heads, share in zip(exact.trees, probs * (sums - probs @ sums), strict=True):
        expected[heads, words] += share
    f = factors(log_scores, single_root, kind)
    found = blocked(with_directions(f, values), n, single_root, kind, dual=True).products
    np.testing.assert_allclose(kind.floats(found.tangent), expected, rtol=1e-10, atol=1e-13)


def test_what_the_logarithms_add_up_to() -> None:
    """Worked by hand: pivots e^-5 and e^4 (and e^-3), of which the depth counts the negative ones only."""
    S, room = np.zeros(2), np.zeros((3, WIDTH, 3))
    for of_root, log_z, depth in ((4.0, -1.0, -5.0), (-3.0, -8.0, -8.0)):
        A = np.array([[0.0, np.exp(2.0)], [np.exp(-5.0), 0.0], [0.0, np.exp(of_root)]])
        assert factorise(A, S, room, True) == (pytest.approx(log_z), pytest.approx(depth))
    A = np.array([[0.0, np.exp(2.0)], [np.exp(7.0), 0.0], [0.0, np.exp(-3.0)]])
    assert factorise(A, S, room, True) == (pytest.approx(4.0), pytest.approx(-3.0))


@BOTH
@KINDS
@pytest.mark.parametrize("n", [1, 4, 5, 9, 13])
def test_factors(kind: Kind, single_root: bool, n: int, graphs, factors) -> None:
    """Their product is Z, their logarithms the depth; behind the diagonal arcs into a word are shares of its pivot."""
    f = factors(graphs.gaussian(n, 4, seed=1), single_root, kind)
    found = blocked(f.weights, n, single_root, kind)
    last = kind.floats(found.A)[n, n - 1]
    logs = np.log(np.append(kind.floats(found.S)[: n - 1], last))
    assert found.log_z == pytest.approx(logs.sum(), rel=1e-14, abs=1e-14)
    assert found.depth == pytest.approx(np.minimum(logs, 0.0).sum(), rel=1e-14, abs=1e-14)
    shares = np.tril(kind.floats(found.A), -1)[: n if single_root else n + 1, : n - 1]
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=0, atol=1e-14)


@BOTH
@KINDS
@pytest.mark.parametrize("n", [2, 3, 5, 6, 8, 9])
def test_pivots_of_zero(kind: Kind, single_root: bool, n: int, graphs, factors) -> None:
    """There are trees, but no arc from a later word to an earlier one: a pivot of 0 with a single root, no sums.

    With several roots, ROOT's arcs are part of the pivots.
    """
    f = factors(graphs.one_way(n), single_root, kind)
    assert f.log_z > -np.inf
    found = blocked(f.weights, n, single_root, kind)
    assert (found.log_z, found.depth) == ((-np.inf, -np.inf) if single_root else pytest.approx((f.log_z, f.depth)))
    nothing = kind.exp(np.full((n + 1, n), -np.inf))
    assert blocked(nothing, n, single_root, kind)[:2] == (-np.inf, -np.inf)


@BOTH
@KINDS
@pytest.mark.parametrize("n", [1, 3, 6])
def test_no_arc_from_root(kind: Kind, single_root: bool, n: int, graphs) -> None:
    log_weights = graphs.uniform(n)
    log_weights[0] = -np.inf
    weights = kind.exp(np.concatenate((log_weights[1:, 1:], log_weights[:1, 1:])))
    assert blocked(weights, n, single_root, kind)[:2] == (-np.inf, -np.inf)


@BOTH
def test_weights_that_are_no_numbers(single_root: bool, graphs, factors) -> None:
    """NaN is no positive pivot: no sums, and no NaN."""
    f = factors(graphs.gaussian(6), single_root, REAL)
    for place in ((1, 0), (5, 3), (6, 5), (0, 4)):
        weights = f.weights.copy()
        weights[place] = np.nan
        assert blocked(weights, 6, single_root, REAL)[:2] == (-np.inf, -np.inf)
