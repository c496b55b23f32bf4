"""`.npy` streams: matrices, batches, damage."""

from __future__ import annotations

import io
import os
import threading
import tracemalloc

import numpy as np
import pytest

from deptree_cli.io.scores.arrays import ReadSpec
from deptree_cli.io.scores.containers import CONTAINERS
from deptree_cli.io.scores.containers.npy import read_npy
from tests.arrays import header, npy

CONTAINER = CONTAINERS.get("npy")


def read(data: bytes, matrices: ReadSpec | None = None) -> list[np.ndarray]:
    return [raw.scores for raw in read_npy(io.BytesIO(data), "a.npy", matrices or ReadSpec())]


def test_one_matrix_in_either_order() -> None:
    matrix = np.arange(12.0).reshape(3, 4)
    for stored in (matrix, np.asfortranarray(matrix), matrix.astype(">f4"), matrix.astype(int)):
        (scores,) = read(npy(stored))
        np.testing.assert_array_equal(scores, matrix)


def test_several_arrays_one_after_another() -> None:
    stored = [np.ones((n, n + 1)) * n for n in (3, 1, 2)]
    raws = list(read_npy(io.BytesIO(npy(*stored)), "a.npy", ReadSpec()))
    assert [raw.scores.shape for raw in raws] == [(3, 4), (1, 2), (2, 3)]
    assert [raw.place for raw in raws] == [f"a.npy, matrix {number}" for number in (1, 2, 3)]
    assert [(raw.key, raw.padded) for raw in raws] == [(None, False)] * 3


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_batch_comes_slice_by_slice(order: str) -> None:
    batch = np.arange(24.0).reshape(2, 3, 4)
    raws = list(read_npy(io.BytesIO(npy(np.asarray(batch, order=order))), "a.npy", ReadSpec()))
    assert all(raw.padded for raw in raws)
    np.testing.assert_array_equal([raw.scores for raw in raws], batch)


def test_version_2_headers() -> None:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ones((2, 2)), version=(2, 0))
    assert read(stream.getvalue())[0].shape == (2, 2)


def test_a_batch_on_a_pipe_does_not_gather_in_memory() -> None:
    matrices, size = 200, 100
    out_of, into = os.pipe()

    def feed() -> None:
        with os.fdopen(into, "wb") as pipe:
            pipe.write(header(f"({matrices}, {size}, {size})"))
            for _ in range(matrices):
                pipe.write(bytes(4 * size * size))

    feeder = threading.Thread(target=feed)
    tracemalloc.start()
    feeder.start()
    with os.fdopen(out_of, "rb") as pipe:
        count = sum(1 for _ in read_npy(pipe, "pipe", ReadSpec()))
    feeder.join()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == matrices
    assert peak < 20 * 4 * size * size < matrices * 4 * size * size


def test_an_absurd_header_allocates_nothing(says) -> None:
    tracemalloc.start()
    with says("announces the shape", "999999999999"):
        read(header("(999999999999, 999999999999)") + bytes(100))
    with says("cut short"):
        read(header("(99999999, 9999, 9999)") + bytes(100))
    with says("cut short"):
        read(header("(9999, 9999)") + bytes(100))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_damage_is_named(says) -> None:
    whole = npy(np.ones((3, 3)))
    for end in (3, 9, 40):
        with says("a.npy: the", ".npy header"):
            read(whole[:end])
    with says("cut short", "(3, 3)"):
        read(whole[:-1])
    with says("bytes where an array should begin"):
        read(whole + b"rubbish!")
    with says("version"):
        read(b"\x93NUMPY\x07\x00" + whole[8:])


@pytest.mark.parametrize(
    "text",
    [
        "((2, 2)",
        "(2.5, 2)",
        "(True and 1, )",
        "((((((((((2",
        "(-2, -2)",
        "'x'",
        "(2, 2), 3: 4",
        "(2, 2), 'a': __import__('os')",
    ],
)
def test_headers_that_are_no_headers(text: str, says) -> None:
    with says("a.npy: the .npy header"):
        read(header(text) + bytes(64))


def test_objects_and_other_types_are_refused(says) -> None:
    with says("runs code", "np.savez(", "allow_pickle=True"):
        read(npy(np.array([np.ones((2, 2)), {}], dtype=object)))
    for array in (np.ones((2, 2), complex), np.array([["a", "b"]]), np.zeros((2, 2), "f4,f4"), np.zeros((2, 2), "V2")):
        with says("not real numbers"):
            read(npy(array))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5, 0, 0), (5, 2, 0), (0, 2, 0)])
def test_what_is_not_a_batch(shape: tuple[int, ...], order: str, says) -> None:
    with says("a.npy: an array of shape", "not a padded batch", str(shape)):
        read(npy(np.ones(shape, order=order)))


def test_a_batch_of_no_sentences() -> None:
    assert read(npy(np.ones((0, 2, 3)))) == []


@pytest.mark.parametrize(("shape", "of_each"), [((5, 2, 9), (2, 9)), ((2, 3, 4, 5), (2, 3, 4, 5)), ((7,), (7,))])
def test_shapes_are_judged_where_the_sentence_is_known(shape: tuple[int, ...], of_each: tuple[int, ...]) -> None:
    assert {scores.shape for scores in read(npy(np.ones(shape)))} == {of_each}


@pytest.mark.parametrize("order", ["C", "F"])
def test_with_labels_a_batch_has_an_axis_more(order: str) -> None:
    batch = np.arange(48.0).reshape(2, 3, 4, 2)
    raws = list(read_npy(io.BytesIO(npy(np.asarray(batch, order=order))), "a.npy", ReadSpec(3)))
    assert all(raw.padded for raw in raws)
    np.testing.assert_array_equal([raw.scores for raw in raws], batch)
    (raw,) = read_npy(io.BytesIO(npy(np.asarray(batch[0], order=order))), "a.npy", ReadSpec(3))
    assert not raw.padded
    np.testing.assert_array_equal(raw.scores, batch[0])


def test_written_as_numpy_saves_them(tmp_path) -> None:
    stored = [np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T, np.ones((1, 2), np.float32)]
    assert CONTAINER.write
    with CONTAINER.write(str(tmp_path / "a.npy"), "me", True) as write:
        for number, matrix in enumerate(stored):
            write(str(number), matrix)
    assert (tmp_path / "a.npy").read_bytes() == npy(*stored)
