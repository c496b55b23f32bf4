"""The head of a word given other words' heads: against enumeration, in logarithms, for every kind of partial tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.elimination.contraction import FREE
from deptree_cli.kernels.elimination.head_distribution import head_probs, log_head_probs_of_each
from deptree_cli.kernels.elimination.panels import WIDTH
from deptree_cli.kernels.numbers.wide import wide_log
from tests.oracle import Oracle

Float = NDArray[np.float64]


def memory(n: int, kind: Kind = REAL) -> list[Any]:
    """To compute in: full of what must not be read."""
    return [
        kind.each(lambda part: np.full_like(part, 77), kind.zeros(shape))
        for shape in ((n + 1, n + 1), n + 1, (3, WIDTH, n + 1))
    ]


def found(log_scores: Float, root: int, heads: NDArray[np.int64], word: int, kind: Kind) -> Float:
    """The logarithms of what the kernel finds; heads (n+1,) by node."""
    n = len(log_scores) - 1
    out = kind.zeros(n + 1)
    head_probs(kind.exp(log_scores), root, heads, word, *memory(n, kind), out)
    with np.errstate(divide="ignore"):
        return wide_log(out) if kind is WIDE else np.log(out)


def enumerated_from(oracle: Oracle, heads: NDArray[np.int64], word: int) -> Float:
    """By adding up trees."""
    fixed = np.flatnonzero(heads[1:] != FREE)
    agree = (oracle.trees[:, fixed] == heads[1:][fixed]).all(axis=1)
    log_probs = oracle.log_probs[agree] - np.logaddexp.reduce(oracle.log_probs[agree])
    chosen = oracle.trees[agree, word - 1]
    nodes = range(heads.shape[0])
    return np.array([np.logaddexp.reduce(log_probs[chosen == h], initial=-np.inf) for h in nodes])


def arborescences(enumerated, log_scores: Float, root: int) -> Oracle:
    """The trees hanging on a node: ROOT, or the one word that ROOT governs."""
    if root == 0:
        return enumerated(log_scores, single_root=False)
    only = log_scores.copy()
    only[0, np.arange(len(only)) != root] = -np.inf
    return enumerated(only)


def check(enumerated, log_scores: Float, root: int, rng: np.random.Generator, kind: Kind, atol: float = 1e-12) -> None:
    """One word's heads given a random part of a random tree."""
    n, oracle = len(log_scores) - 1, arborescences(enumerated, log_scores, root)
    tree = oracle.trees[rng.integers(len(oracle.trees))]
    others = [word for word in range(1, n + 1) if word != root]
    word = int(rng.choice(others))
    heads = np.full(n + 1, FREE)
    given_words = [other for other in others if other != word and rng.random() < 0.5]
    heads[given_words] = tree[np.array(given_words, dtype=int) - 1]
    exact = enumerated_from(oracle, heads, word)
    result = found(log_scores, root, heads, word, kind)
    if root > 0:
        assert result[0] == -np.inf  # ROOT governs the root
    np.testing.assert_allclose(result, exact, rtol=1e-12, atol=atol)


@pytest.mark.slow("statistics")
@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 5.0, 20.0]), st.booleans())
def test_against_enumeration(graphs, enumerated, n: int, seed: int, scale: float, wide: bool) -> None:
    """Entrywise: a head of probability e^-100 has as many right digits as the others."""
    rng = np.random.default_rng(seed)
    root = int(rng.integers(0, n + 1))
    check(enumerated, graphs.gaussian(n, scale, seed), root, rng, WIDE if wide else REAL)


@given(st.integers(2, 5), st.integers(0, 10**6), st.booleans())
def test_forbidden_arcs(graphs, enumerated, n: int, seed: int, wide: bool) -> None:
    rng, kind = np.random.default_rng(seed), WIDE if wide else REAL
    check(enumerated, graphs.holes(n, seed, single_root=False), 0, rng, kind)


@pytest.mark.parametrize("log_gap", [800.0, 1e5])
def test_beyond_float64(log_gap: float, graphs, enumerated) -> None:
    """Logarithms of the size of the gap are subtracted."""
    for seed in range(10):
        log_scores, rng = graphs.disconnected(4, log_gap, seed), np.random.default_rng(seed)
        for root in (0, 1 + seed % 4):
            check(enumerated, log_scores, root, rng, WIDE, atol=1e-12 + 1e-15 * log_gap)


def test_what_is_handed_in_stays_as_it_was(graphs) -> None:
    weights, heads = np.exp(graphs.gaussian(4)), np.array([FREE, 3, FREE, FREE, FREE])
    before = weights.copy(), heads.copy()
    head_probs(weights, 0, heads, 2, *memory(4), np.empty(5))
    assert np.array_equal(weights, before[0])
    assert np.array_equal(heads, before[1])


def rows_of(log_scores: Float, roots: NDArray[np.int64], heads: NDArray[np.int64], words: NDArray[np.int64]) -> Float:
    """By either kind of numbers, whichever does."""
    lossless = bool(log_scores[np.isfinite(log_scores)].min() > -600)
    out, accurate, n = np.empty(heads.shape), np.full(len(heads), lossless), heads.shape[1] - 1
    for kind in (REAL, WIDE):
        weights, probs = kind.exp(log_scores), kind.zeros(n + 1)
        log_head_probs_of_each(weights, roots, heads, words, *memory(n, kind), probs, out, accurate)
        accurate = ~accurate
    return out


@pytest.mark.parametrize("log_gap", [100.0, 300.0, 500.0, 1000.0])
def test_wide_numbers_where_float64_underflows(log_gap: float, graphs, enumerated) -> None:
    """Word 1's heads, and what leads from them to ROOT, are up to e^-2000 apart: all of them come in logarithms."""
    log_scores, heads = graphs.disconnected(4, log_gap), np.full((1, 5), FREE)
    expected = enumerated_heads(enumerated, log_scores, heads[0], 1)
    result = rows_of(log_scores, np.array([0]), heads, np.array([1]))[0]
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-11)


def test_float64_says_when_it_underflows(graphs) -> None:
    """Head probabilities are called accurate in float64 only where no product underflows: exactly up to a gap."""
    found_accurate = []
    for log_gap in (10.0, 100.0, 300.0, 400.0, 500.0, 700.0):
        weights, heads = np.exp(graphs.disconnected(4, log_gap)), np.full(5, FREE)
        found_accurate.append(head_probs(weights, 0, heads, 1, *memory(4), np.empty(5)))
    assert found_accurate == [True, True, True, False, False, False]


def test_many_at_once(graphs, enumerated) -> None:
    """Each with heads, a root and a word of its own; impossible heads have logarithm -inf."""
    log_scores = graphs.gaussian(4, 2)
    heads = np.array([[FREE] * 5, [FREE, 3, FREE, FREE, FREE], [FREE, FREE, FREE, 1, FREE]])
    roots, words = np.array([0, 4, 1]), np.array([1, 2, 2])
    out = rows_of(log_scores, roots, heads, words)
    for root, given_heads, word, found_here in zip(roots, heads, words, out, strict=True):
        expected = found(log_scores, root, given_heads, word, REAL)
        np.testing.assert_allclose(found_here, expected, rtol=1e-14)  # sums may run in another order


def enumerated_heads(enumerated, log_scores: Float, heads: NDArray[np.int64], word: int) -> Float:
    """log P(head -> word | heads) in spanning trees."""
    return enumerated_from(enumerated(log_scores, single_root=False), heads, word)
