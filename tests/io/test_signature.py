"""The signature: one line, whatever its values hold, from which they come back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.io.signature import escaped, parse, signature, unescaped
from deptree_cli.version import __version__


def test_fields_in_order() -> None:
    assert signature("sample", {"a": 1, "b": None, "c": "x"}) == f"deptree|sample|a:1|c:x|v:{__version__}"


def test_names_that_would_end_a_line_or_a_field() -> None:
    text = signature("decode", {"labels": "a|seed:7\nb\\n.json"})
    assert "\n" not in text
    assert text.count("|") == 3
    assert parse(text).fields["labels"] == "a|seed:7\nb\\n.json"


@given(st.text())
def test_every_value_comes_back(value: str) -> None:
    written = escaped(value)
    assert "|" not in written
    assert written.isprintable()
    assert unescaped(written) == value
    assert parse(signature("x", {"field": value})).fields == {"field": value, "v": __version__}


def test_text_of_others() -> None:
    assert parse("nobody knows") == ("nobody knows", "", {})
