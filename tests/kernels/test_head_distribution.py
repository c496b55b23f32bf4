"""The head of a word given other words' heads: against enumeration, in logarithms, for every kind of partial tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.oracle import Oracle
from deptree_cli.kernels.head_distribution import FREE, head_probs
from deptree_cli.kernels.wide import wide_log

Float = NDArray[np.float64]


def found(log_scores: Float, root: int, heads: NDArray[np.int64], word: int, kind: Kind) -> Float:
    """What the kernel says; heads (n+1,) by node."""
    n = len(log_scores) - 1
    out = kind.zeros(n + 1)
    head_probs(kind.exp(log_scores), root, heads, word, kind.zeros((n, n)), kind.zeros(n), out)
    with np.errstate(divide="ignore"):
        return wide_log(out) if kind is WIDE else np.log(out)


def enumerated(oracle: Oracle, heads: NDArray[np.int64], word: int) -> Float:
    """By adding up trees."""
    fixed = np.flatnonzero(heads[1:] != FREE)
    agree = (oracle.trees[:, fixed] == heads[1:][fixed]).all(axis=1)
    log_probs = oracle.log_probs[agree] - np.logaddexp.reduce(oracle.log_probs[agree])
    chosen = oracle.trees[agree, word - 1]
    nodes = range(heads.shape[0])
    return np.array([np.logaddexp.reduce(log_probs[chosen == h], initial=-np.inf) for h in nodes])


def arborescences(graphs, log_scores: Float, root: int) -> Oracle:
    """The trees hanging on a node: ROOT, or the one word that ROOT governs."""
    if root == 0:
        return Oracle(graphs.sentence(log_scores, single_root=False))
    only = log_scores.copy()
    only[0, np.arange(len(only)) != root] = -np.inf
    return Oracle(graphs.sentence(only))


def check(graphs, log_scores: Float, root: int, rng: np.random.Generator, kind: Kind, atol: float = 1e-12) -> None:
    """One word's heads given a random part of a random tree."""
    n, oracle = len(log_scores) - 1, arborescences(graphs, log_scores, root)
    tree = oracle.trees[rng.integers(len(oracle.trees))]
    others = [word for word in range(1, n + 1) if word != root]
    word = int(rng.choice(others))
    heads = np.full(n + 1, FREE)
    given_words = [other for other in others if other != word and rng.random() < 0.5]
    heads[given_words] = tree[np.array(given_words, dtype=int) - 1]
    exact = enumerated(oracle, heads, word)
    result = found(log_scores, root, heads, word, kind)
    if root > 0:
        assert result[0] == -np.inf  # ROOT governs the root
    np.testing.assert_allclose(result, exact, rtol=1e-12, atol=atol)


@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 5.0, 20.0]), st.booleans())
def test_against_enumeration(graphs, n: int, seed: int, scale: float, wide: bool) -> None:
    """Entrywise: a head of probability e^-100 has as many right digits as the others."""
    rng = np.random.default_rng(seed)
    root = int(rng.integers(0, n + 1))
    check(graphs, graphs.gaussian(n, scale, seed), root, rng, WIDE if wide else REAL)


@given(st.integers(2, 5), st.integers(0, 10**6), st.booleans())
def test_forbidden_arcs(graphs, n: int, seed: int, wide: bool) -> None:
    check(graphs, graphs.holes(n, seed, single_root=False), 0, np.random.default_rng(seed), WIDE if wide else REAL)


@pytest.mark.parametrize("log_gap", [800.0, 1e5])
def test_beyond_float64(log_gap: float, graphs) -> None:
    """Logarithms of the size of the gap are subtracted."""
    for seed in range(10):
        log_scores, rng = graphs.disconnected(4, log_gap, seed), np.random.default_rng(seed)
        for root in (0, 1 + seed % 4):
            check(graphs, log_scores, root, rng, WIDE, atol=1e-12 + 1e-15 * log_gap)


def test_what_is_handed_in_stays_as_it_was(graphs) -> None:
    weights, heads = np.exp(graphs.gaussian(4)), np.array([FREE, 3, FREE, FREE, FREE])
    before = weights.copy(), heads.copy()
    head_probs(weights, 0, heads, 2, np.zeros((4, 4)), np.zeros(4), np.empty(5))
    assert np.array_equal(weights, before[0])
    assert np.array_equal(heads, before[1])


def test_junk_in_the_workspace_does_no_harm(graphs) -> None:
    """The same workspace serves all calls."""
    weights, heads = np.exp(graphs.gaussian(4)), np.full(5, FREE)
    clean, dirty = np.empty(5), np.empty(5)
    head_probs(weights, 0, heads, 3, np.zeros((4, 4)), np.zeros(4), clean)
    head_probs(weights, 0, heads, 3, np.full((4, 4), np.nan), np.full(4, np.nan), dirty)
    assert np.array_equal(clean, dirty)
