"""A padded batch without lengths: words that are padding are refused, words that are words never."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.files import check_not_padding
from deptree_cli.io.scores.layout import Layout, from_head_dep

LOG = Layout("head-dep", "first", "log")
LAYOUTS = [
    Layout(orient, root, "log", rectangle=rectangle)
    for orient, root, rectangle in product(("head-dep", "dep-head"), ("first", "diagonal"), (False, True))
]
MASKS = [0.0, -1e4, -1e9, -1e15, -1e32, float(np.finfo(np.float32).min), -np.inf, np.nan]


def scored(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n + 1, n + 1))


def padded(matrix: np.ndarray, layout: Layout, value: float, by: int) -> np.ndarray:
    """The matrix as laid out, in the corner of a larger one that is full of a value."""
    scores = from_head_dep(matrix, layout, layout.shape(len(matrix) - 1))
    slice_ = np.full([size + by for size in scores.shape], value)
    slice_[tuple(slice(size) for size in scores.shape)] = scores
    return slice_


@pytest.mark.parametrize("by", [1, 3])
@pytest.mark.parametrize("value", [0.0, -1e4, -1e9, 7.5])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: f"{layout.orient} {layout.root} {layout.rectangle}")
def test_padding_of_one_number(layout: Layout, value: float, by: int) -> None:
    with pytest.raises(DeptreeError, match="--lengths FILE"):
        check_not_padding(padded(scored(4), layout, value, by), layout)


@pytest.mark.parametrize("value", [0.0, -1e4, -1e32, -np.inf])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: f"{layout.orient} {layout.root} {layout.rectangle}")
def test_lengths_that_count_root(layout: Layout, value: float) -> None:
    with pytest.raises(DeptreeError, match="Do the lengths count ROOT"):
        check_not_padding(padded(scored(4), layout, value, 1), layout, has_length=True)


@pytest.mark.parametrize("mask", [mask for mask in MASKS if mask == mask and mask <= -1e15])
def test_a_head_that_is_masked_and_a_dependent_that_is_alike(mask: float) -> None:
    """What a softmax over heads leaves of padding."""
    matrix = np.full((7, 7), -np.log(4))
    matrix[:4, :4] = scored(3)
    matrix[4:, :] = mask
    with pytest.raises(DeptreeError, match="padding"):
        check_not_padding(matrix, LOG)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_words(n: int, seed: int, weights: bool) -> None:
    """Scores as parsers give them, also where the last word governs nothing, or may have one head only."""
    matrix = np.exp(scored(n, seed)) if weights else scored(n, seed)
    layout = replace(LOG, scale="weight" if weights else "log")
    check_not_padding(matrix, layout)
    matrix[n, :] = layout.forbidden
    check_not_padding(matrix, layout)
    matrix[1:, n] = layout.forbidden
    check_not_padding(matrix, layout)


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0])
def test_a_matrix_that_is_all_one_number_may_be_meant(value: float) -> None:
    check_not_padding(np.full((5, 5), value), LOG)


def test_zeros_and_ones_are_a_set_of_arcs() -> None:
    matrix = np.ones((4, 4))
    matrix[3, :] = 0
    check_not_padding(matrix, replace(LOG, scale="weight"))


@pytest.mark.parametrize("axis", [0, -1])
def test_with_an_axis_of_labels(axis: int) -> None:
    layout = replace(LOG, labels="first" if axis == 0 else "last")
    matrix = np.random.default_rng(0).normal(size=(5, 5, 3))
    check_not_padding(np.moveaxis(matrix, -1, axis), layout)
    matrix[4], matrix[:, 4] = -2.0, -2.0
    with pytest.raises(DeptreeError, match="padding"):
        check_not_padding(np.moveaxis(matrix, -1, axis), layout)
