"""Layouts of scores: every cell by its name, there and back, alone and in batches; and what a file says of its own."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, SPACES
from deptree_cli.io.scores.layout import (
    PRESETS,
    Layout,
    complete,
    cut,
    from_head_dep,
    layout,
    text_of,
    to_head_dep,
    words_in,
)
from deptree_cli.io.scores.meta import NOTHING, UNKNOWN, WRITE_SCORES, Meta, space_of
from deptree_cli.io.scores.records import Interpretation, Temperature
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.signature import escaped, parse, signature, unescaped
from deptree_cli.version import __version__

ORIENTS, ROOTS, SCALES = ("head-dep", "dep-head"), ("first", "last", "diagonal"), ("weight", "log")
CASES = [Layout(*case) for case in product(ORIENTS, ROOTS, SCALES, [""], [None], (True, False))]


@given(chosen=st.sampled_from(CASES), n=st.integers(1, 6), seed=st.integers(0, 99))
def test_what_is_written_in_a_layout_is_read_in_it(chosen: Layout, n: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).uniform(0.1, 9, (n + 1, n + 1))
    matrix[:, 0] = chosen.forbidden
    np.fill_diagonal(matrix, chosen.forbidden)
    matrix.flags.writeable = False  # nothing is changed in its place
    shape = chosen.shape(n)
    written = from_head_dep(matrix, chosen, shape)
    written.flags.writeable = False
    assert written.shape == shape
    assert words_in(shape, chosen) == n
    np.testing.assert_array_equal(to_head_dep(written, chosen), matrix)


@given(plain=st.sampled_from(CASES), labels=st.sampled_from(["first", "last"]), n=st.integers(1, 5))
def test_an_axis_of_labels_is_as_many_matrices(plain: Layout, labels: str, n: int) -> None:
    labelled, axis = replace(plain, labels=labels), 0 if labels == "first" else -1
    matrices = np.random.default_rng(n).uniform(0.1, 9, (3, *plain.shape(n)))
    array = np.moveaxis(matrices, 0, axis)
    assert words_in(array.shape, labelled) == n
    read = to_head_dep(array, labelled)
    for label in range(3):
        np.testing.assert_array_equal(read[:, :, label], to_head_dep(matrices[label], plain))
    arcs = np.array([from_head_dep(read[:, :, label], plain, matrices[0].shape) for label in range(3)])
    np.testing.assert_array_equal(from_head_dep(read, labelled, array.shape), np.moveaxis(arcs, 0, axis))
    if n > 1 and plain.root != "last":
        np.testing.assert_array_equal(
            to_head_dep(cut(array, n - 1, labelled), labelled),
            np.stack([to_head_dep(cut(matrix, n - 1, plain), plain) for matrix in matrices], axis=-1),
        )


def named(rows: str, columns: str) -> np.ndarray:
    """Cells that tell their row and column: 10 * row + column, with r = ROOT as 0."""
    return np.array([[10 * int(row) + int(column) for column in columns] for row in rows])


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (named("012", "012"), "head-dep"),
        (named("012", "012"), ""),
        (named("012", "12"), ""),
        (named("120", "120"), "head-dep,last"),
        (named("120", "12"), "last"),
        (named("012", "012").T, "dep-head"),
        (named("012", "12").T, ""),
        (named("120", "12").T, "dep-head,last"),
        (np.array([[1, 12], [21, 2]]), "diagonal"),
        (np.array([[1, 21], [12, 2]]), "dep-head,diagonal"),
    ],
)
@pytest.mark.quick
def test_every_arc_is_found(array: np.ndarray, text: str) -> None:
    found = to_head_dep(array, layout(text))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [[0, 1, 2], [0, 0, 12], [0, 21, 0]])


def test_cells_that_carry_no_arc_are_ignored_even_if_nan() -> None:
    scores = np.array([[np.nan, 1.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(to_head_dep(scores, Layout(scale="log")), [[-np.inf, 1], [-np.inf, -np.inf]])


TEXTS = {
    "": Layout(),
    "dep-head,log": Layout("dep-head", None, "log"),
    "head-dep,diagonal,weight": Layout("head-dep", "diagonal", "weight"),
    "natasha": Layout("dep-head", "first", "log", "natasha", rectangle=True),
    "supar,last,weight": Layout("dep-head", "last", "weight", "supar"),
    "torch-struct": Layout("head-dep", "diagonal", "log", "torch-struct"),
    "allennlp": Layout("head-dep", "first", "weight", "allennlp", labels="first"),
    "spacy,first,weight": Layout("dep-head", "first", "weight", "spacy"),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.quick
def test_one_text_for_a_layout(text: str) -> None:
    assert layout(text) == TEXTS[text]
    assert text_of(TEXTS[text]) == text


@pytest.mark.parametrize(
    ("text", "problem", "remedy"),
    [
        ("stanca", "there is no layout 'stanca'", "Did you mean stanza?"),
        ("qqq", "there is no layout 'qqq'", "Choose one of supar, diaparser"),
        ("dep-hed", "there is no layout 'dep-hed'", "Did you mean dep-head?"),
        ("supar,wieght", "'supar,wieght' is not a layout", "Did you mean weight?"),
        ("supar,middle", "'supar,middle' is not a layout", ""),
        ("supar,log,weight", "'supar,log,weight' is not a layout", "dep-head,first,log"),
    ],
)
@pytest.mark.quick
def test_what_is_not_a_layout(text: str, problem: str, remedy: str, says) -> None:
    with says(problem, remedy):
        layout(text)
    with says(problem, remedy):
        Meta.of(signature("convert", {"from": text}))


@pytest.mark.parametrize(
    ("array", "text", "parts"),
    [
        (np.ones((7, 8)), "head-dep", ["layout is head-dep, but", "(7, 8), which is dep-head", "dep-head in --from"]),
        (np.ones((8, 7)), "supar", ["the layout is dep-head, but"]),
        (np.ones((7, 8)), "supar,head-dep", ["the layout is head-dep, but"]),
        (np.ones((7, 8)), "diagonal", ["ROOT on the diagonal", "(7, 8)", "say first or last in --from"]),
        *((np.ones(shape), "", [f"shape {shape}", "one matrix per sentence"]) for shape in ((3,), (3, 3, 3), (3, 5))),
        *((np.ones(shape), "", ["without words"]) for shape in ((0, 0), (1, 1), (0, 1))),
        (np.ones((0, 0)), "diagonal", ["without words"]),
        (np.ones((2, 2), complex), "", ["type complex128", "float32"]),
        (np.array([["a", "b"]] * 2), "", ["type <U1", "float32"]),
        (np.array([[None, {}]] * 2), "", ["type object", "float32"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.quick
def test_what_is_not_a_matrix_of_scores(array: np.ndarray, text: str, parts: list[str], says) -> None:
    with says(*parts):
        to_head_dep(array, layout(text))


def test_cut_keeps_the_first_words(says) -> None:
    kept = {((6, 6), ""): (4, 4), ((5, 6), ""): (3, 4), ((6, 5), ""): (4, 3), ((5, 5), "diagonal"): (3, 3)}
    for (padded, text), (rows, columns) in kept.items():
        scores = np.arange(np.prod(padded)).reshape(padded)
        np.testing.assert_array_equal(cut(scores, 3, layout(text)), scores[:rows, :columns])
    assert cut(np.ones((6, 6)), 5, Layout(root="last")).shape == (6, 6)
    with says("the length is 6", "(6, 6)", "without ROOT"):
        cut(np.ones((6, 6)), 6, Layout())
    with says("the length is 0"):
        cut(np.ones((6, 6)), 0, Layout())
    with says("ROOT last", "unpadded"):
        cut(np.ones((6, 6)), 3, Layout(root="last"))


def records(how: Layout, dtype: type = np.float32) -> list[Sentence]:
    rng = np.random.default_rng(3)
    scores = [rng.uniform(1.5, 9.0, how.shape(n)).astype(dtype) for n in (1, 4, 2, 9)]
    return [Sentence(str(number), 1, min(each.shape), "", scores=each) for number, each in enumerate(scores)]


@pytest.mark.parametrize(("temperature", "dtype"), [(1.0, "f4"), (0.3, "f8"), (1.0, "i2"), (0.3, "f2"), (1.0, "bool")])
@pytest.mark.parametrize("how", [*CASES, *(Layout(None, root, scale) for root in ROOTS for scale in SCALES)])
def test_matrices_of_a_batch_are_laid_out_as_each_alone(how: Layout, temperature: float, dtype: str) -> None:
    interpretation = Interpretation(how, space=MULTI_ROOT, temperature=Temperature(temperature))
    read = records(how, dtype)
    found = interpretation.batch(read)
    alone = [interpretation(record).distribution for record in read]
    np.testing.assert_array_equal(found.trees.log_scores, np.concatenate([each.log_scores.ravel() for each in alone]))
    arcs = np.concatenate([each.marginals().ravel() for each in alone])
    for record, each, matrix in zip(read, alone, found.layout.from_head_dep(arcs), strict=True):
        np.testing.assert_array_equal(matrix, from_head_dep(each.marginals(), how, record.scores.shape))


def test_what_cannot_be_worked_on_together() -> None:
    how = Layout("head-dep", scale="log")
    read = records(how)
    read[1].scores = np.ones((3, 4))  # a rectangle that contradicts the layout
    read[2].scores = np.ones((3, 3), dtype=complex)
    for space in (MULTI_ROOT, PROJECTIVE):
        assert Interpretation(how, space=space).batch(read).places == [0, 3]
    assert Interpretation(how).batch(read[1:3]) is None
    assert Interpretation(how, fix_heads=True).batch(read) is None
    assert Interpretation(how, labels=("a", "b")).batch(read) is None


OWN = [*PRESETS, Layout(), Layout("dep-head", "diagonal", "log"), layout("supar,head-dep,last,weight")]


@pytest.mark.parametrize("read", [*OWN, layout("spacy,weight")], ids=lambda read: text_of(read) or "nothing")
@pytest.mark.parametrize(("trees", "ordered"), [(None, True), ("projective", False), ("projective", True)])
@pytest.mark.parametrize("command", WRITE_SCORES)
def test_what_a_signature_says_of_scores_comes_back(
    read: Layout, trees: str | None, ordered: bool, command: str
) -> None:
    fields = {"from": text_of(read), "trees": trees, "order": None if ordered else UNKNOWN}
    said = signature(command, fields)
    assert Meta.of(said) == Meta(said, read, trees or "", ordered)


@pytest.mark.parametrize(
    "text", ["", "me", "two\nlines", "deptree", "deptree|sample|from:supar|v:1", "deptree|combine|method:mixture", 7]
)
@pytest.mark.quick
def test_other_signatures_say_nothing_of_scores(text: object) -> None:
    assert Meta.of(text) == Meta("" if text == 7 else str(text))


def test_where_it_is_not_kept_options_say_it() -> None:
    assert NOTHING.options_to_read() == []
    meta = Meta("me", layout("supar,weight"), "projective")
    assert meta.options_to_read() == ["--projective", "--from supar,weight"]
    assert meta.options_to_read(layout=False) == ["--projective"]
    assert Meta("me", Layout("head-dep", "first", "log")).options_to_read() == ["--from head-dep,first,log"]


def test_projective_scores_stay_projective(says) -> None:
    with says("Did you mean projective?"):
        Meta.of(signature("convert", {"from": "supar", "trees": "projectiv"}))
    for each in SPACES:
        assert space_of("", each) == each
    assert space_of("projective", None).name == "projective"
    assert space_of("projective", None, single_root=False).projective


def test_a_signature_has_its_fields_in_order() -> None:
    assert signature("sample", {"a": 1, "b": None, "c": "x"}) == f"deptree|sample|a:1|c:x|v:{__version__}"
    assert parse("nobody knows") == ("nobody knows", "", {})


@given(st.text() | st.just("a|seed:7\nb\\n.json"))
def test_every_value_of_a_field_comes_back(value: str) -> None:
    written = escaped(value)
    assert "|" not in written
    assert written.isprintable()
    assert unescaped(written) == value
    assert parse(signature("x", {"field": value})).fields == {"field": value, "v": __version__}


@pytest.mark.parametrize(("begun", "found"), [("natasha,we", ["natasha,weight"]), ("dep", ["dep-head"]), ("su,su", [])])
def test_what_a_layout_may_go_on_with(begun: str, found: list[str]) -> None:
    assert complete(None, None, begun) == found
