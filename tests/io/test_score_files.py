"""Scores meet sentences and lengths: by key, by order, never out of step; one bad sentence does not end the reading."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from deptree_cli.commands import expect
from deptree_cli.commands.estimate import read_draws
from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.files import streams
from deptree_cli.io.scores import arrays
from deptree_cli.io.scores.arrays import RawScores, read_lengths, with_lengths
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource, check_not_padding
from deptree_cli.io.scores.layout import Layout, from_head_dep, layout
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import read_trees
from tests.arrays import header, npy, npz
from tests.tree_files import word


def conllu(**lengths: int) -> bytes:
    """Sentences by name (a name that begins with _ is left out) and length."""
    sentences = []
    for name, n in lengths.items():
        rows = "".join(word(number, "f", "_", "_") for number in range(1, n + 1))
        sentences.append(("" if name.startswith("_") else f"# sent_id = {name}\n") + rows)
    return "".join(f"{each}\n" for each in sentences).encode()


def rectangles(**lengths: int) -> bytes:
    return npz(**{name: np.full((n, n + 1), float(n)) for name, n in lengths.items()})


def jsonl(*rows: tuple[str | None, int]) -> bytes:
    lines = [json.dumps({"sent_id": name, "scores": np.ones((n, n + 1)).tolist()}) for name, n in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def read_files(*paths: str | None, how: str = "") -> Iterator[Sentence | DeptreeError]:
    return ScoreFiles(ScoreSource(paths[0]), *paths[1:]).read(layout(how))


@pytest.fixture
def pair(scratch):
    """What is read from files: (sent_id, number, words in the scores, words in the block), and errors as lines."""

    def told(record: Sentence | DeptreeError) -> object:
        if isinstance(record, DeptreeError):
            return str(record)
        return record.sent_id, record.number, min(record.scores.shape), record.block.n if record.block else None

    def read(
        scores: bytes, sentences: bytes | None = None, lengths: bytes | None = None, how: str = ""
    ) -> list[object]:
        beside = {"s.conllu": sentences, "lengths": lengths}
        paths = [scratch(name, data) if data is not None else None for name, data in beside.items()]
        return [told(record) for record in read_files(scratch("scores", scores), *paths, how=how)]

    return read


BATCH = npy(np.arange(32.0).reshape(2, 4, 4))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([rectangles(b=2, a=1)], [("b", 1, 2, None), ("a", 2, 1, None)]),
        ([npy(np.ones((2, 3)))], [("1", 1, 2, None)]),
        ([jsonl(("x", 2), (None, 1))], [("x", 1, 2, None), ("2", 2, 1, None)]),
        ([BATCH], [("1", 1, 4, None), ("2", 2, 4, None)]),
        ([BATCH, conllu(a=1, b=3)], [("a", 1, 2, 1), ("b", 2, 4, 3)]),  # which give the lengths
        ([BATCH, None, b"1\n2\n"], [("1", 1, 2, None), ("2", 2, 3, None)]),
    ],
    ids=["npz", "npy", "jsonl", "batch", "batch with sentences", "batch with lengths"],
)
@pytest.mark.quick
def test_names_and_lengths(files: list, expected: list, pair) -> None:
    assert pair(*files) == expected


def test_a_batch_and_sentences_of_other_lengths(pair, says) -> None:
    first, second = pair(BATCH, conllu(a=1, b=3), how="last")
    assert first.startswith("scores, matrix 1 (a): with ROOT last")
    assert second == ("b", 2, 4, 3)
    with says("the scores have 3 words, the CoNLL-U sentence has 4"):
        pair(BATCH, conllu(a=4, b=3))
    with says("the scores have 3 words, the CoNLL-U sentence has 2"):
        pair(npy(np.ones((2, 4, 4))), conllu(a=1, b=2), b"1\n3\n")


def test_a_length_that_does_not_fit_stops_and_those_before_are_cut(scratch) -> None:
    """In a file of their own, or in the archive of the batch: whatever follows may be out of step."""
    batch = np.arange(75.0).reshape(3, 5, 5)
    apart = scratch("a.npy", npy(batch)), None, scratch("l", b"2\n9\n4\n")
    within = scratch("a.npz", npz(scores=batch, lengths=np.array([2, 9, 4])))
    for paths in (apart, (within,)):
        records = read_files(*paths)
        first = next(records)
        np.testing.assert_array_equal(first.scores, batch[0, :3, :3])
        assert not first.padded
        with pytest.raises(OutOfStep) as caught:
            next(records)
        assert str(caught.value).startswith(paths[0])
        assert ", matrix 2 (2): the length is 9, but the padded matrix has shape (5, 5)" in str(caught.value)


def test_bad_sentences_are_handed_on(pair) -> None:
    sentences = b"# sent_id = a\n\n" + conllu(b=1) + b"1\tf\n\n" + conllu(d=1)
    first, second, third, fourth = pair(rectangles(s0=1, s1=1, s2=1, s3=1), sentences)
    assert first.startswith("s.conllu:1 (a): comments without a sentence")
    assert (second, fourth) == (("b", 2, 1, 1), ("d", 4, 1, 1))
    assert third.startswith("s.conllu:6: 2 columns")
    first, second = pair(rectangles(b=1, d=1), conllu(b=1) + b"1\tf\n\n")
    assert (first, second[:10]) == (("b", 1, 1, 1), "s.conllu:4")


def test_bad_scores_are_handed_on(pair) -> None:
    first, second, third = pair(jsonl((None, 1)) + b'{"scores": 3}\n' + jsonl((None, 1)), conllu(a=1, b=1, c=1))
    assert (first, third) == (("a", 1, 1, 1), ("c", 3, 1, 1))
    assert second.startswith("scores:2 (b): the field scores is not")
    for sentences in (None, conllu(a=1, b=1, c=1)):
        labelled, shape, good = pair(npz(a=np.ones((2, 2, 9)), b=np.ones((3, 9)), c=np.ones((1, 2))), sentences)
        assert labelled.startswith("scores[a] (a): the scores have shape (2, 2, 9): is one of the axes labels")
        assert shape.startswith("scores[b] (b): the scores have shape (3, 9)")
        assert good[0] == "c"


def test_standard_input_is_read_once(says) -> None:
    for paths in (("-", "-"), ("-", None, "-")):
        with says("standard input (-) can be read only once"):
            next(read_files(*paths))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        *((data, [2, 4]) for data in (b"2\n4\n", b" 2\r\n4", b"\xef\xbb\xbf2\r\n4\r\n", b"2\r4\r", b"2\n4\n\n \n")),
        (npy(np.array([2, 4], np.uint8)), [2, 4]),
        (b"1\n" * 3, [1, 1, 1]),
        (b"2\nfour\n", "lengths:2: 'four' is not a number of words"),
        (b"2\n\n4\n", "lengths:2: '' is not"),
        (b"2\r\n3\r\n\r\n\r\n4\r\n", "lengths:3: '' is not"),
        (b"2\n-4\n", "lengths:2: '-4'"),
        (b"2\n" + b"9" * 5000, "lengths:2: "),
        (b"\xff\xfe", "lengths:1: "),
        (npy(np.array([2.0])), "lengths: lengths must be a row of integers, not float64"),
        (npy(np.array([[2]])), "lengths: lengths must be a row of integers, not int64 of shape (1, 1)"),
        (gzip.compress(b"1\n" + b"9" * 10_000, mtime=0), "lengths:2: the line has more than 6,000 bytes"),
        (b"1\n" * 4, "lengths: there are more than 3 numbers"),
    ],
    ids=lambda value: str(value[:20]),
)
@pytest.mark.quick
def test_lengths(data: bytes, found: object, scratch, says, monkeypatch) -> None:
    monkeypatch.setattr(arrays, "MOST_LISTED", 3)
    monkeypatch.setattr(streams, "LONGEST_LINE", 6000)
    path = scratch("lengths", data)
    if isinstance(found, list):
        assert read_lengths(path).tolist() == found
    else:
        with says(found):
            read_lengths(path)


RAWS = [RawScores(None, np.ones((5, 5)), f"a, matrix {number}", True) for number in (1, 2)]


@pytest.mark.parametrize(
    ("source", "words", "parts"),
    [
        *((RAWS, words, [f"of lengths is {len(words)}, that of matrices is 2"]) for words in ([9, 3, 4], [9], [])),
        ({"x": RawScores("x", np.ones((2, 2)), "a[x]")}, [1], ["needs a padded .npy", "every key has its own shape"]),
        ([replace(raw, length=3) for raw in RAWS], [1, 2], ["needs a padded .npy", "this file holds the lengths"]),
    ],
)
@pytest.mark.quick
def test_lengths_are_for_the_matrices_of_a_batch(source, words: list[int], parts: list[str], says) -> None:
    with says("a: ", *parts):
        list(with_lengths(source, np.array(words, dtype=np.int64), "a"))


LOG = Layout("head-dep", "first", "log")
LAYOUTS = [
    Layout(*case, rectangle=rectangle)
    for *case, rectangle in product(("head-dep", "dep-head"), ("first", "diagonal"), ("log",), (False, True))
]


def scored(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n + 1, n + 1))


@pytest.mark.parametrize(("by", "has_length"), [(1, False), (3, False), (1, True)])
@pytest.mark.parametrize("value", [0.0, -1e4, -1e9, 7.5, -1e32, -np.inf])
@pytest.mark.parametrize("how", LAYOUTS, ids=lambda each: f"{each.orient} {each.root} {each.rectangle}")
def test_padding_of_one_number(how: Layout, value: float, by: int, has_length: bool) -> None:
    """Without lengths, or with lengths that count ROOT; a last word without any head is an error of its own."""
    scores = from_head_dep(scored(4), how, how.shape(4))
    padded = np.full([size + by for size in scores.shape], value)
    padded[tuple(map(slice, scores.shape))] = scores
    if has_length or value > -1e15:
        with pytest.raises(DeptreeError, match="Do the lengths count ROOT" if has_length else "--lengths FILE"):
            check_not_padding(padded, how, has_length)
    else:
        check_not_padding(padded, how)


@pytest.mark.parametrize("mask", [-1e15, -1e32, float(np.finfo(np.float32).min), -np.inf])
def test_a_head_that_is_masked_and_a_dependent_that_is_alike_are_padding(mask: float, says) -> None:
    """What a softmax over heads leaves of padding."""
    matrix = np.full((7, 7), -np.log(4))
    matrix[:4, :4], matrix[4:, :] = scored(3), mask
    with says("padding"):
        check_not_padding(matrix, LOG)


@pytest.mark.parametrize("axis", ["first", "last"])
def test_padding_with_an_axis_of_labels(axis: str, says) -> None:
    how, at = replace(LOG, labels=axis), 0 if axis == "first" else -1
    matrix = np.random.default_rng(0).normal(size=(5, 5, 3))
    check_not_padding(np.moveaxis(matrix, -1, at), how)
    matrix[4], matrix[:, 4] = -2.0, -2.0
    with says("padding"):
        check_not_padding(np.moveaxis(matrix, -1, at), how)


@pytest.mark.parametrize("scale", ["weight", "log"])
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_words_are_no_padding(n: int, scale: str) -> None:
    """Scores as parsers give them, also where the last word governs nothing, or may have one head only."""
    how = replace(LOG, scale=scale)
    for seed in range(20):
        matrix = np.exp(scored(n, seed)) if scale == "weight" else scored(n, seed)
        check_not_padding(matrix, how)
        matrix[n, :] = how.forbidden
        check_not_padding(matrix, how)
        matrix[1:, n] = how.forbidden
        check_not_padding(matrix, how)
    for value in (0.0, 1.0, -3.0):  # which may be meant
        check_not_padding(np.full((5, 5), value), how)
    arcs = np.ones((4, 4))
    arcs[3, :] = 0
    check_not_padding(arcs, replace(LOG, scale="weight"))


@pytest.mark.parametrize(
    ("read", "said", "problem"),
    [
        *((read_trees, {"heads": [head]}, "the head of word 1 is ") for head in (10**4000, {"a": "x" * 10_000})),
        *((read_trees, {"count": count}, f"the count is 1{'0' * 12}") for count in (10**13, 10**400)),
        *((read_draws, {"log_prob": -1.0, "tau": tau}, "tau is not a time") for tau in (1e-320, 1e-200)),
        (read_draws, {"log_prob": -1e300, "exhausted": True}, "their probability is 0 in all"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)[:40]),
)
@pytest.mark.quick
def test_numbers_of_trees_that_fuzzing_got_through_with(read, said: dict, problem: str, scratch, says) -> None:
    (error,) = read(scratch("s", json.dumps({"sent_id": "s", "heads": [0]} | said).encode()))
    with says("s:1 (s): ", problem, "deptree swor" * (read is read_draws)):
        raise error
    assert len(str(error)) < (600 if "count" in said else 200)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"1\n-2e1 3\n\n", [1, -20, 3]),
        (header("(2,)") + bytes(8), [0, 0]),
        *((header("(3,)")[:end], problem) for end, problem in ((None, "cut short"), (20, "header is damaged"))),
        *((data, "t:2: ") for data in (b"1\nx\n", b"1\n\xff\n")),
        *((data, "a list of finite numbers") for data in (b"1e200\n", header("(1, 1)") + bytes(4))),
    ],
    ids=lambda value: str(value[:20]),
)
@pytest.mark.quick
def test_targets(data: bytes, found: object, scratch, says) -> None:
    if isinstance(found, list):
        assert expect.vector(scratch("t", data)).tolist() == found
    else:
        with says("t", found):
            expect.vector(scratch("t", data))
