"""JSON Lines: scores in, one bad line at a time; results out."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import Input
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.arrays import Raw, RawScores, ReadSpec
from deptree_cli.io.scores.containers import CONTAINERS
from deptree_cli.io.scores.containers.jsonl import Lines
from deptree_cli.io.scores.meta import NOTHING, Meta

CONTAINER = CONTAINERS.get("jsonl")

Read = Callable[..., list[Raw]]


@pytest.fixture
def read(read_all) -> Read:
    return lambda data, matrices=None: read_all(CONTAINER, data.encode(), "a.jsonl", matrices)


def test_scores_with_and_without_a_name(read: Read) -> None:
    named, bare = read(
        '\ufeff{"sent_id": "s1", "scores": [[1, 2]], "forms": ["a"]}\r\n\n{"scores": [[1.5, 2], [3, true]]}'
    )
    assert isinstance(named, RawScores)
    assert isinstance(bare, RawScores)
    assert (named.key, named.place, named.forms) == ("s1", "a.jsonl:1", ("a",))
    assert (bare.key, bare.place) == (None, "a.jsonl:3")
    np.testing.assert_array_equal(bare.scores, [[1.5, 2], [3, 1]])


@pytest.mark.parametrize("forbidden", [0.0, -np.inf])
def test_null_forbids_and_nan_stays_nan(forbidden: float, read: Read) -> None:
    (raw,) = read('{"scores": [[null, NaN, -Infinity]]}', ReadSpec(forbidden=forbidden))
    assert isinstance(raw, RawScores)
    np.testing.assert_array_equal(raw.scores, [[forbidden, np.nan, -np.inf]])


def test_an_axis_more(read: Read) -> None:
    sound, flat, ragged = read(
        '{"scores": [[[1, 2], [3, null]]]}\n{"scores": [[1, 2]]}\n{"scores": [[[1, 2], [3]]]}', ReadSpec(3, 0.0)
    )
    assert isinstance(sound, RawScores)
    np.testing.assert_array_equal(sound.scores, [[[1, 2], [3, 0]]])
    assert "a.jsonl:2: the field scores is not a list of lists of lists" in str(flat)
    assert "a.jsonl:3: the lists of labels of the field scores differ in length" in str(ragged)


def test_a_number_may_be_the_name(read: Read) -> None:
    (raw,) = read('{"sent_id": 7, "scores": [[1, 2]]}')
    assert isinstance(raw, RawScores)
    assert raw.key == "7"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"scores": [[1, 2]]', "a.jsonl:2: not JSON"),
        ('{"scores": [[1, ' + "9" * 5000 + "]]}", "a.jsonl:2: not JSON"),
        ("[" * 100000, "a.jsonl:2: not JSON"),
        ("[[1, 2]]", "a.jsonl:2: expected a JSON object, found a list"),
        ("3", "a.jsonl:2: expected a JSON object, found a number"),
        ('{"sent_id": "x"}', "a.jsonl:2 (x): the field scores is not a list of lists"),
        ('{"sent_id": "x", "scores": [1, 2]}', "a.jsonl:2 (x): the field scores is not a list of lists"),
        ('{"scores": [[1, 2], [3]]}', "a.jsonl:2: the rows of the field scores differ in length"),
        ('{"scores": [["1", 2]]}', "something that is not a number"),
        ('{"scores": [[[1], [2]]]}', "something that is not a number"),
        ('{"scores": [[1, {}]]}', "something that is not a number"),
        ('{"sent_id": ["x"], "scores": [[1, 2]]}', "a.jsonl:2: the field sent_id is a list"),
    ],
)
def test_a_bad_line_is_named_and_the_next_is_read(line: str, message: str, read: Read) -> None:
    first, bad, last = read('{"scores": [[1, 2]]}\n' + line + '\n{"scores": [[1, 2]]}\n')
    assert isinstance(bad, DeptreeError)
    assert message in str(bad)
    assert isinstance(first, RawScores)
    assert isinstance(last, RawScores)


def test_the_first_line_may_be_the_bad_one(read: Read) -> None:
    bad, good = read('{"scores": \n{"scores": [[1, 2]]}\n')
    assert "a.jsonl:1: not JSON" in str(bad)
    assert isinstance(good, RawScores)


def test_bytes_that_are_not_utf_8(read_all) -> None:
    (bad,) = read_all(CONTAINER, b'{"sent_id": "\xff\xfe"}\n', "a.jsonl")
    assert "a.jsonl:1: not JSON" in str(bad)


@pytest.mark.parametrize(
    ("line", "signature", "skipped"),
    [
        ('{"signature": "deptree|dump|v:1"}', "deptree|dump|v:1", True),
        ('\n\n{"signature": "me"}', "me", True),
        ('\ufeff{"signature": "me"}', "me", True),
        ('{"signature": 7}', "", True),
        ('{"signature": "me", "sent_id": "x"}', "", False),
        ('["signature"]', "", False),
        ("", "", True),
    ],
)
def test_the_signature_is_the_first_line(line: str, signature: str, skipped: bool, as_input, read: Read) -> None:
    data = line + '\n{"scores": [[1, 2]]}\n'
    assert Lines(as_input(data.encode(), "a.jsonl")).meta.signature == signature
    *errors, last = read(data)
    assert bool(errors) is not skipped
    assert isinstance(last, RawScores)


def test_a_signature_on_a_later_line_is_skipped(as_input) -> None:
    """As of files that were joined with cat."""
    lines = Lines(as_input(b'{"scores": [[1, 2]]}\n{"signature": "me"}\n{"scores": [[1, 2]]}\n', "a.jsonl"))
    assert lines.meta == NOTHING
    assert [raw.place for raw in lines.read(ReadSpec()) if isinstance(raw, RawScores)] == ["a.jsonl:1", "a.jsonl:3"]


def test_a_file_of_nothing_but_a_signature(read: Read) -> None:
    assert read('{"signature": "me"}\n') == read("\n \n") == []


def test_a_sentence_is_handed_on_before_the_next_is_there() -> None:
    """Somebody may write the lines while we read them."""
    out_of, into = os.pipe()
    seen, in_time = threading.Event(), []

    def feed() -> None:
        with os.fdopen(into, "wb", buffering=0) as pipe:
            pipe.write(b'{"signature": "me"}\n{"scores": [[1, 2]]}\n')
            in_time.append(seen.wait(20))
            pipe.write(b'{"scores": [[3, 4]]}\n')

    feeder = threading.Thread(target=feed)
    feeder.start()
    with os.fdopen(out_of, "rb") as pipe:
        lines = Lines(Input(pipe, b"", "pipe"))
        assert lines.meta == Meta("me")
        raws = lines.read(ReadSpec())
        next(raws)
        seen.set()
        assert len(list(raws)) == 1
    feeder.join()
    assert in_time == [True]


def test_the_header_waits_for_the_first_sentence(scratch) -> None:
    assert CONTAINER.write
    written = Path(scratch("a.jsonl", b"x"))
    with CONTAINER.write("a.jsonl", Meta("me"), True):
        pass
    assert written.read_text() == ""
    with CONTAINER.write("a.jsonl", Meta("me"), True) as write:
        write("x", np.array([[1, -np.inf]]), ("word",))
    assert written.read_text() == '{"signature":"me"}\n{"sent_id":"x","scores":[[1.0,null]],"forms":["word"]}\n'
    with CONTAINER.write("a.jsonl", Meta("me"), False) as write:
        write("x", np.ones((1, 2), np.float32))
    assert written.read_text() == '{"sent_id":"x","scores":[[1.0,1.0]]}\n'


def test_dump_is_compact_and_finite() -> None:
    assert (
        dump({"sent_id": "č", "heads": [0, 1], "log_prob": None})
        == '{"sent_id":"č","heads":[0,1],"log_prob":null}\n'.encode()
    )
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            dump({"x": bad})
