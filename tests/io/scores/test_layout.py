"""Layouts: every cell by name, the round trip, and what a matrix may not look like."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.io.scores.layout import (
    CHOICES,
    PRESETS,
    Layout,
    cut,
    from_head_dep,
    layout,
    text_of,
    to_head_dep,
    words_in,
)
from deptree_cli.io.scores.meta import Meta


def shape_of(n: int, orient: str, root: str, rectangle: bool) -> tuple[int, int]:
    if root == "diagonal":
        return n, n
    if not rectangle:
        return n + 1, n + 1
    return (n + 1, n) if orient == "head-dep" else (n, n + 1)


CASES = list(product(("head-dep", "dep-head"), ("first", "last", "diagonal"), ("weight", "log"), (True, False)))


@given(case=st.sampled_from(CASES), n=st.integers(1, 6), seed=st.integers(0, 99))
def test_what_is_written_in_a_layout_is_read_in_it(case: tuple[str, str, str, bool], n: int, seed: int) -> None:
    orient, root, scale, rectangle = case
    chosen = Layout(orient, root, scale)
    matrix = np.random.default_rng(seed).uniform(0.1, 9, (n + 1, n + 1))
    matrix[:, 0] = chosen.forbidden
    np.fill_diagonal(matrix, chosen.forbidden)
    shape = shape_of(n, orient, root, rectangle)
    written = from_head_dep(matrix, chosen, shape)
    assert written.shape == shape
    assert words_in(shape, chosen) == n
    np.testing.assert_array_equal(to_head_dep(written, chosen), matrix)


@given(case=st.sampled_from(CASES), labels=st.sampled_from(["first", "last"]), n=st.integers(1, 5))
def test_an_axis_of_labels_is_as_many_matrices(case: tuple[str, str, str, bool], labels: str, n: int) -> None:
    orient, root, scale, rectangle = case
    plain, labelled = Layout(orient, root, scale), Layout(orient, root, scale, labels=labels)
    matrices = np.random.default_rng(n).uniform(0.1, 9, (3, *shape_of(n, orient, root, rectangle)))
    array = matrices if labels == "first" else np.moveaxis(matrices, 0, -1)
    assert words_in(array.shape, labelled) == n
    read = to_head_dep(array, labelled)
    for label in range(3):
        np.testing.assert_array_equal(read[:, :, label], to_head_dep(matrices[label], plain))
    arcs = np.array([from_head_dep(read[:, :, label], plain, matrices[0].shape) for label in range(3)])
    np.testing.assert_array_equal(
        from_head_dep(read, labelled, array.shape), arcs if labels == "first" else np.moveaxis(arcs, 0, -1)
    )
    if n > 1 and root != "last":
        np.testing.assert_array_equal(
            to_head_dep(cut(array, n - 1, labelled), labelled),
            np.stack([to_head_dep(cut(matrix, n - 1, plain), plain) for matrix in matrices], axis=-1),
        )


def named(rows: str, columns: str) -> np.ndarray:
    """Cells that tell their row and column: 10 * row + column, with r = ROOT as 0."""
    return np.array(
        [[10 * int(row.replace("r", "0")) + int(column.replace("r", "0")) for column in columns] for row in rows]
    )


@pytest.mark.parametrize(
    ("array", "chosen"),
    [
        (named("r12", "r12"), Layout("head-dep")),
        (named("r12", "r12"), Layout()),
        (named("r12", "12"), Layout()),
        (named("12r", "12r"), Layout("head-dep", "last")),
        (named("12r", "12"), Layout(None, "last")),
        (named("r12", "r12").T, Layout("dep-head")),
        (named("r12", "12").T, Layout()),
        (named("12r", "12").T, Layout("dep-head", "last")),
        (np.array([[1, 12], [21, 2]]), Layout(None, "diagonal")),
        (np.array([[1, 21], [12, 2]]), Layout("dep-head", "diagonal")),
    ],
)
def test_every_arc_is_found(array: np.ndarray, chosen: Layout) -> None:
    np.testing.assert_array_equal(to_head_dep(array, chosen), [[0, 1, 2], [0, 0, 12], [0, 21, 0]])


def test_cells_that_carry_no_arc_are_ignored_even_if_nan() -> None:
    scores = np.array([[np.nan, 1.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(to_head_dep(scores, Layout(scale="log")), [[-np.inf, 1], [-np.inf, -np.inf]])


def test_the_input_is_not_changed() -> None:
    scores = np.ones((3, 3))
    to_head_dep(scores, Layout("dep-head"))
    from_head_dep(scores, Layout("dep-head"), (3, 3))
    np.testing.assert_array_equal(scores, np.ones((3, 3)))


@pytest.mark.parametrize("dtype", ["float16", "float32", ">f8", "int64", "uint8", "bool"])
def test_number_types_become_float64(dtype: str) -> None:
    assert to_head_dep(np.ones((2, 2), dtype), Layout()).dtype == np.float64


def test_presets_are_those_of_the_contract() -> None:
    assert set(PRESETS.names) == {
        *("supar", "diaparser", "hanlp", "supar-probs"),
        *("stanza", "trankit", "udpipe2", "natasha", "allennlp", "spacy"),
        *("torch-struct", "synjax", "treesample"),
    }
    assert layout("supar-probs") == Layout("dep-head", "first", "weight", "supar-probs", rectangle=True)
    assert layout("torch-struct") == Layout("head-dep", "diagonal", "log", "torch-struct")
    assert layout("allennlp") == Layout("head-dep", "first", "weight", "allennlp", labels="first")
    assert layout("spacy") == Layout("dep-head", "diagonal", "log", "spacy")
    assert layout("spacy,first,weight") == Layout("dep-head", "first", "weight", "spacy")
    assert layout() == Layout()
    assert layout().complete == Layout(None, "first", "weight")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Layout()),
        ("log", Layout(scale="log")),
        ("dep-head,log", Layout("dep-head", None, "log")),
        ("head-dep,diagonal,weight", Layout("head-dep", "diagonal", "weight")),
        ("natasha", Layout("dep-head", "first", "log", "natasha", rectangle=True)),
        ("supar,last,weight", Layout("dep-head", "last", "weight", "supar")),
    ],
)
def test_one_text_for_a_layout(text: str, expected: Layout) -> None:
    assert layout(text) == expected
    assert text_of(expected) == text


def test_what_nobody_answers_is_assumed() -> None:
    assert layout().assumed() == ("orient", "root", "scale")
    assert layout().assumed(square=False) == ("root", "scale")
    assert layout("diagonal,log").assumed() == ("orient",)
    assert layout("synjax").assumed() == ()


@pytest.mark.parametrize("name", CHOICES)
def test_a_file_and_an_option_contradict_each_other(name: str, says) -> None:
    one, other = CHOICES[name][:2]
    own, over = layout(one), layout(other)
    Meta(layout=own).read_with(layout(one))
    with says(f"the file says {one}, but {other} was asked for. Remove it"):
        Meta(layout=own).read_with(over)


def test_a_preset_contradicts_what_a_file_says(says) -> None:
    own = layout("head-dep,first,log")
    for over in (layout("synjax"), layout()):
        Meta(layout=own).read_with(over)
        assert over.merged(own).reading == own.reading
    with says("the file says head-dep, but dep-head was asked for"):
        Meta(layout=own).read_with(layout("supar"))
    with says("weight was asked for"):
        Meta(layout=own).read_with(layout("synjax,weight"))


def test_unknown_answers_name_the_known_ones(says) -> None:
    with says("there is no layout 'stanca'", "Did you mean stanza?"):
        layout("stanca")
    with says("there is no layout 'qqq'", "Choose one of supar, diaparser"):
        layout("qqq")
    with says("there is no layout 'dep-hed'", "Did you mean dep-head?"):
        layout("dep-hed")
    with says("'supar,wieght' is not a layout", "Did you mean weight?"):
        layout("supar,wieght")
    with says("'supar,log,weight' is not a layout", "dep-head,first,log"):
        layout("supar,log,weight")


@pytest.mark.parametrize(
    ("shape", "chosen", "parts"),
    [
        (
            (7, 8),
            Layout("head-dep"),
            ["the layout is head-dep, but", "(7, 8)", "which is dep-head", "Pass dep-head in --from"],
        ),
        ((8, 7), Layout("dep-head"), ["the layout is dep-head, but"]),
        ((7, 8), layout("synjax"), ["the layout is head-dep, but"]),
        ((7, 8), layout("supar,head-dep"), ["the layout is head-dep, but"]),
        ((7, 8), Layout(root="diagonal"), ["ROOT on the diagonal", "(7, 8)", "say first or last in --from"]),
        ((3,), Layout(), ["shape (3,)", "one matrix per sentence"]),
        ((3, 3, 3), Layout(), ["shape (3, 3, 3)"]),
        ((3, 5), Layout(), ["shape (3, 5)"]),
        ((0, 0), Layout(), ["without words"]),
        ((1, 1), Layout(), ["without words"]),
        ((0, 1), Layout(), ["without words"]),
        ((0, 0), Layout(root="diagonal"), ["without words"]),
    ],
)
def test_impossible_shapes(shape: tuple[int, ...], chosen: Layout, parts: list[str], says) -> None:
    with says(*parts):
        to_head_dep(np.ones(shape), chosen)


@pytest.mark.parametrize("array", [np.ones((2, 2), complex), np.array([["a", "b"]] * 2), np.array([[None, {}]] * 2)])
def test_what_is_not_a_number(array: np.ndarray, says) -> None:
    with says(f"type {array.dtype}", "float32"):
        to_head_dep(array, Layout())


@pytest.mark.parametrize(
    ("padded", "chosen", "expected"),
    [
        ((6, 6), Layout(), (4, 4)),
        ((5, 6), Layout(), (3, 4)),
        ((6, 5), Layout(), (4, 3)),
        ((5, 5), Layout(root="diagonal"), (3, 3)),
    ],
)
def test_cut_keeps_the_first_words(padded: tuple[int, int], chosen: Layout, expected: tuple[int, int]) -> None:
    scores = np.arange(np.prod(padded)).reshape(padded)
    np.testing.assert_array_equal(cut(scores, 3, chosen), scores[: expected[0], : expected[1]])


def test_cut_says_what_cannot_be_cut(says) -> None:
    with says("the length is 6", "(6, 6)", "without ROOT"):
        cut(np.ones((6, 6)), 6, Layout())
    with says("the length is 0"):
        cut(np.ones((6, 6)), 0, Layout())
    with says("ROOT last", "unpadded"):
        cut(np.ones((6, 6)), 3, Layout(root="last"))
    assert cut(np.ones((6, 6)), 5, Layout(root="last")).shape == (6, 6)
