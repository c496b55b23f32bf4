"""Tokens as a reader sees them."""

from __future__ import annotations

import io

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks
from deptree_cli.io.conllu.surface import surface_tokens


def block(*ids: str) -> Block:
    """A sentence of lines with these ids, each with the form f and its id."""
    rows = "".join(f"{each}\tf{each}" + "\t_" * 8 + "\n" for each in ids)
    (found,) = read_blocks(io.BytesIO(f"# text = x\n{rows}\n".encode()), "file")
    return found


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("1", "2"), [("1", 1, 1), ("2", 2, 2)]),
        (("1-2", "1", "2", "3"), [("1-2", 1, 2), ("3", 3, 3)]),
        (("1", "2-4", "2", "3", "4"), [("1", 1, 1), ("2-4", 2, 4)]),
        (("0.1", "1", "1.1", "2-3", "2", "2.1", "3", "3.1"), [("1", 1, 1), ("2-3", 2, 3)]),
        (("1-2", "1", "2", "3-4", "3", "4"), [("1-2", 1, 2), ("3-4", 3, 4)]),
        (("1-1", "1"), [("1-1", 1, 1)]),
        (("1-3", "1", "2-3", "2", "3"), [("1-3", 1, 3)]),
        (("1-9", "1", "2"), [("1", 1, 1), ("2", 2, 2)]),
        (("2-3", "1", "2", "3"), [("1", 1, 1), ("2", 2, 2), ("3", 3, 3)]),
    ],
)
def test_every_word_is_in_one_token(ids: tuple[str, ...], expected: list[tuple[str, int, int]]) -> None:
    found = surface_tokens(block(*ids))
    assert [(token.id, token.first, token.last) for token in found] == expected
    assert [token.form for token in found] == [f"f{name}" for name, *_ in expected]


def test_forms_that_are_not_utf_8() -> None:
    (found,) = read_blocks(
        io.BytesIO(b"1-2\t\xff" + b"\t_" * 8 + b"\n1\ta" + b"\t_" * 8 + b"\n2\tb" + b"\t_" * 8 + b"\n\n"), "f"
    )
    with pytest.raises(DeptreeError, match="f:1: a form is not UTF-8"):
        surface_tokens(found)
