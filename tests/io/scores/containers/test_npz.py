"""`.npz`: keys, lazy loading, batches, and zips that are something else."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.arrays import Raw, RawScores, ReadSpec
from deptree_cli.io.scores.containers import CONTAINERS
from deptree_cli.io.scores.containers.npz import open_npz
from deptree_cli.io.scores.meta import NOTHING, Meta
from tests.arrays import npz

CONTAINER = CONTAINERS.get("npz")

Read = Callable[..., list[Raw]]


def zipped(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_dot_", ".").replace("_in_", "/"), data)
    return stream.getvalue()


@pytest.fixture
def read(read_all) -> Read:
    return lambda data, matrices=None: read_all(CONTAINER, data, "a.npz", matrices)


def test_keys_keep_their_order_and_load_when_asked(as_input) -> None:
    with open_npz(as_input(npz(b=np.ones((2, 3)), a=np.ones((3, 3))), "a.npz")) as file:
        assert file.meta == NOTHING
        source = file.read(ReadSpec())
        assert isinstance(source, Mapping)
        assert list(source) == ["b", "a"]
        assert "a" in source
        assert "c" not in source
        assert source["a"].scores.shape == (3, 3)
        with pytest.raises(KeyError):
            source["c"]
        assert (source["b"].key, source["b"].place, source["b"].padded) == ("b", "a.npz[b]", False)


def test_a_batch_with_lengths(read: Read) -> None:
    batch = np.arange(50.0).reshape(2, 5, 5)
    first, second = read(npz(scores=batch, lengths=np.array([2, 4])))
    assert isinstance(first, RawScores)
    assert isinstance(second, RawScores)
    assert [(raw.length, raw.padded, raw.key) for raw in (first, second)] == [(2, False, None), (4, False, None)]
    np.testing.assert_array_equal([first.scores, second.scores], batch)
    assert second.place == "a.npz[scores], matrix 2"


def test_a_batch_of_labelled_scores(read: Read) -> None:
    batch = np.arange(100.0).reshape(2, 5, 5, 2)
    raws = read(npz(scores=batch, lengths=np.array([2, 4], np.uint8)), ReadSpec(3))
    assert [raw.length for raw in raws if isinstance(raw, RawScores)] == [2, 4]


def test_scores_and_lengths_among_others_are_keys_like_others(read: Read) -> None:
    raws = read(npz(scores=np.ones((2, 5, 5)), lengths=np.array([2, 4]), other=np.ones((2, 2))))
    assert [raw.key for raw in raws if isinstance(raw, RawScores)] == ["scores", "lengths", "other"]


def test_a_batch_whose_lengths_do_not_agree(read: Read, says) -> None:
    with says("a.npz[scores]", "lengths is 3", "matrices is 2"):
        read(npz(scores=np.ones((2, 5, 5)), lengths=np.array([2, 4, 4])))
    with says("a.npz[lengths]", "row of integers", "float64"):
        read(npz(scores=np.ones((2, 5, 5)), lengths=np.ones(2)))


def test_the_comment_is_the_signature(as_input) -> None:
    for comment, signature in ((b"deptree|dump|v:1", "deptree|dump|v:1"), (b"\xff", "\ufffd")):
        stream = io.BytesIO(npz(a=np.ones((2, 2))))
        with zipfile.ZipFile(stream, "a") as archive:
            archive.comment = comment
        with open_npz(as_input(stream.getvalue(), "a.npz")) as file:
            assert file.meta == Meta(signature)


def test_one_bad_entry_does_not_end_the_reading(read: Read) -> None:
    good = np.ones((2, 2))
    data = npz(a=good, labels=np.ones((3, 4, 5)), objects=np.array([good, None], dtype=object), z=good)
    a, labels, objects, z = read(data)
    assert isinstance(a, RawScores)
    assert isinstance(z, RawScores)
    assert labels.scores.shape == (3, 4, 5), "the shape is judged where the layout is known"
    assert "a.npz[objects] (objects): this is an object array" in str(objects)


def test_damaged_entries_are_named(read: Read) -> None:
    data = bytearray(npz(a=np.random.default_rng(0).random((30, 30)), b=np.ones((2, 2))))
    data[400:420] = bytes(20)
    damaged, sound = read(bytes(data))
    assert isinstance(damaged, DeptreeError)
    assert damaged.place == "a.npz[a]"
    assert isinstance(sound, RawScores)
    (empty,) = read(zipped(a_dot_npy=b""))
    assert "a.npz[a] (a): the entry is empty" in str(empty)
    stream = io.BytesIO()
    np.save(stream, np.ones((2, 2)))
    (longer,) = read(zipped(a_dot_npy=stream.getvalue() + b"x"))
    assert "bytes behind the array" in str(longer)


def test_zips_that_are_no_archives_of_arrays(read: Read, says) -> None:
    with says("torch file may run code", "torch.load"):
        read(zipped(model_in_data_dot_pkl=b"x", model_in_data_in_0=b"y"))
    with says("holds 'notes.txt'", "np.savez"):
        read(zipped(notes_dot_txt=b"hello"))
    with says("holds no arrays"):
        read(zipped())
    with says("damaged or cut short"):
        read(npz(a=np.ones((3, 3)))[:-30])


def test_no_name_twice(read: Read, says) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.npy", b"")
        archive.writestr("b.npy", b"")
    with says("two entries of the same name"):
        read(stream.getvalue().replace(b"b.npy", b"a.npy"))
