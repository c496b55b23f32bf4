"""Files of each container as others write them: damage, each with its place, and what is particular to a container."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import tracemalloc
import warnings
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import Input
from deptree_cli.io.scores.arrays import Extras, Raw, ReadSpec
from deptree_cli.io.scores.containers import CONTAINERS, open_scores, safetensors
from deptree_cli.io.scores.containers.npy import read_npy
from deptree_cli.io.scores.meta import NOTHING, Meta
from deptree_cli.io.sentence import in_order
from tests.arrays import header, npy, npz


@pytest.fixture
def read(scratch):
    """All that is in a file of these bytes: scores, and errors that were handed on."""

    def all_of(name: str, data: bytes | str, dimensions: int = 2, forbidden: float = -np.inf) -> list[Raw]:
        with open_scores(scratch(name, data.encode() if isinstance(data, str) else data)) as file:
            return list(in_order(file.read(ReadSpec(dimensions, forbidden))))

    return all_of


def zipped(members: dict[str, bytes], comment: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = comment
    return stream.getvalue()


def tensors(said: str = "", **arrays: tuple[str, tuple[int, ...], bytes]) -> bytes:
    """A .safetensors by hand: the library writes neither all types nor any order."""
    told, data = {"__metadata__": {"by": "me", "deptree": said}} if said else {}, b""
    for name, (kind, shape, own) in arrays.items():
        told[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(own)]}
        data += own
    text = json.dumps(told).encode()
    return len(text).to_bytes(8, "little") + text + data


ONES, HUGE = npy(np.ones((3, 3))), header("(36000, 36000)") + bytes(64)
PACKED = npz(a=np.random.default_rng(0).random((30, 30)), b=np.ones((2, 2)))
ARRAYS = {"b": ("F64", (3, 3), bytes(72)), "a": ("F32", (1, 2), bytes(8)), "c": ("U8", (2, 1), bytes(2))}
TENSORS = tensors(**ARRAYS)
VERSION_2 = io.BytesIO()
np.lib.format.write_array(VERSION_2, np.ones((2, 4)), version=(2, 0))
CUT = "a.safetensors: the file is damaged or cut short"
NO_NUMBER = "the field scores holds something that is not a number"
SHAPES = [f"(0, {10**30})", f"({2**63}, 0)", f"({2**31}, {2**31}, 0)", f"({'1, ' * 40})"]
HEADERS = ["((2, 2)", "(2.5, 2)", "(True and 1, )", "((((((((((2", "(-2, -2)", "'x'", "(2, 2), 3: 4"]
HEADERS += ["(2, 2), 'a': __import__('os')"]
TYPES = [np.ones((2, 2), complex), np.array([["a", "b"]]), np.zeros((2, 2), "f4,f4"), np.zeros((2, 2), "V2")]
OBJECTS = np.array([np.ones((2, 2)), {}], dtype=object)
NO_BATCH = [np.ones(shape, order=order) for order in "CF" for shape in ((5, 0, 0), (5, 2, 0), (0, 2, 0))]

# What is not read, in the order of what is wrong: a file's name, its bytes, and what is said of it.
DAMAGED = [
    ("a.pkl", b"\x80\x04\x95abc", "a pickle runs code", "pickle.load"),
    ("a.pkl", b"(lp0\n.", "a pickle runs code"),
    ("a.npy", b"\x80\x04\x95abc", "a pickle runs code"),
    ("a.pt", b"\x00\x00", "a torch file may run code", "torch.load"),
    ("a.h5", b"\x00\x00", "HDF5", "h5py"),
    ("a", b"\x89HDF\r\n\x1a\n", "HDF5", "h5py"),
    ("a", b"# sent_id = 1\n1\ta", "sentences (CoNLL-U)", "--conllu"),
    ("a.conllu", b"\xef\xbb\xbf1\ta", "sentences (CoNLL-U)", "--conllu"),
    ("a.txt", b"1.5 2.5", "a.txt: neither the name nor the first bytes", ".npz, .npy, .safetensors or .jsonl"),
    ("a", b"1", "neither the name nor"),
    ("a.npy", b"", "the file is empty"),
    ("a.jsonl", b"\n \n", "the file is empty"),
    ("a.npy", b"1.5 2.5", "not a .npy header"),
    *(("a.npy", ONES[:end], "a.npy: the", ".npy header") for end in (3, 9, 40)),
    ("a.npy", ONES[:-1], "cut short", "(3, 3)"),
    ("a.npy", ONES + b"rubbish!", "bytes where an array should begin"),
    ("a.npy", b"\x93NUMPY\x07\x00" + ONES[8:], "version"),
    *(("a.npy", header(shape) + bytes(8), "a.npy: the .npy header announces the shape") for shape in SHAPES),
    *(("a.npy", header(text) + bytes(64), "a.npy: the .npy header") for text in HEADERS),
    ("a.npy", npy(OBJECTS), "runs code", "np.savez(", "allow_pickle=True"),
    *(("a.npy", npy(array), f"type {array.dtype}", "not real numbers") for array in TYPES),
    *(("a.npy", npy(array), f"array of shape {array.shape}", "not a padded batch") for array in NO_BATCH),
    ("a.npy", HUGE, "a.npy: the array has shape (36000, 36000), which no sentence has"),
    ("a.npz", b"1.5 2.5", "damaged"),
    ("a.npz", npz(a=np.ones((3, 3)))[:-30], "damaged or cut short"),
    ("a", zipped({"model/data.pkl": b"x", "model/data/0": b"y"}), "torch file may run code", "torch.load"),
    ("a", zipped({"notes.txt": b"hello"}), "holds 'notes.txt'", "np.savez"),
    ("a", zipped({}), "holds no arrays"),
    ("a", zipped({"a.npy": b"", "b.npy": b""}).replace(b"b.npy", b"a.npy"), "two entries of the same name"),
    ("a.npz", zipped({"a.npy": b""}), "a.npz[a] (a): the entry is empty"),
    ("a.npz", zipped({"a.npy": ONES + b"x"}), "a.npz[a] (a): there are bytes behind the array"),
    ("a.npz", zipped({"x.npy": HUGE}), "a.npz[x] (x): the array has shape (36000, 36000), which no sentence has"),
    ("a.npz", npz(scores=np.ones((2, 5, 5)), lengths=np.array([2, 4, 4])), "a.npz[scores]", "lengths is 3", "is 2"),
    ("a.npz", npz(scores=np.ones((2, 5, 5)), lengths=np.ones(2)), "a.npz[lengths]", "row of integers", "float64"),
    (
        *("a.npz", zipped({"lengths.npy": npy(np.array([1, 1])), "scores.npy": header("(2, 36000, 36000)")})),
        "a.npz[scores]: the array has shape (2, 36000, 36000), which no sentence has",
    ),
    ("safetensors", (40).to_bytes(8, "little") + b'{"a"', "the file is damaged or cut short"),
    *(("a.safetensors", TENSORS[:end], CUT) for end in (3, 9, 40, -1)),
    ("a.safetensors", TENSORS + b"x", CUT),
    ("a.safetensors", tensors(), "a.safetensors: the file holds no tensors"),
    ("a.safetensors", tensors(a=("F99", (2, 2), bytes(4))), CUT),
    ("a.jsonl", b'{"sent_id": "\xff\xfe"}\n', "a.jsonl:1: not JSON"),
]


@pytest.mark.parametrize("row", DAMAGED, ids=lambda row: " ".join([row[0], *row[2:]]))
@pytest.mark.quick
def test_what_is_not_read(row, read, says) -> None:
    name, data, *parts = row
    with says(name, *parts):
        for each in read(name, data):
            raise each


BATCH = np.arange(24.0).reshape(2, 3, 4)
SCORES = '{"scores": [[3, 4]]}\n'

# A file, and of each of its sentences the shape or what is wrong with it: one that is bad does not end the reading.
# Shapes are judged where the layout is known.
SENTENCES = [
    ("a.npy", npy(np.ones((0, 2, 3))), []),
    ("a.npy", npy(np.ones((5, 2, 9))), [(2, 9)] * 5),
    ("a.npy", npy(np.ones((2, 3, 4, 5))), [(2, 3, 4, 5)]),
    ("a.npy", npy(np.ones(7)), [(7,)]),
    ("a.npy", header("(True, 2)") + bytes(8), [(1, 2)]),
    ("a.npy", header("(2L, 3L)") + bytes(24), [(2, 3)]),  # as Python 2 wrote it
    ("a.npy", VERSION_2.getvalue(), [(2, 4)]),
    (
        *("a.npz", npz(a=np.ones((2, 2)), labels=np.ones((3, 4, 5)), objects=OBJECTS, z=np.ones((2, 3)))),
        [(2, 2), (3, 4, 5), "a.npz[objects] (objects): this is an object array", (2, 3)],
    ),
    ("a.npz", PACKED[:400] + bytes(20) + PACKED[420:], ["a.npz[a] (a): the entry is damaged", (2, 2)]),
    ("a.safetensors", TENSORS, [(3, 3), (1, 2), (2, 1)]),  # in the order of their bytes
    ("a.jsonl", '{"scores": \n' + SCORES, ["a.jsonl:1: not JSON", (1, 2)]),
    ("a.jsonl", '{"signature": "me"}\n', []),
    ("a.jsonl", '{"signature": 7}\n' + SCORES, [(1, 2)]),
    ("a.jsonl", SCORES + '{"signature": "me"}\n' + SCORES, [(1, 2), (1, 2)]),  # as of files joined with cat
    ("a.jsonl", '["signature"]\n' + SCORES, ["a.jsonl:1: expected a JSON object", (1, 2)]),
    ("a.jsonl", '{"signature": "me", "sent_id": "x"}\n' + SCORES, ["a.jsonl:1 (x): the field scores", (1, 2)]),
]


@pytest.mark.parametrize(("name", "data", "found"), SENTENCES, ids=[f"{name} {found}" for name, _, found in SENTENCES])
@pytest.mark.quick
def test_sentences_of_a_file(name, data, found, read) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raws = read(name, data)
    for raw, expected in zip(raws, found, strict=True):
        assert str(raw).startswith(expected) if isinstance(expected, str) else raw.scores.shape == expected


SIGNED = [
    *(("a.npz", zipped({"a.npy": ONES}, comment), comment.decode()) for comment in (b"", b"deptree|dump|v:1")),
    ("a.npz", zipped({"a.npy": ONES}, b"\xff"), "\ufffd"),
    *(("a.safetensors", tensors(said, **ARRAYS), "") for said in ("", "x", "[1]", '["x|y", [1]]')),
    ("a.safetensors", tensors('["x|y", []]', **ARRAYS), "x|y"),
    *(("a.jsonl", first + '{"signature": "me"}\n' + SCORES, "me") for first in ("", "\n\n", "\ufeff")),
    ("a.jsonl", '{"signature": 7}\n' + SCORES, ""),
    ("a.jsonl", '{"signature": "me", "sent_id": "x"}\n' + SCORES, ""),
    ("a.jsonl", SCORES + '{"signature": "me"}\n', ""),
]


@pytest.mark.parametrize(("name", "data", "signature"), SIGNED, ids=[f"{name} {says}" for name, _, says in SIGNED])
@pytest.mark.quick
def test_what_a_file_says_of_itself(name, data, signature, scratch) -> None:
    with open_scores(scratch(name, data.encode() if isinstance(data, str) else data)) as file:
        assert file.meta.signature == signature


def matrices(*arrays: np.ndarray, dimensions: int = 2) -> list:
    return list(read_npy(io.BytesIO(npy(*arrays)), "a.npy", ReadSpec(dimensions)))


def test_several_arrays_one_after_another_and_written_as_numpy_saves_them(tmp_path) -> None:
    stored = [np.ones((n, n + 1)) * n for n in (3, 1)] + [np.arange(6.0).reshape(2, 3).T, np.ones((1, 2), np.float32)]
    raws = matrices(*stored)
    assert [raw.scores.shape for raw in raws] == [each.shape for each in stored]
    assert [raw.place for raw in raws] == [f"a.npy, matrix {number}" for number in (1, 2, 3, 4)]
    assert [(raw.key, raw.padded) for raw in raws] == [(None, False)] * 4
    with CONTAINERS.get("npy").write(str(tmp_path / "a.npy"), Meta("me"), True) as write:
        for number, matrix in enumerate(stored):
            write(str(number), matrix)
    assert (tmp_path / "a.npy").read_bytes() == npy(*stored)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("batch", [BATCH, BATCH.astype(">f4"), BATCH.astype(int), BATCH.reshape(2, 3, 2, 2)])
def test_a_batch_comes_slice_by_slice(batch: np.ndarray, order: str) -> None:
    raws = matrices(np.asarray(batch, order=order), dimensions=batch.ndim - 1)
    assert all(raw.padded for raw in raws)
    np.testing.assert_array_equal([raw.scores for raw in raws], batch)
    (raw,) = matrices(np.asarray(batch[0], order=order), dimensions=batch.ndim - 1)
    assert not raw.padded
    np.testing.assert_array_equal(raw.scores, batch[0])


@contextmanager
def piped(feed):
    out_of, into = os.pipe()

    def run() -> None:
        with os.fdopen(into, "wb", buffering=0) as pipe:
            feed(pipe)

    feeder = threading.Thread(target=run)
    feeder.start()
    with os.fdopen(out_of, "rb") as pipe:
        yield pipe
    feeder.join()


def test_a_batch_on_a_pipe_does_not_gather_in_memory() -> None:
    count, size = 200, 100

    def feed(pipe) -> None:
        pipe.write(header(f"({count}, {size}, {size})"))
        for _ in range(count):
            pipe.write(bytes(4 * size * size))

    tracemalloc.start()
    with piped(feed) as pipe:
        assert sum(1 for _ in read_npy(pipe, "pipe", ReadSpec())) == count
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * 4 * size * size < count * 4 * size * size


def test_an_absurd_header_allocates_nothing(says) -> None:
    said = {"(999999999999, 999999999999)": "announces the shape", "(1000000000000, 2, 2, 0)": "not a padded batch"}
    said |= {"(99999999, 9999, 9999)": "cut short", "(9999, 9999)": "cut short"}
    tracemalloc.start()
    for shape, problem in said.items():
        with says(problem, shape):
            list(read_npy(io.BytesIO(header(shape) + bytes(100)), "a.npy", ReadSpec(3 if "2, 2, 0" in shape else 2)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_what_no_sentence_has_is_refused_before_it_is_read(says) -> None:
    """However few compressed bytes stand for it."""
    stream = io.BytesIO(HUGE)
    with says("no sentence has"):
        list(read_npy(stream, "a.npy", ReadSpec()))
    assert len(stream.read()) == 64


def test_safetensors_that_no_sentence_has_are_refused(read, monkeypatch) -> None:
    monkeypatch.setattr(safetensors, "MOST_SCORES", 8)
    error, *_ = read("a.safetensors", TENSORS)
    assert "a.safetensors[b] (b): the array has shape (3, 3), which no sentence has" in str(error)


@pytest.mark.parametrize("labels", [(), (2,)], ids=["arcs", "labels"])
def test_an_archive_of_scores_and_lengths_is_a_batch(labels: tuple[int, ...], read) -> None:
    batch = np.random.default_rng(0).normal(size=(2, 5, 5, *labels))
    raws = read("a.npz", npz(scores=batch, lengths=np.array([2, 4], np.uint8)), 2 + len(labels))
    assert [(raw.length, raw.padded, raw.key) for raw in raws] == [(2, False, None), (4, False, None)]
    assert [raw.place for raw in raws] == [f"a.npz[scores], matrix {number}" for number in (1, 2)]
    np.testing.assert_array_equal([raw.scores for raw in raws], batch)
    among_others = read("a.npz", npz(scores=batch, lengths=np.array([2, 4]), other=np.ones((2, 2))))
    assert [raw.key for raw in among_others] == ["scores", "lengths", "other"]


@pytest.mark.parametrize(
    ("kind", "size"),
    [("BF16", 8), ("F8_E4M3", 4), ("F8_E5M2", 4), ("F8_E8M0", 4), ("F4", 2), ("C64", 32), ("F8_E4M3FNUZ", 4)],
)
@pytest.mark.quick
def test_types_of_safetensors_that_are_not_read(kind: str, size: int, read) -> None:
    """The library fails over them with errors of several classes."""
    if kind in {"C64", "F8_E4M3FNUZ"}:
        pytest.importorskip("safetensors", minversion="0.8", reason="an older safetensors does not know the type")
    error, good = read("a.safetensors", tensors(a=(kind, (2, 2), bytes(size)), b=("F64", (1, 1), bytes(8))))
    assert str(error) == f"a.safetensors[a] (a): the tensor cannot be read (its type is {kind}). Save it as float32."
    assert good.scores.shape == (1, 1)


def test_without_the_library_of_safetensors(tmp_path, read, says, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with says("a.safetensors: safetensors is not installed", "pip install"):
        read("a.safetensors", TENSORS)
    write = CONTAINERS.get("safetensors").write
    with says("safetensors is not installed", "pip install"), write(str(tmp_path / "a"), NOTHING, False):
        pass


def test_lines_with_and_without_a_name(read) -> None:
    lines = '\ufeff{"sent_id": "s1", "scores": [[1, 2]], "forms": ["a"]}\r\n\n{"scores": [[1.5, 2], [3, true]]}\n'
    named, bare, numbered = read("a.jsonl", lines + '{"sent_id": 7, "scores": [[1, 2]]}')
    assert (named.key, named.place, named.extras.forms) == ("s1", "a.jsonl:1", ("a",))
    assert (bare.key, bare.place, bare.extras.forms) == (None, "a.jsonl:3", ())
    np.testing.assert_array_equal(bare.scores, [[1.5, 2], [3, 1]])
    assert numbered.key == "7"


@pytest.mark.parametrize("forbidden", [0.0, -np.inf])
def test_null_forbids_and_nan_stays_nan(forbidden: float, read) -> None:
    (raw,) = read("a.jsonl", '{"scores": [[null, NaN, -Infinity]]}', forbidden=forbidden)
    np.testing.assert_array_equal(raw.scores, [[forbidden, np.nan, -np.inf]])
    (raw,) = read("a.jsonl", '{"scores": [[[1, 2], [3, null]]]}', 3, forbidden)
    np.testing.assert_array_equal(raw.scores, [[[1, 2], [3, forbidden]]])


NO_LISTS = "the field scores is not a list of lists"
BAD_LINES = [
    ('{"scores": [[1, 2]]', "a.jsonl:2: not JSON"),
    ('{"scores": [[1, ' + "9" * 5000 + "]]}", "a.jsonl:2: not JSON"),
    ("[" * 100000, "a.jsonl:2: not JSON"),
    ("[[1, 2]]", "a.jsonl:2: expected a JSON object, found a list"),
    ("3", "a.jsonl:2: expected a JSON object, found a number"),
    *((f'{{"sent_id": "x"{scores}}}', f"a.jsonl:2 (x): {NO_LISTS}") for scores in ("", ', "scores": [1, 2]')),
    ('{"scores": [[1, 2], [3]]}', "a.jsonl:2: the rows of the field scores differ in length"),
    *((f'{{"scores": {each}}}', f"a.jsonl:2: {NO_NUMBER}") for each in ('[["1", 2]]', "[[[1], [2]]]", "[[1, {}]]")),
    ('{"sent_id": ["x"], "scores": [[1, 2]]}', "a.jsonl:2: the field sent_id is a list"),
    ('{"scores": [[1, 2]]} ', f"a.jsonl:2: {NO_LISTS} of lists"),
    ('{"scores": [[[1, 2], [3]]]} ', "a.jsonl:2: the lists of labels of the field scores differ in length"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES, ids=[message for _, message in BAD_LINES])
@pytest.mark.quick
def test_a_bad_line_is_named_and_the_next_is_read(line: str, message: str, read) -> None:
    """With labels where a blank ends the line."""
    dimensions, sound = (3, '{"scores": [[[1, 2]]]}') if line.endswith(" ") else (2, '{"scores": [[1, 2]]}')
    first, bad, last = read("a.jsonl", f"{sound}\n{line}\n{sound}\n", dimensions)
    assert isinstance(bad, DeptreeError)
    assert str(bad).startswith(message)
    assert first.scores.tolist() == last.scores.tolist()


def test_a_line_is_handed_on_before_the_next_is_there() -> None:
    """Somebody may write the lines while we read them."""
    seen, in_time = threading.Event(), []

    def feed(pipe) -> None:
        pipe.write(b'{"signature": "me"}\n{"scores": [[1, 2]]}\n')
        in_time.append(seen.wait(20))
        pipe.write(b'{"scores": [[3, 4]]}\n')

    with piped(feed) as pipe, CONTAINERS.get("jsonl").open(Input(pipe, b"", "pipe")) as lines:
        assert lines.meta == Meta("me")
        raws = lines.read(ReadSpec())
        next(raws)
        seen.set()
        assert len(list(raws)) == 1
    assert in_time == [True]


def test_the_header_waits_for_the_first_sentence(scratch) -> None:
    row = '{"sent_id":"x","scores":[[1.0,null]]'
    signed = '{"signature":"me"}\n' + row + ',"forms":["word"]}\n'
    for has_header, forms, lines in ((True, (), ""), (True, ("word",), signed), (False, (), row + "}\n")):
        with CONTAINERS.get("jsonl").write(scratch("a.jsonl", b"x"), Meta("me"), has_header) as write:
            if lines:
                write("x", np.array([[1, -np.inf]], np.float32), Extras(forms))
        assert Path("a.jsonl").read_text() == lines
