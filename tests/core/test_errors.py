"""The line that a user reads."""

from __future__ import annotations

import pytest

from deptree_cli.core.errors import DeptreeError


@pytest.mark.parametrize(
    ("place", "sent_id", "line"),
    [
        ("", "", "it broke. Mend it."),
        ("a.npz", "", "a.npz: it broke. Mend it."),
        ("", "s1", "s1: it broke. Mend it."),
        ("a.npz[x]", "s1", "a.npz[x] (s1): it broke. Mend it."),
    ],
)
def test_where_what_and_what_to_do(place: str, sent_id: str, line: str) -> None:
    assert str(DeptreeError("it broke", "Mend it", place=place, sent_id=sent_id)) == line


def test_full_stops_are_not_doubled() -> None:
    assert str(DeptreeError("did it break?", "Mend it.")) == "did it break? Mend it."
    assert str(DeptreeError("it broke")) == "it broke."


def test_who_knows_first_says_where() -> None:
    error = DeptreeError("it broke", place="a:3").at(place="a", sent_id="s")
    assert (error.place, error.sent_id) == ("a:3", "s")
