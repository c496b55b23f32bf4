"""Trees drawn from factors given their roots, in either kind of numbers; other laws are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.kernels.elimination import sample_trees, swap_words, transpose

KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def drawn(f, state: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Trees with these roots, (size, n)."""
    A, S, W = (f.kind.each(np.copy, part) for part in (f.A, f.S, f.weights))
    swap_words(W, f.final_word, 1)
    across = f.room(f.n + 1, f.n + 1)
    transpose(A, across, f.n + 1)
    heads = np.full((len(roots), f.n), -9, dtype=np.int32)
    sample_trees(A, S, across, W, f.final_word, f.single_root, roots, state, heads)
    return heads


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
    heads = drawn(f, state, roots)
    assert (heads[np.arange(draws), roots - 1] == 0).all()
    check_law(heads, exact.trees, exact.log_probs)
