"""Damage that fuzzing found a way through with, each as small as it gets (tests/commands/fuzz)."""

from __future__ import annotations

import io
import warnings
import zipfile

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.arrays import ReadSpec
from deptree_cli.io.scores.containers import CONTAINERS
from deptree_cli.io.scores.containers.npy import read_npy
from tests.arrays import header, npy, npz

CONTAINER = CONTAINERS.get("npz")


def shapes(data: bytes, matrices: ReadSpec | None = None) -> list[tuple[int, ...]]:
    return [raw.scores.shape for raw in read_npy(io.BytesIO(data), "a.npy", matrices or ReadSpec())]


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
        shapes(header("(1000000000000, 2, 2, 0)"), ReadSpec(3))


def test_what_no_sentence_has_is_refused_before_it_is_read(says) -> None:
    """However few compressed bytes stand for it."""
    stream = io.BytesIO(header("(36000, 36000)") + bytes(64))
    with says("a.npy: the array has shape (36000, 36000)", "no sentence has"):
        list(read_npy(stream, "a.npy", ReadSpec()))
    assert len(stream.read()) == 64


def test_the_same_in_an_archive(read_all) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x.npy", header("(36000, 36000)") + bytes(64))
    (error,) = read_all(CONTAINER, packed.getvalue(), "a.npz")
    assert "a.npz[x] (x): the array has shape (36000, 36000), which no sentence has" in str(error)


def test_the_same_in_a_batch(read_all, says) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("lengths.npy", npy(np.array([1, 1])))
        archive.writestr("scores.npy", header("(2, 36000, 36000)") + bytes(64))
    with says("a.npz[scores]: the array has shape (2, 36000, 36000), which no sentence has"):
        read_all(CONTAINER, packed.getvalue(), "a.npz")


def test_every_byte_of_an_archive_in_turn(read_all) -> None:
    """zlib, zipfile and NumPy have errors of their own, none of which may come through."""
    packed, problems = npz(x=np.random.default_rng(7).normal(size=(3, 4))), set()
    for place in range(len(packed)):
        data = bytearray(packed)
        data[place] ^= 0xFF
        try:
            found = read_all(CONTAINER, bytes(data), "a.npz")
        except DeptreeError as error:
            found = [error]
        problems |= {raw.problem for raw in found if isinstance(raw, DeptreeError)}
    assert len(problems) > 9
