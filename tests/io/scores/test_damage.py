"""Damage that fuzzing found a way through with, each as small as it gets (tests/commands/fuzz)."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from deptree_cli.commands import expect
from deptree_cli.commands.estimate import read_draws
from deptree_cli.commands.expect import features_of, vector
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores import arrays
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import read_trees
from tests.arrays import header, npz


@pytest.mark.parametrize("head", [10**4000, {"a": "x" * 10_000}], ids=["large", "wide"])
def test_what_is_no_head_is_not_shown_whole(head, scratch) -> None:
    path = scratch("s", json.dumps({"sent_id": "s", "heads": [head]}).encode())
    (error,) = read_trees(path)
    assert "the head of word 1 is " in str(error)
    assert len(str(error)) < 200


@pytest.mark.parametrize("count", [10**13, 10**400])
def test_counts_that_do_not_add_up(count, scratch, says) -> None:
    (error,) = read_trees(scratch("s", json.dumps({"sent_id": "s", "heads": [0], "count": count}).encode()))
    with says("s:1 (s): the count is 1000", "1000000000000"):
        raise error


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"log_prob": -1.0, "tau": 1e-320}, "tau is not a time"),
        ({"log_prob": -1.0, "tau": 1e-200}, "tau is not a time"),
        ({"log_prob": -1e300, "exhausted": True}, "their probability is 0 in all"),
    ],
)
def test_draws_whose_weights_are_no_numbers(said, problem, scratch) -> None:
    (error,) = read_draws(scratch("s", json.dumps({"sent_id": "s", "heads": [0], **said}).encode()))
    assert isinstance(error, DeptreeError)
    assert str(error).startswith("s:1 (s): ")
    assert problem in str(error)
    assert "deptree swor" in str(error)


SCORES = np.zeros((2, 3))
RECORD = Sentence("x", 1, 2, "scores.npz[x]", None, SCORES, "x")


@pytest.fixture
def features_in(scratch):
    """Features from these bytes; every file is opened anew."""
    expect._archive.cache_clear()
    yield lambda data: features_of(scratch("f.npz", data), RECORD, Layout())
    expect._archive.cache_clear()


def test_damaged_features(features_in) -> None:
    """Every byte in turn: zlib, zipfile and NumPy have errors of their own, none of which may come through."""
    sound = npz(x=np.random.default_rng(7).normal(size=(2, 3, 4)))
    errors = set()
    for place in range(len(sound)):
        data = bytearray(sound)
        data[place] ^= 0xFF
        expect._archive.cache_clear()
        try:
            features_in(bytes(data))
        except DeptreeError as error:
            errors.add(error.problem)
    assert len(errors) > 9


def test_features_that_are_too_large_to_be_squared(features_in, says) -> None:
    with says("a feature is not a finite number up to 1e+100"):
        features_in(npz(x=np.full((2, 3, 1), 1e200)))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty"),
        (header("(3,)"), "cut short"),
        (header("(3,)")[:20], "header is damaged"),
        (b"1\nx\n", "t:2: 'x' is not a number"),
        (b"1\n\xff\n", "is not a number"),
        (b"1e200\n", "a list of finite numbers"),
        (header("(1, 1)") + bytes(4), "a list of finite numbers"),
    ],
    ids=["empty", "short", "header", "word", "bytes", "large", "square"],
)
def test_damaged_targets(data, problem, scratch, says) -> None:
    with says("t", problem):
        vector(scratch("t", data))


def test_targets_without_end(scratch, says, monkeypatch) -> None:
    monkeypatch.setattr(arrays, "MOST_LISTED", 3)
    assert vector(scratch("t", b"1\n2\n3\n")).tolist() == [1, 2, 3]
    with says("t: there are more than 3 numbers"):
        vector(scratch("t", gzip.compress(b"1\n" * 5000)))


def test_targets(scratch) -> None:
    assert vector(scratch("t", b"1\n-2e1 3\n\n")).tolist() == [1, -20, 3]
    assert vector(scratch("t", header("(2,)") + bytes(8))).tolist() == [0, 0]
