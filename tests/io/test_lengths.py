"""The lengths of a padded batch."""

from __future__ import annotations

import io

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.layout import Layout
from deptree_cli.io.lengths import read_lengths, with_lengths
from deptree_cli.io.raw import RawScores


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("data", [b"2\n4\n", b" 2\r\n4", npy(np.array([2, 4], np.uint8))])
def test_text_and_npy(data: bytes, scratch) -> None:
    assert read_lengths(scratch("lengths", data)).tolist() == [2, 4]


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"2\nfour\n", ["lengths:2", "'four' is not a number of words"]),
        (b"2\n\n4\n", ["lengths:2", "'' is not"]),
        (b"2\n-4\n", ["lengths:2", "'-4'"]),
        (b"2\n" + b"9" * 5000, ["lengths:2"]),
        (b"\xff\xfe", ["lengths:1"]),
        (npy(np.array([2.0])), ["row of integers", "float64"]),
        (npy(np.array([[2]])), ["row of integers", "(1, 1)"]),
    ],
)
def test_what_is_not_a_length(data: bytes, parts: list[str], scratch, says) -> None:
    with says(*parts):
        read_lengths(scratch("lengths", data))


def test_cutting_goes_on_behind_a_bad_sentence(says) -> None:
    bad = DeptreeError("bad")
    raws = [RawScores(None, np.ones((5, 5)), f"a, matrix {number}", True) for number in (1, 2)]
    lengths = np.array([9, 3, 4])
    first, second, third = with_lengths([raws[0], bad, raws[1]], lengths, Layout(), "a")
    assert "a, matrix 1: the length is 9" in str(first)
    assert second is bad
    assert isinstance(third, RawScores)
    assert third.scores.shape == (5, 5)
    assert not third.padded
    with says("a: the number of matrices is 2, that of lengths 3"):
        list(with_lengths(raws, lengths, Layout(), "a"))
    with says("a: the number of matrices is 2, that of lengths 1"):
        list(with_lengths(raws, lengths[:1], Layout(), "a"))
