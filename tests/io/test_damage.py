"""Damage that fuzzing found a way through with, each as small as it gets (tests/commands/fuzz)."""

from __future__ import annotations

import gzip
import io
import json
import warnings
import zipfile

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io import features, inputs, tensors
from deptree_cli.io.arrays import read_npy
from deptree_cli.io.features import features_of, vector
from deptree_cli.io.formats import open_scores
from deptree_cli.io.layout import Layout
from deptree_cli.io.lengths import read_lengths
from deptree_cli.io.pairing import Record
from deptree_cli.io.samples import read_draws, read_samples

LABELLED = Layout(labels="last")


def header(shape: str) -> bytes:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def shapes(data: bytes, layout: Layout | None = None) -> list[tuple[int, ...]]:
    return [raw.scores.shape for raw in read_npy(io.BytesIO(data), "a.npy", layout or Layout())]


@pytest.mark.parametrize("shape", [f"(0, {10**30})", f"({2**63}, 0)", f"({2**31}, {2**31}, 0)", f"({'1, ' * 40})"])
def test_a_shape_that_no_array_can_have(shape, says) -> None:
    with says("a.npy: the .npy header announces the shape"):
        shapes(header(shape) + bytes(8))


def test_a_shape_with_a_truth_value() -> None:
    assert shapes(header("(True, 2)") + bytes(8)) == [(1, 2)]


def test_a_header_by_python_2_is_no_reason_to_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert shapes(header("(2L, 3L)") + bytes(24)) == [(2, 3)]


def test_a_batch_of_nothing_does_not_go_on_for_ever(says) -> None:
    with says("(1000000000000, 2, 2, 0)", "not a padded batch"):
        shapes(header("(1000000000000, 2, 2, 0)"), LABELLED)


def test_what_no_sentence_has_is_refused_before_it_is_read(says) -> None:
    """However few compressed bytes stand for it."""
    stream = io.BytesIO(header("(36000, 36000)") + bytes(64))
    with says("a.npy: an array of shape (36000, 36000)", "no sentence has"):
        list(read_npy(stream, "a.npy", Layout()))
    assert len(stream.read()) == 64


def test_the_same_in_an_archive(scratch, says) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x.npy", header("(36000, 36000)") + bytes(64))
    (error,) = open_scores(scratch("a.npz", packed.getvalue()), Layout())
    with says("a.npz[x]", "(36000, 36000)", "no sentence has"):
        raise error


def test_the_same_among_tensors(scratch, says, monkeypatch) -> None:
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    monkeypatch.setattr(tensors, "MOST_SCORES", 8)
    path = scratch("a.safetensors", library.save({"x": np.ones((3, 3))}))
    (error,) = open_scores(path, Layout())
    with says("a.safetensors[x]", "(3, 3)", "no sentence has"):
        raise error


def test_a_line_without_end(scratch, says, monkeypatch) -> None:
    monkeypatch.setattr(inputs, "LONGEST_LINE", 8)
    data = gzip.compress(b"1\n" + b"9" * 10_000)
    with says("a.gz:2: the line has more than 8 bytes"):
        read_lengths(scratch("a.gz", data))


@pytest.mark.parametrize("head", [10**4000, {"a": "x" * 10_000}], ids=["large", "wide"])
def test_what_is_no_head_is_not_shown_whole(head, scratch) -> None:
    path = scratch("s", json.dumps({"sent_id": "s", "heads": [head]}).encode())
    with pytest.raises(DeptreeError, match="the head of word 1 is ") as caught:
        list(read_samples(path))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("count", [10**13, 10**400])
def test_counts_that_do_not_add_up(count, scratch, says) -> None:
    with says("s:1 (s): the count is 1000", "1000000000000"):
        list(read_samples(scratch("s", json.dumps({"sent_id": "s", "heads": [0], "count": count}).encode())))


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"log_prob": -1.0, "tau": 1e-320}, "tau is not a time"),
        ({"log_prob": -1.0, "tau": 1e-200}, "tau is not a time"),
        ({"log_prob": -1e300, "exhausted": True}, "the probability of each is 0"),
    ],
)
def test_draws_whose_weights_are_no_numbers(said, problem, scratch, says) -> None:
    with says("s:1 (s): ", problem, "deptree swor"):
        list(read_draws(scratch("s", json.dumps({"sent_id": "s", "heads": [0], **said}).encode())))


SCORES = np.zeros((2, 3))
RECORD = Record("x", 1, SCORES, None, "scores.npz[x]", "x")


def npz(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, x=array)
    return stream.getvalue()


@pytest.fixture
def features_in(scratch):
    """Features from these bytes; every file is opened anew."""
    features._archive.cache_clear()
    yield lambda data: features_of(scratch("f.npz", data), RECORD, Layout())
    features._archive.cache_clear()


def test_damaged_features(features_in) -> None:
    """Every byte in turn: zlib, zipfile and NumPy have errors of their own, none of which may come through."""
    sound = npz(np.random.default_rng(7).normal(size=(2, 3, 4)))
    errors = set()
    for place in range(len(sound)):
        data = bytearray(sound)
        data[place] ^= 0xFF
        features._archive.cache_clear()
        try:
            features_in(bytes(data))
        except DeptreeError as error:
            errors.add(error.problem)
    assert len(errors) > 9


def test_features_that_are_too_large_to_be_squared(features_in, says) -> None:
    with says("a feature is not a finite number up to 1e+100"):
        features_in(npz(np.full((2, 3, 1), 1e200)))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty"),
        (header("(3,)"), "cut short"),
        (header("(3,)")[:20], "header is damaged"),
        (b"1\nx\n", "t:2: cannot be read as numbers"),
        (b"1\n\xff\n", "t:2: cannot be read as numbers"),
        (b"1e200\n", "no list of finite numbers"),
        (header("(1, 1)") + bytes(4), "no list of finite numbers"),
    ],
    ids=["empty", "short", "header", "word", "bytes", "large", "square"],
)
def test_damaged_targets(data, problem, scratch, says) -> None:
    with says("t", problem):
        vector(scratch("t", data))


def test_targets(scratch) -> None:
    assert vector(scratch("t", b"1\n\n-2e1 3\n")).tolist() == [1, -20, 3]
    assert vector(scratch("t", b"\n")).size == 0
    assert vector(scratch("t", header("(2,)") + bytes(8))).tolist() == [0, 0]
