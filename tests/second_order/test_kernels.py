"""What pinned arcs leave of the second-order chart's items, and charts that are cleared where they were used."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deptree_cli.core.numbers import REAL, WIDE
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE_MULTI
from deptree_cli.second_order.distribution import clear, kept_arcs, kept_items
from deptree_cli.second_order.kernels import TABLES, PartWeights, inside, outside

KINDS = pytest.mark.parametrize("kind", [REAL, WIDE], ids=["float64", "wide"])


def some_of_a_tree(n, seed):
    """About half of the arcs of a projective tree, (n+1, n+1)."""
    rng = np.random.default_rng(seed)
    tree = rng.choice(all_trees(n, PROJECTIVE_MULTI))
    pinned = np.zeros((n + 1, n + 1), dtype=np.bool_)
    pinned[tree, np.arange(1, n + 1)] = rng.random(n) < 0.5
    return pinned


def masked(pinned, by_grandparent=True):
    """The mask by pinned arcs."""
    return kept_items(pinned, kept_arcs(pinned, np.zeros_like(pinned), PROJECTIVE_MULTI), by_grandparent)


@pytest.mark.parametrize("seed", range(8))
def test_no_crossed_span_is_kept(seed):
    """Literally: with one end of a pinned arc strictly inside and the other one outside."""
    pinned = some_of_a_tree(5, seed)
    kept, crossed = masked(pinned), np.zeros_like(pinned)
    for (i, j), arc in product(product(range(6), repeat=2), np.argwhere(pinned).tolist()):
        for end, other in (arc, arc[::-1]):
            crossed[i, j] |= min(i, j) < end < max(i, j) and not min(i, j) <= other <= max(i, j)
    assert crossed.any() or seed
    for items in (kept.complete, kept.arc, np.triu(kept.pair)):
        assert not (items & crossed).any()


@pytest.mark.parametrize("seed", range(8))
def test_pairs_have_heads_and_complete_items_all_their_side(seed):
    pinned = some_of_a_tree(5, seed)
    kept = masked(pinned)
    for i, j in zip(*np.nonzero(np.triu(kept.pair, 1)), strict=True):
        start, stop = kept.above[[i, j], 0].max(), kept.above[[i, j], 1].min()
        assert i == 0 or (start < stop and not i <= start <= stop - 1 <= j)
    for head, end in product(range(6), repeat=2):
        dependents = np.flatnonzero(pinned[head])
        beyond = dependents > end if head < end else dependents < end
        same_side = (dependents > head) == (head < end)
        if head != end and (beyond & same_side).any():
            assert not kept.complete[head, end]


@KINDS
@pytest.mark.parametrize("by_grandparent", [False, True], ids=["n^3", "n^4"])
def test_what_is_pruned_is_not_touched_and_the_rest_is_cleared(kind, by_grandparent):
    pinned, rng = some_of_a_tree(5, 3), np.random.default_rng(1)
    kept, shape = masked(pinned, by_grandparent), (6, 6, 6 if by_grandparent else 1)
    weights = PartWeights(kind.exp(rng.normal(size=shape)), kind.exp(rng.normal(size=(6, 6, 6))))
    chart, adjoints = (kind.zeros((TABLES, *shape)) for _ in range(2))
    inside(weights, kept, False, chart)
    marginals = kind.zeros((6, 6))
    outside(weights, kept, False, chart, adjoints, marginals)
    np.testing.assert_allclose(kind.floats(marginals)[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(kind.floats(marginals)[pinned], 1.0, rtol=0, atol=1e-12)
    for filled in (chart, adjoints):
        for table, is_kept in zip(kind.floats(filled), kept[:TABLES], strict=True):
            assert not table[~is_kept].any()
        if kind is REAL:
            clear(kept, filled)
            assert not filled.any()
