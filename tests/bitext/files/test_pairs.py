"""Sentence pairs from their files: every container gives the same, with NULL, padding, words and both directions."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deptree_cli.bitext.files import PairLayout, PairRecord, PairSource
from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from tests.bitext.files import pair_files as files
from tests.bitext.files.pair_files import LENGTHS, MATRICES, REVERSE, RNG, TEXT, WORDS, batch


def contents(kind: str) -> bytes:
    return {
        "npz": lambda: files.npz(MATRICES),
        "npy": lambda: files.npy(*MATRICES.values()),
        "batch": lambda: files.npy(batch(MATRICES)),
        "safetensors": lambda: files.safetensors(MATRICES),
        "jsonl": lambda: files.jsonl(MATRICES),
    }[kind]()


def plain(record: PairRecord | DeptreeError) -> tuple[object, ...]:
    assert isinstance(record, PairRecord), record
    scores = (record.scores, record.source_nulls, record.target_nulls)
    return record.sent_id, record.key, *(each.tolist() for each in scores), record.source, record.target


@pytest.fixture
def deliver(scratch, monkeypatch) -> Callable[[bytes, str, str], str]:
    """Put bytes where a transport has them, and return what the user would name."""

    def put(data: bytes, suffix: str, transport: str) -> str:
        if transport == "stdin":
            stream = io.BytesIO(files.gzipped(data) if suffix == ".npz" else data)
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(stream)))
            return "-"
        gzipped = transport == "gzip"
        return scratch(f"s{suffix}" + ".gz" * gzipped, files.gzipped(data) if gzipped else data)

    return put


@pytest.mark.parametrize("transport", ["file", "gzip", "stdin"])
@pytest.mark.parametrize("kind", ["npz", "npy", "batch", "safetensors", "jsonl"])
def test_every_container_gives_the_same_pairs(kind: str, transport: str, deliver, read, scratch) -> None:
    text = scratch("t.txt", TEXT) if kind != "safetensors" else None
    path = deliver(contents(kind), f".{'npy' if kind == 'batch' else kind}", transport)
    found = {record.sent_id: record for record in read(path, text=text, null_score=-1.5)}
    named = kind in ("npz", "safetensors", "jsonl")
    assert set(found) == (set(MATRICES) if named else {"1", "2", "3"})
    assert [record.number for record in found.values()] == [1, 2, 3]
    ours = [found[name] for name in MATRICES] if named else list(found.values())
    for record, (name, scores), (source, target) in zip(ours, MATRICES.items(), WORDS, strict=True):
        np.testing.assert_array_equal(record.scores, scores)
        np.testing.assert_array_equal(record.source_nulls, np.full(len(scores), -1.5))
        np.testing.assert_array_equal(record.target_nulls, np.full(scores.shape[1], -1.5))
        assert record.key == (name if named else None)
        assert (record.source, record.target) == ((tuple(source.split()), tuple(target.split())) if text else ((), ()))
        assert record.place.startswith("standard input" if path == "-" else path)


def test_one_matrix_and_running_numbers(scratch, read) -> None:
    (record,) = read(scratch("s.npy", files.npy(MATRICES["a"])), first=7)
    assert (record.sent_id, record.number) == ("7", 7)
    np.testing.assert_array_equal(record.scores, MATRICES["a"])


@pytest.mark.parametrize("null", ["first", "last"])
def test_null_in_every_container(null: str, scratch, read) -> None:
    where = (1, 0) if null == "first" else (0, 1)
    matrices = {name: np.pad(scores, (where, where), constant_values=-2.5) for name, scores in MATRICES.items()}
    paths = [scratch("s.npz", files.npz(matrices)), scratch("s.jsonl", files.jsonl(matrices))]
    expected = [plain(each) for each in read(scratch("plain.npz", files.npz(MATRICES)), null_score=-2.5)]
    for path in paths:
        assert [plain(each) for each in read(path, null=null)] == expected
    if null == "first":
        path, text = scratch("b.npy", files.npy(batch(matrices))), scratch("t.txt", TEXT)
        assert [plain(each)[2:5] for each in read(path, text=text, null=null)] == [each[2:5] for each in expected]


def test_words_beside_the_scores(scratch, read) -> None:
    own = scratch("own.jsonl", files.jsonl(MATRICES, WORDS))
    bare, text = scratch("bare.jsonl", files.jsonl(MATRICES)), scratch("t.txt", TEXT)
    assert [plain(each) for each in read(own)] == [plain(each) for each in read(bare, text=text)]
    others = TEXT.replace(b"yes", b"yeah")
    assert read(own, text=scratch("others.txt", others))[2].target == ("yeah",)  # what the user named has precedence


@pytest.mark.parametrize(
    "kinds", [("npz", "npz"), ("npy", "npz"), ("jsonl", "npz"), ("npy", "npy"), ("jsonl", "jsonl"), ("npz", "npy")]
)
def test_both_directions(kinds: tuple[str, str], scratch, read) -> None:
    """Named scores in another order are found by their names; the mean is of log-scores, and nulls are averaged too."""

    def put(name: str, kind: str, matrices: dict[str, Array]) -> str:
        null = -1.0 if name == "s" else -4.0
        with_null = {key: np.pad(each, (1, 0), constant_values=null) for key, each in matrices.items()}
        write = {"npz": files.npz, "jsonl": files.jsonl, "npy": lambda named: files.npy(*named.values())}[kind]
        return scratch(f"{name}.{kind}", write(with_null))

    by_name = kinds[1] == "npz" and kinds[0] != "npy"
    reverse = dict(reversed(REVERSE.items())) if by_name else REVERSE
    found = read(put("s", kinds[0], MATRICES), symmetric=put("r", kinds[1], reverse), null="first")
    for record, scores, other in zip(found, MATRICES.values(), REVERSE.values(), strict=True):
        np.testing.assert_allclose(record.scores, (scores + other.T) / 2)
        assert (np.isneginf(record.scores) == (np.isneginf(scores) | np.isneginf(other.T))).all()
        assert {*record.source_nulls, *record.target_nulls} == {-2.5}


def test_both_directions_of_weights_have_the_geometric_mean(scratch, read) -> None:
    one, other = np.array([[1.0, 4.0], [0.0, 2.0]]), np.array([[4.0, 9.0], [9.0, 0.5]])
    (record,) = read(
        scratch("s.npy", files.npy(one)), symmetric=scratch("r.npy", files.npy(other)), scale="weight", null_score=3.0
    )
    np.testing.assert_allclose(np.exp(record.scores), np.sqrt(one * other.T))
    np.testing.assert_allclose(np.exp(record.source_nulls), 3.0)


def test_null_in_json_forbids_on_both_scales(scratch, read) -> None:
    path = scratch("s.jsonl", b'{"scores": [[1, null]]}')
    for scale in ("log", "weight"):
        (record,) = read(path, scale=scale)
        assert record.scores.tolist() == [[float(scale == "log"), -np.inf]]


def test_padded_batches_of_both_directions(scratch, read) -> None:
    text = scratch("t.txt", TEXT)
    exact = read(scratch("s.npz", files.npz(MATRICES)), symmetric=scratch("r.npz", files.npz(REVERSE)))
    one, other = scratch("s.npy", files.npy(batch(MATRICES))), scratch("r.npy", files.npy(batch(REVERSE, 0.0)))
    for found in (read(one, symmetric=other, text=text), read("s.npz", symmetric=other)):
        assert [plain(each)[2:5] for each in found] == [plain(each)[2:5] for each in exact]


def test_padded_batches_without_words(scratch, read) -> None:
    """The first pair fills the batch; the others are handed on as errors."""
    matrices = {"a": RNG.normal(size=(3, 3)), "b": RNG.normal(size=(2, 3)), "c": RNG.normal(size=(3, 3))}
    good, bad, last = read(scratch("s.npy", files.npy(batch(matrices))))
    np.testing.assert_array_equal(good.scores, matrices["a"])
    np.testing.assert_array_equal(last.scores, matrices["c"])
    assert str(bad).startswith("s.npy, matrix 2 (2): the last row of a matrix of shape (3, 3) looks like padding")


def test_batches_with_lengths(scratch, read) -> None:
    """One length cannot say how long two sentences are, a file of words can."""
    path = scratch("s.npz", files.npz({"scores": batch(MATRICES), "lengths": np.array([2, 4, 1])}))
    assert all("a sentence pair needs two lengths" in str(each) for each in read(path))
    found = read(path, text=scratch("t.txt", TEXT))
    assert [each.scores.shape for each in found] == list(LENGTHS.values())


def test_how_many_there_are(scratch) -> None:
    source = PairSource(scratch("s.npz", files.npz(MATRICES)), text=scratch("t.txt", TEXT))
    assert source.paths == ["s.npz", "t.txt"]
    assert source.count is None
    next(reading := source.read(PairLayout()))
    assert source.count == 3
    reading.close()
    stream = PairSource(scratch("s.jsonl", files.jsonl(MATRICES)))
    assert len(list(stream.read(PairLayout()))) == 3
    assert stream.count is None


def test_a_warning_where_no_link_pays(scratch) -> None:
    def warned(path: str, **how: Any) -> list[str]:
        lines: list[str] = []
        list(PairSource(path).read(PairLayout(**how), warn=lambda _, line: lines.append(line)))
        return [line for line in lines if line]

    path = scratch("s.npz", files.npz({"a": np.full((2, 2), -1.0), "b": np.full((2, 2), 1.0)}))
    assert warned(path) == ["every link scores less than leaving both words unlinked: check --null-score"]
    assert warned(path, null_score=-1.0) == []
    (line,) = warned(scratch("n.npy", files.npy(np.zeros((3, 3)))), null="first")
    assert line.endswith("--null first is where NULL stands")
