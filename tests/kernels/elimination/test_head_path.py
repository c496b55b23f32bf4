"""Head distributions along a tree: against the sums of trees with these heads, and against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces import SINGLE_ROOT, space
from deptree_cli.kernels.head_path import (
    FREE,
    LEVELS,
    PathTables,
    draw_ancestral,
    log_heads_along,
    next_heads,
    path_in_range,
    set_head,
    start_path,
)
from deptree_cli.kernels.numbers import wide_log

Float = NDArray[np.float64]
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def tables_for(n: int, kind: Kind) -> PathTables:
    """Not zeros: what was there before does no harm."""
    tables = PathTables(kind.zeros((n, 3 * n + LEVELS)), kind.zeros((2 + n.bit_length(), n)))
    for part in tables if kind is REAL else (tables.H[0], tables.R[0]):
        part[:] = np.nan
    return tables


def logs(numbers, kind: Kind) -> Float:
    with np.errstate(divide="ignore"):
        return wide_log(numbers) if kind is WIDE else np.log(numbers)


def random_tree(n: int, rng: np.random.Generator, root: int) -> NDArray[np.int64]:
    """Heads by node; all words hang on the node `root`, below it in a random order."""
    heads = np.full(n + 1, FREE)
    order = [root, *rng.permutation([word for word in range(1, n + 1) if word != root]).tolist()]
    for place in range(1, len(order)):
        heads[order[place]] = order[rng.integers(place)]
    return heads


def log_partition_given(log_scores: Float, root: int, heads: NDArray[np.int64]) -> float:
    """log Z of the trees that hang on the node `root` and have the given heads."""
    only, words = log_scores.copy(), np.flatnonzero(heads != FREE)
    given_scores = only[heads[words], words]
    only[:, words] = -np.inf
    only[heads[words], words] = given_scores
    if root:
        only[0, np.arange(len(only)) != root] = -np.inf
    try:
        return space(root > 0).factorise(only).log_z
    except DeptreeError:
        return -np.inf


def log_head_probs(log_scores: Float, root: int, heads: NDArray[np.int64], word: int) -> Float:
    """One sum for each head that the word might have."""
    with_head = np.tile(heads, (len(heads), 1))
    with_head[:, word] = np.arange(len(heads))
    sums = np.array([log_partition_given(log_scores, root, each) for each in with_head])
    return sums - log_partition_given(log_scores, root, heads)


@pytest.mark.slow("size")
@given(st.integers(2, 11), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 20.0]), st.booleans(), st.booleans())
def test_against_sums_of_trees(graphs, n: int, seed: int, scale: float, wide: bool, single_root: bool) -> None:
    """Entry by entry, for any order of the words, some of which have their heads before."""
    rng, kind, log_scores = np.random.default_rng(seed), WIDE if wide else REAL, graphs.gaussian(n, scale, seed % 1000)
    weights, root = kind.exp(log_scores), int(rng.integers(1, n + 1)) if single_root else 0
    tree = random_tree(n, rng, root)
    words = rng.permutation([word for word in range(1, n + 1) if word != root])
    given_first = int(rng.integers(0, len(words)))
    heads = np.full(n + 1, FREE)
    heads[words[:given_first]] = tree[words[:given_first]]
    tables, out = tables_for(n, kind), kind.zeros(n + 1)
    path = start_path(weights, root, heads, words[given_first:].copy(), True, tables)
    for word in words[given_first:]:
        depth = next_heads(path, weights, tables, tables, out)
        assert path_in_range(weights, path, depth, depth)
        expected = log_head_probs(log_scores, root, heads, word)
        np.testing.assert_allclose(logs(out, kind), expected, rtol=1e-12, atol=1e-12)
        heads[word] = tree[word]
        set_head(path, tree[word])


@pytest.mark.parametrize("log_gap", [10.0, 100.0, 500.0, 1000.0])
def test_float64_says_when_it_underflows(log_gap: float, graphs) -> None:
    """Two cycles one below the other, each `log_gap` deep. What is called in range is right, to twelve digits."""
    log_scores = graphs.disconnected(6, log_gap)
    free, uniforms, chosen = np.arange(1, 7), np.full(6, 0.5), np.empty(6, dtype=np.int64)
    heads, found = np.full(7, FREE), {}
    for kind in (REAL, WIDE):
        out, weights = np.empty((6, 7)), kind.exp(log_scores)
        arguments = weights, 0, heads, free, tables_for(6, kind), uniforms, kind.zeros(7), chosen, out
        found[kind] = log_heads_along(*arguments), out
    assert found[WIDE][0]
    assert found[REAL][0] == (log_gap < 200)
    if found[REAL][0]:
        np.testing.assert_allclose(found[REAL][1], found[WIDE][1], rtol=1e-12, atol=1e-12)


@KINDS
@pytest.mark.parametrize("root", [0, 2])
def test_heads_drawn_along_the_way_make_trees_of_the_distribution(
    kind: Kind, root: int, draws: int, graphs, enumerated, check_law
) -> None:
    """H0: independent draws from the trees that hang on a node; chi-square, p < 1e-6 by chance."""
    log_scores, rng = graphs.gaussian(4, 1.5, seed=2), np.random.default_rng(9)
    exact = enumerated(log_scores, single_root=root > 0)
    fits = exact.trees[:, root - 1] == 0 if root else np.ones(len(exact.trees), dtype=bool)
    words = np.array([word for word in (3, 1, 4, 2) if word != root])
    weights, tables, probs, out = kind.exp(log_scores), tables_for(4, kind), kind.zeros(5), np.empty((len(words), 5))
    trees, chosen = np.zeros((draws // 10, 4), dtype=np.int32), np.empty(len(words), dtype=np.int64)
    for tree in trees:
        uniforms = rng.random(len(words))
        assert log_heads_along(weights, root, np.full(5, FREE), words, tables, uniforms, probs, chosen, out)
        tree[words - 1] = chosen
    check_law(trees, exact.trees[fits], exact.log_probs[fits])


def drawn(log_scores: Float, roots: NDArray[np.int64], kind: Kind, state: NDArray[np.uint64]) -> NDArray[np.int32]:
    """A tree for each root, (k, n)."""
    n = len(log_scores) - 1
    heads = np.full((len(roots), n), -9, dtype=np.int32)
    draw_ancestral(kind.exp(log_scores), roots, state, tables_for(n, kind), kind.zeros(n + 1), heads)
    return heads


@KINDS
@pytest.mark.parametrize("root", [0, 1, 3])
def test_trees_follow_the_distribution_given_the_root(
    kind: Kind, root: int, draws: int, state, graphs, enumerated, check_law
) -> None:
    """H0: independent draws from the trees with that root; chi-square, p < 1e-6 by chance."""
    log_scores = graphs.gaussian(4, 1.5, seed=2)
    exact = enumerated(log_scores, single_root=root > 0)
    fits = exact.trees[:, root - 1] == 0 if root else np.ones(len(exact.trees), dtype=bool)
    heads = drawn(log_scores, np.full(draws // 4, root), kind, state)
    check_law(heads, exact.trees[fits], exact.log_probs[fits])


@KINDS
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 17])
def test_every_way_to_halve_a_sentence(kind: Kind, n: int, state, graphs) -> None:
    roots = np.random.default_rng(n).integers(1, n + 1, size=10)
    heads = drawn(graphs.gaussian(n, 4), roots, kind, state)
    assert SINGLE_ROOT.contains(heads).all()
    assert (heads[np.arange(10), roots - 1] == 0).all()
