"""Trees drawn from factors, in either kind of numbers; more laws, on more difficult graphs, are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces import space
from deptree_cli.kernels.elimination.marginals import swap_words
from deptree_cli.kernels.elimination.sampler import sample_trees, transpose

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def drawn(f, size: int, state: np.ndarray, roots: np.ndarray | None = None) -> np.ndarray:
    """Trees (size, n); roots: those that are given."""
    A, S, W = (f.kind.each(np.copy, part) for part in (f.A, f.S, f.weights))
    swap_words(W, f.final_word, 1)
    across = f.room(f.n + 1, f.n + 1)
    transpose(A, across, f.n + 1)
    heads = np.full((size, f.n), -9, dtype=np.int32)
    roots = np.zeros(size, dtype=np.int64) if roots is None else roots
    sample_trees(A, S, across, W, f.final_word, f.single_root, roots, state, heads)
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
    heads = drawn(f, draws, state, roots)
    assert (heads[np.arange(draws), roots - 1] == 0).all()
    check_law(heads, exact.trees, exact.log_probs)


@BOTH
@pytest.mark.parametrize("n", [1, 7, 30])
def test_trees_of_longer_sentences(single_root: bool, n: int, state, graphs, factors) -> None:
    heads = drawn(factors(graphs.gaussian(n, 2), single_root), 50, state)
    assert space(single_root).contains(heads).all()


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
