"""Matrices as read become log-scores of links and of unlinked words: scales, NULL, both directions, padding."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext.files import PairLayout, averaged, check_not_padding
from deptree_cli.bitext.scores import LinkScores
from deptree_cli.core.dtypes import Array

LINKS = np.array([[1.0, -2.0, 0.5], [-np.inf, 3.0, -1.0]])
OF_SOURCE = np.array([-0.5, -np.inf])
OF_TARGET = np.array([0.25, -3.0, 2.0])

# The same with a row and a column for NULL, whose corner means nothing.
FIRST = np.block([[np.nan, OF_TARGET], [OF_SOURCE[:, None], LINKS]])
LAST = np.block([[LINKS, OF_SOURCE[:, None]], [OF_TARGET, np.inf]])

WHERE_NULL_STANDS = pytest.mark.parametrize(("null", "matrix"), [("first", FIRST), ("last", LAST)])
ANY_NULL = pytest.mark.parametrize("null", [None, "first", "last"])


def agree(found: LinkScores, links: Array, of_source: Array, of_target: Array) -> None:
    np.testing.assert_array_equal(found.links, links)
    np.testing.assert_array_equal(found.source_nulls, of_source)
    np.testing.assert_array_equal(found.target_nulls, of_target)


@WHERE_NULL_STANDS
def test_null_is_a_row_and_a_column(null, matrix) -> None:
    before = matrix.copy()
    agree(PairLayout(null=null).link_scores(matrix), LINKS, OF_SOURCE, OF_TARGET)
    np.testing.assert_array_equal(matrix, before)


@WHERE_NULL_STANDS
def test_weights_are_powers_of_e(null, matrix) -> None:
    found = PairLayout("weight", null).link_scores(np.exp(matrix))
    for ours, theirs in zip(found, (LINKS, OF_SOURCE, OF_TARGET), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-15)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("scale", "given", "log_score"),
    [("log", None, 0), ("log", -2.5, -2.5), ("weight", None, 0), ("weight", 2, np.log(2)), ("weight", 0, -np.inf)],
)
def test_one_null_score_for_all_words(scale, given, log_score) -> None:
    found = PairLayout(scale, null_score=given).link_scores(np.ones((2, 3), np.int8))
    agree(found, np.full((2, 3), float(scale == "log")), np.full(2, log_score), np.full(3, log_score))


def test_masks_forbid() -> None:
    matrix = np.array([[0.0, -1e32], [-1e16, np.finfo(np.float32).min]], np.float32)
    agree(PairLayout().link_scores(matrix), [[0, -np.inf], [-np.inf, -np.inf]], np.zeros(2), np.zeros(2))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("layout", "matrix", "parts"),
    [
        (PairLayout(), np.zeros((2, 2, 2)), ["shape (2, 2, 2)", "a row per source word"]),
        (PairLayout(), np.zeros(3), ["shape (3,)"]),
        (PairLayout(null="last"), np.zeros((0, 3)), ["without a row and a column for NULL", "remove --null last"]),
        (PairLayout(null="first"), np.zeros((1, 3)), ["no source words"]),
        (PairLayout(), np.zeros((3, 0)), ["no target words"]),
        (PairLayout("weight"), np.array([[1.0, 1.0], [1.0, -0.25]]), ["link 2-2", "negative", 'scale="log"']),
        (PairLayout(), np.array([[1.0, np.nan]]), ["link 1-2 is NaN"]),
        (PairLayout(), np.array([[np.inf, 1.0]]), ["link 1-1 is too large"]),
        (PairLayout(null="first"), np.array([[0, np.nan], [1.0, 1.0]]), ["null score of target word 1 is NaN"]),
        (PairLayout(null_score=np.nan), np.ones((1, 1)), ["null score", "is NaN"]),
    ],
)
def test_what_is_no_score(layout, matrix, parts, says) -> None:
    with says(*parts):
        layout.link_scores(matrix)


def test_unknown_layouts(says) -> None:
    with says("unknown scale 'wieght'", "weight, log"):
        PairLayout("wieght")
    with says("unknown position 'middle' of NULL", "first, last"):
        PairLayout(null="middle")


def test_both_directions_are_averaged_as_log_scores() -> None:
    one = LinkScores(LINKS, OF_SOURCE, OF_TARGET)
    other = LinkScores(LINKS[::-1].copy(), np.array([1.5, 0.0]), np.array([0.75, -np.inf, 2.0])).transposed
    links = [[-np.inf, 0.5, -0.25], [-np.inf, 0.5, -0.25]]
    agree(averaged(one, other.transposed), links, [0.5, -np.inf], [0.5, -np.inf, 2.0])


@pytest.mark.parametrize(("scores", "none"), [(0.5, False), (0.0, True), (-1.0, True)])
def test_whether_a_link_pays(scores, none) -> None:
    """Against the two words' nulls together, 1 and -1; one link of six is enough."""
    matrix = np.full((2, 3), -5.0)
    matrix[1, 2] = scores
    assert LinkScores(matrix, np.full(2, 1.0), np.full(3, -1.0)).none_pays is none
    assert not LinkScores(matrix, np.full(2, -np.inf), np.full(3, 9.0)).none_pays


@pytest.mark.parametrize("null", [None, "first"])
def test_padding_is_cut(null) -> None:
    layout, matrix = PairLayout(null=null), FIRST if null else LINKS
    padded = np.full((5, 6), -np.inf)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    np.testing.assert_array_equal(layout.cut(padded, 2, 3), matrix)
    assert layout.cut(matrix, 2, 3) is matrix


def test_padding_in_front_of_null(says) -> None:
    assert PairLayout(null="last").cut(LAST, 2, 3) is LAST
    with says("--null last does not work", "unpadded"):
        PairLayout(null="last").cut(LAST, 1, 3)


def padded(fill: float, rows: int = 1, columns: int = 1, null: str | None = None) -> Array:
    """A matrix of scores with more rows and columns."""
    scores = np.random.default_rng(0).normal(size=(3, 4))
    if null:
        scores[0 if null == "first" else -1, 0 if null == "first" else -1] = 7.0
    return np.pad(scores, ((0, rows), (0, columns)), constant_values=fill)


@ANY_NULL
@pytest.mark.parametrize("fill", [-np.inf, -1e32, 0.0, -10000.0])
@pytest.mark.parametrize(("rows", "columns", "what"), [(1, 0, "row"), (0, 1, "column"), (2, 2, "row")])
def test_padding_is_noticed(fill, rows, columns, what, null, says) -> None:
    with says(f"the last {what} of a matrix of shape", "looks like padding", "--text FILE"):
        check_not_padding(padded(fill, rows, columns, null), PairLayout(null=null))


@ANY_NULL
def test_scores_are_not_taken_for_padding(null) -> None:
    layout = PairLayout(null=null)
    check_not_padding(padded(0.0, 0, 0, null), layout)
    check_not_padding(np.zeros((3, 4)), layout)  # all alike: may be meant
    some = padded(0.0, 0, 0, null)
    some[-1, 1:] = some[1:, -1] = -np.inf
    check_not_padding(some, layout)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("layout", "matrix", "what"),
    [
        (PairLayout(null="last"), [[1.0, 2.0, 3.0], [-np.inf, -1e32, 7.0]], "row"),  # the corner and masks of two kinds
        (PairLayout(), [[1.0, -np.inf], [2.0, -1e32]], "column"),
        (PairLayout("weight"), [[0.5], [0.0]], "row"),
        (PairLayout("weight"), [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]], "column"),
    ],
)
def test_what_hides_padding(layout, matrix, what, says) -> None:
    with says(f"the last {what}", "padding"):
        check_not_padding(np.array(matrix), layout)


def test_a_word_without_weights_is_not_padding() -> None:
    check_not_padding(np.array([[0.5, 0.2], [0.0, 0.1]]), PairLayout("weight"))
