"""Trees drawn from factors, in either kind of numbers; more laws, on more difficult graphs, are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces.rules import are_trees
from deptree_cli.kernels.trees.elimination_sampler import normalise, sample_trees, sample_trees_of_roots

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def tables(f):
    """Normalised factors, and the weights in their order."""
    n = len(f.order)
    B, rows = f.kind.zeros((n, n + 1)), np.append(f.order, n)
    normalise(f.A, f.S, f.order, B)
    return B, f.kind.each(lambda part: part[rows][:, f.order].copy(), f.weights)


def drawn(f, size: int, state: np.ndarray) -> np.ndarray:
    """Trees (size, n)."""
    B, W = tables(f)
    heads = np.full((size, len(f.order)), -9, dtype=np.int32)
    sample_trees(f.A, B, W, f.order, f.single_root, state, heads)
    return heads


@BOTH
@KINDS
@pytest.mark.parametrize("n", [2, 3, 4])
def test_trees_follow_the_distribution(
    kind: Kind, single_root: bool, n: int, draws: int, state, graphs, factors, enumerated, check_law
) -> None:
    """H0: independent draws from the distribution; chi-square, p < 1e-6 by chance."""
    log_scores = graphs.gaussian(n, 1.5, seed=2)
    exact = enumerated(log_scores, single_root)
    check_law(drawn(factors(log_scores, single_root, kind), draws, state), exact.trees, exact.log_probs)


@KINDS
@pytest.mark.parametrize("n", [2, 3, 4])
def test_trees_of_roots_follow_the_distribution_given_the_root(
    kind: Kind, n: int, draws: int, state, graphs, factors, enumerated, check_law
) -> None:
    """H0: roots drawn by their marginals and trees given these make draws from the distribution; chi-square, p < 1e-6
    by chance. Roots come in any order, and some of them again."""
    log_scores = graphs.gaussian(n, 1.5, seed=2)
    f, exact = factors(log_scores, True, kind), enumerated(log_scores)
    roots = np.random.default_rng(n).choice(n + 1, p=exact.marginals()[0] / exact.marginals()[0].sum(), size=draws)
    heads = np.full((draws, n), -9, dtype=np.int32)
    B, W = tables(f)
    sample_trees_of_roots(f.kind.each(np.copy, f.A), f.S, B, W, f.order, roots, state, heads)
    assert (heads[np.arange(draws), roots - 1] == 0).all()
    check_law(heads, exact.trees, exact.log_probs)


@BOTH
@pytest.mark.parametrize("n", [1, 7, 30])
def test_trees_of_longer_sentences(single_root: bool, n: int, state, graphs, factors) -> None:
    heads = drawn(factors(graphs.gaussian(n, 2), single_root), 50, state)
    assert are_trees(heads, single_root).all()


@BOTH
def test_forbidden_arcs_are_never_drawn(single_root: bool, state, graphs, factors) -> None:
    log_scores = graphs.holes(8, 1, single_root)
    heads = drawn(factors(log_scores, single_root), 100, state)
    assert np.isfinite(log_scores[heads, np.arange(1, 9)]).all()


def test_the_state_is_all_there_is_to_a_draw(state, graphs, factors) -> None:
    """The same state gives the same trees, and goes on to others."""
    f, again = factors(graphs.gaussian(9)), state.copy()
    first, second = drawn(f, 20, state), drawn(f, 20, state)
    assert np.array_equal(drawn(f, 20, again), first)
    assert not np.array_equal(first, second)
