"""JSON Lines: scores in, one bad line at a time; results out."""

from __future__ import annotations

import io

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.jsonl import dump, read_jsonl
from deptree_cli.io.layout import Layout
from deptree_cli.io.raw import RawScores


def read(data: str, layout: Layout | None = None) -> list[RawScores | DeptreeError]:
    return list(read_jsonl(io.BytesIO(data.encode()), "a.jsonl", layout or Layout()))


def test_scores_with_and_without_a_name() -> None:
    named, bare = read(
        '\ufeff{"sent_id": "s1", "scores": [[1, 2]], "forms": ["a"]}\r\n\n{"scores": [[1.5, 2], [3, true]]}'
    )
    assert isinstance(named, RawScores)
    assert isinstance(bare, RawScores)
    assert (named.key, named.place) == ("s1", "a.jsonl:1")
    assert (bare.key, bare.place) == (None, "a.jsonl:3")
    np.testing.assert_array_equal(bare.scores, [[1.5, 2], [3, 1]])


@pytest.mark.parametrize(("scale", "forbidden"), [("weight", 0.0), ("log", -np.inf)])
def test_null_forbids_and_nan_stays_nan(scale: str, forbidden: float) -> None:
    (raw,) = read('{"scores": [[null, NaN, -Infinity]]}', Layout(scale=scale))
    assert isinstance(raw, RawScores)
    np.testing.assert_array_equal(raw.scores, [[forbidden, np.nan, -np.inf]])


def test_a_number_may_be_the_name() -> None:
    (raw,) = read('{"sent_id": 7, "scores": [[1, 2]]}')
    assert isinstance(raw, RawScores)
    assert raw.key == "7"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"scores": [[1, 2]]', "a.jsonl:2: not JSON"),
        ('{"scores": [[1, ' + "9" * 5000 + "]]}", "a.jsonl:2: not JSON"),
        ("[" * 100000, "a.jsonl:2: not JSON"),
        ("[[1, 2]]", "a.jsonl:2: a JSON list where an object should be"),
        ("3", "a.jsonl:2: a JSON number where"),
        ('{"sent_id": "x"}', "a.jsonl:2 (x): the field scores is not a list of lists"),
        ('{"sent_id": "x", "scores": [1, 2]}', "a.jsonl:2 (x): the field scores is not a list of lists"),
        ('{"scores": [[1, 2], [3]]}', "a.jsonl:2: the rows of the field scores differ in length"),
        ('{"scores": [["1", 2]]}', "something that is not a number"),
        ('{"scores": [[[1], [2]]]}', "something that is not a number"),
        ('{"scores": [[1, {}]]}', "something that is not a number"),
        ('{"sent_id": ["x"], "scores": [[1, 2]]}', "a.jsonl:2: the field sent_id is a list"),
    ],
)
def test_a_bad_line_is_named_and_the_next_is_read(line: str, message: str) -> None:
    first, bad, last = read('{"scores": [[1, 2]]}\n' + line + '\n{"scores": [[1, 2]]}\n')
    assert isinstance(bad, DeptreeError)
    assert message in str(bad)
    assert isinstance(first, RawScores)
    assert isinstance(last, RawScores)


def test_bytes_that_are_not_utf_8() -> None:
    (bad,) = read_jsonl(io.BytesIO(b'{"sent_id": "\xff\xfe"}\n'), "a.jsonl", Layout())
    assert "a.jsonl:1: not JSON" in str(bad)


def test_dump_is_compact_and_finite() -> None:
    assert (
        dump({"sent_id": "č", "heads": [0, 1], "log_prob": None})
        == '{"sent_id":"č","heads":[0,1],"log_prob":null}\n'.encode()
    )
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            dump({"x": bad})
