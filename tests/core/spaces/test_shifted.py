"""Log-scores shifted, in either way: of a sentence by a kernel, of a batch by functions of whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.factorisation import Shifted, shift
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.padded import constant_of, shift_batch
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, TreeSpace, space


@np.errstate(invalid="ignore")
def shift_in_batch(log_scores: Any, trees: TreeSpace) -> Shifted:
    """As PyTorch and JAX are asked, with padding."""
    nodes = len(log_scores)
    padded = np.full((2, nodes + 1, nodes + 1), -np.inf, dtype=log_scores.dtype)
    padded[1, :nodes, :nodes] = log_scores
    (_, found), parts = shift_batch(np, padded, trees.single_root)
    of_none, constant = constant_of(np, parts)
    assert of_none == 0.0
    assert np.isneginf(found[nodes:]).all()
    assert np.isneginf(found[:, nodes:]).all()
    return Shifted(found[:nodes, :nodes], constant)


Way = Callable[..., Shifted]
WAYS = pytest.mark.parametrize("shift", [shift, shift_in_batch])


@WAYS
@given(n=st.integers(1, 5), seed=st.integers(0, 10**6), single_root=st.booleans(), scale=st.sampled_from([1.0, 50.0]))
def test_every_tree_loses_the_constant(graphs, shift: Way, n: int, seed: int, single_root: bool, scale: float) -> None:
    log_scores = graphs.holes(n, seed, single_root, scale)
    shifted, constant = shift(log_scores, space(single_root))
    trees = all_trees(n, space(single_root))
    before, after = (scores[trees, np.arange(1, n + 1)].sum(axis=1) for scores in (log_scores, shifted))
    np.testing.assert_allclose(after + constant, before, rtol=1e-13, atol=1e-12)
    assert (np.isneginf(shifted) == np.isneginf(log_scores)).all()


@WAYS
def test_where_the_maxima_end_up(graphs, shift: Way) -> None:
    """0 in every column over all heads; with a single root, over words, and once in ROOT's row."""
    log_scores = graphs.gaussian(6, 9)
    assert (shift(log_scores, MULTI_ROOT).log_weights[:, 1:].max(axis=0) == 0).all()
    shifted = shift(log_scores, SINGLE_ROOT).log_weights
    assert (shifted[1:, 1:].max(axis=0) == 0).all()
    assert shifted[0, 1:].max() == 0


@WAYS
def test_a_word_that_only_root_may_govern(shift: Way) -> None:
    log_scores = np.full((3, 3), -np.inf)
    log_scores[0, 1], log_scores[1, 2] = 700.0, -5.0
    for single_root in (True, False):
        shifted, constant = shift(log_scores, space(single_root))
        assert constant == 695.0
        assert shifted[0, 1] == shifted[1, 2] == 0.0
        assert not np.isnan(shifted).any()


@WAYS
@pytest.mark.parametrize(
    ("single_root", "offset"), [(True, 0.0), (True, 1e4), (True, -9e14), (False, 0.0), (False, 1e4)]
)
def test_shifts_round_once(shift: Way, single_root: bool, offset: float, graphs) -> None:
    """Differences between trees keep all digits that the scores have: against exact fractions.

    ROOT's row may be masked as a whole where a single arc leaves ROOT; else every tree would need a mask.
    """
    log_scores = graphs.gaussian(5, 3)
    log_scores[0] += offset
    log_scores[:, 2] += offset / 3
    shifted, constant = shift(log_scores, space(single_root))
    lost = []
    for tree in ([0, 1, 2, 3, 4], [2, 0, 2, 2, 4], [5, 3, 4, 5, 0]):
        arcs = [(head, word) for word, head in enumerate(tree, 1)]
        lost.append(sum(Fraction(log_scores[arc]) - Fraction(shifted[arc]) for arc in arcs))
    rounded = 0.0 if single_root else 4 * np.spacing(offset)  # ROOT's row is shifted by words, as all others
    assert max(lost) - min(lost) < 1e-13 + rounded
    assert constant == pytest.approx(float(lost[0]), rel=1e-15, abs=1e-13)


@WAYS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mask", [-1e4, -1e6, -1e9, -9e14])
def test_masks_that_no_tree_needs_are_not_summed(shift: Way, mask: float, dtype: Any, graphs) -> None:
    """Word 2 can only hang on ROOT: what all its other arcs lose, its arc from ROOT gains."""
    log_scores = graphs.gaussian(5, 3).astype(dtype)
    log_scores[1:, 2] = mask
    expected = [*log_scores[1:, [1, 3, 4, 5]].max(axis=0), log_scores[0, 2]]
    constant = shift(log_scores.astype(np.float64) if shift.__name__ == "shift" else log_scores, SINGLE_ROOT).constant
    assert constant == pytest.approx(math.fsum(expected), rel=2 * float(np.finfo(dtype).eps))


@WAYS
def test_peaks_that_cancel_leave_the_digits_of_the_others(shift: Way, graphs) -> None:
    log_scores = graphs.gaussian(6)
    log_scores[:, 2] += 1e15 / 3
    log_scores[:, 5] -= 1e15 / 3
    for trees, heads in ((MULTI_ROOT, log_scores), (SINGLE_ROOT, log_scores[1:])):
        peaks = heads[:, 1:].max(axis=0)
        root = 0.0 if trees is MULTI_ROOT else max(map(math.fsum, zip(log_scores[0, 1:], -peaks, strict=True)))
        assert shift(log_scores, trees).constant == pytest.approx(math.fsum([*peaks, root]), rel=1e-15)
