"""JSON Lines: compact and plain going out; coming in, each line with its place or with what is wrong with it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core.errors import DeptreeError
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
    assert [json.loads(line) for line in lines] == rows
    compact = {"ensure_ascii": False, "separators": (",", ":")}
    assert lines == [f"{json.dumps(row, **compact)}\n".encode() for row in rows]  # Python's digits, exponents too


def test_lines_are_compact_and_in_utf8() -> None:
    assert dump({"a": [1, 0.5], "š": None}) == '{"a":[1,0.5],"š":null}\n'.encode()
    assert dump({"a": 1 << 70}) == b'{"a":1180591620717411303424}\n'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_never_written(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump({"a": [number]})


def test_places_count_every_line() -> None:
    lines = [b"\n", b'{"a": 1}\r\n', b" \t\n", b"oops\n", b"[1]\n", b'{"b": 2}']
    found = list(objects(lines, "x"))
    assert [place for place, _ in found] == ["x:2", "x:4", "x:5", "x:6"]
    assert (found[0][1], found[3][1]) == ({"a": 1}, {"b": 2})
    errors = [value for _, value in found if isinstance(value, DeptreeError)]
    assert str(errors[0]).startswith("x:4: not JSON (")
    assert str(errors[1]) == "x:5: expected a JSON object, found a list. Give one JSON object a line."


@pytest.mark.parametrize(
    ("line", "kind"),
    [(b'"a"', "string"), (b"1", "number"), (b"0.5", "number"), (b"true", "true or false"), (b"null", "null")],
)
def test_other_values_are_called_by_their_kind(line: bytes, kind: str) -> None:
    ((_, error),) = objects([line], "x")
    assert f"expected a JSON object, found a {kind}" in str(error)


def test_the_name_of_a_sentence(says) -> None:
    assert sent_id_of({"sent_id": "a"}, "x:1") == "a"
    assert sent_id_of({"sent_id": 7}, "x:1") == "7"
    assert sent_id_of({"sent_id": None}, "x:1") is None
    assert sent_id_of({}, "x:1") is None
    for value, kind in ((True, "true or false"), ([], "list"), ({}, "object"), (0.5, "number")):
        with says("x:1: ", f"the field sent_id is a {kind}", "Give a string"):
            sent_id_of({"sent_id": value}, "x:1")
    with says("x:1: ", "which is not text"):
        sent_id_of({"sent_id": "\ud800"}, "x:1")
