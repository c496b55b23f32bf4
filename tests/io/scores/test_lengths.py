"""The lengths of a padded batch."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files import streams
from deptree_cli.io.scores import arrays
from deptree_cli.io.scores.arrays import RawScores, read_lengths, with_lengths
from tests.arrays import npy

TEXTS = [b"2\n4\n", b" 2\r\n4", b"\xef\xbb\xbf2\r\n4\r\n", b"2\r4\r", b"2\n4\n\n \n"]


@pytest.mark.parametrize("data", [*TEXTS, npy(np.array([2, 4], np.uint8))])
def test_text_and_npy(data: bytes, scratch) -> None:
    assert read_lengths(scratch("lengths", data)).tolist() == [2, 4]


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"2\nfour\n", ["lengths:2", "'four' is not a number of words"]),
        (b"2\n\n4\n", ["lengths:2", "'' is not"]),
        (b"2\r\n3\r\n\r\n\r\n4\r\n", ["lengths:3", "'' is not"]),
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


RAWS = [RawScores(None, np.ones((5, 5)), f"a, matrix {number}", True, ("x",)) for number in (1, 2)]


def test_each_matrix_gets_its_length_and_stays_whole() -> None:
    bad = DeptreeError("bad")
    first, second, third = with_lengths([RAWS[0], bad, RAWS[1]], np.array([9, 3, 4]), "a")
    assert isinstance(first, RawScores)
    assert second is bad
    assert isinstance(third, RawScores)
    assert [(raw.length, raw.padded) for raw in (first, third)] == [(9, False), (4, False)]
    assert third.scores is RAWS[1].scores
    assert (third.key, third.place, third.forms) == (None, "a, matrix 2", ("x",))


@pytest.mark.parametrize("words", [[9, 3, 4], [9], []])
def test_a_length_for_every_matrix(words: list[int], says) -> None:
    with says(f"a: the number of lengths is {len(words)}, that of matrices is 2"):
        list(with_lengths(RAWS, np.array(words, dtype=np.int64), "a"))


def test_lengths_are_for_a_batch(says) -> None:
    keyed = {"x": RawScores("x", np.ones((2, 2)), "a[x]")}
    with says("a: --lengths needs a padded .npy", "every key has its own shape"):
        list(with_lengths(keyed, np.array([1]), "a"))
    known = with_lengths(RAWS, np.array([1, 2]), "a[scores]")
    with says("a: --lengths needs a padded .npy", "this file holds the lengths"):
        list(with_lengths(known, np.array([1, 2]), "a"))


def test_a_line_without_end(scratch, says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LONGEST_LINE", 8)
    data = gzip.compress(b"1\n" + b"9" * 10_000)
    with says("a.gz:2: the line has more than 8 bytes"):
        read_lengths(scratch("a.gz", data))


def test_lengths_without_end(scratch, says, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MOST_LISTED", 3)
    assert read_lengths(scratch("a", b"1\n" * 3)).tolist() == [1, 1, 1]
    with says("a: there are more than 3 numbers"):
        read_lengths(scratch("a", b"1\n" * 4))
