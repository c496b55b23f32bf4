"""Rows: JSON Lines, compact and plain going out, each with its place coming in; and columns of numbers as TSV."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.encoders.base import cells, numbers_as_cells
from deptree_cli.io.json_lines import dump, objects, sent_id_of

# Larger ones are read as floats.
INTEGERS = st.integers(-(1 << 63), (1 << 64) - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=9,
)


@pytest.mark.slow("size")
@given(st.lists(st.dictionaries(st.text(), VALUES, max_size=3), max_size=4))
def test_what_is_written_is_read(rows: list[dict[str, object]]) -> None:
    lines = [dump(row) for row in rows]
    assert all(line.count(b"\n") == 1 for line in lines)
    assert list(objects(lines, "a")) == [(f"a:{number}", row) for number, row in enumerate(rows, 1)]
    compact = {"ensure_ascii": False, "separators": (",", ":")}
    assert lines == [f"{json.dumps(row, **compact)}\n".encode() for row in rows]  # Python's digits, exponents too


def test_lines_are_compact_and_in_utf8() -> None:
    assert dump({"a": [1, 0.5], "š": None}) == '{"a":[1,0.5],"š":null}\n'.encode()
    assert dump({"a": 1 << 70}) == b'{"a":1180591620717411303424}\n'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_never_written(number: float) -> None:
    for row in ({"a": number}, {"a": [number]}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            dump(row)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"a": 1}\r\n', {"a": 1}),
        (b'{"b": 2}', {"b": 2}),
        (b"oops\n", "x:3: not JSON ("),
        (b"[1]\n", "x:3: expected a JSON object, found a list. Give one JSON object a line."),
        (b'"a"', "x:3: expected a JSON object, found a string"),
        (b"1", "x:3: expected a JSON object, found a number"),
        (b"0.5", "x:3: expected a JSON object, found a number"),
        (b"true", "x:3: expected a JSON object, found a true or false"),
        (b"null", "x:3: expected a JSON object, found a null"),
    ],
)
@pytest.mark.quick
def test_places_count_every_line(line: bytes, found: object) -> None:
    ((place, value),) = objects([b"\n", b" \t\n", line], "x")
    assert place == "x:3"
    assert str(value).startswith(found) if isinstance(value, DeptreeError) else value == found


def test_the_name_of_a_sentence(says) -> None:
    for row, name in (({"sent_id": "a"}, "a"), ({"sent_id": 7}, "7"), ({"sent_id": None}, None), ({}, None)):
        assert sent_id_of(row, "x:1") == name
    for value, kind in ((True, "true or false"), ([], "list"), ({}, "object"), (0.5, "number")):
        with says("x:1: ", f"the field sent_id is a {kind}", "Give a string"):
            sent_id_of({"sent_id": value}, "x:1")
    with says("x:1: ", "which is not text"):
        sent_id_of({"sent_id": "\ud800"}, "x:1")


@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=9))
@example([1e-7, np.nan, 1e22, 1e-5, -0.0])
def test_a_column_of_numbers_is_its_cells(values: list[float]) -> None:
    known = [None if value != value else value for value in values]
    assert numbers_as_cells(np.array(values)) == cells("x", known)


def test_a_column_of_whole_numbers_and_no_infinite_ones() -> None:
    assert numbers_as_cells(np.array([3, -(2**60)])) == cells("x", [3, -(2**60)])
    with pytest.raises(ValueError, match="not JSON compliant"):
        numbers_as_cells(np.array([1.0, np.inf]))
