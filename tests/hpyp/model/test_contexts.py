"""Tables of contexts: their codes, and what is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.kernels.columns import LEFT, NEXT_TAG, RECORD, RIGHT, TAG, WORD
from deptree_cli.hpyp.model.sentences import ELEMENTS, LEXICALISED, MOST_ELEMENTS, UNLEXICALISED, Contexts


def test_the_standard_contexts() -> None:
    tags = ("s1.t", "s2.t", "rc(s1).t", "lc(s1).t", "s3.t", "rc(s2).t")
    assert LEXICALISED.action == LEXICALISED.tag == (*tags, "s1.w", "s2.w")
    assert LEXICALISED.word == ("b.t", "rc(s1).t", "lc(s1).t", "s1.w", "s2.w")
    assert (UNLEXICALISED.action, UNLEXICALISED.tag, UNLEXICALISED.word) == (tags, tags, ())


def test_codes() -> None:
    """A record has 8 columns; s1 is at depth 0."""
    assert (RECORD, NEXT_TAG) == (8, -1)
    codes = LEXICALISED.codes("action")
    assert codes.dtype == "int64"
    assert codes.tolist() == [TAG, 8 + TAG, RIGHT, LEFT, 16 + TAG, 8 + RIGHT, WORD, 8 + WORD]
    assert codes.tolist() == [2, 10, 5, 4, 18, 13, 3, 11]
    assert LEXICALISED.codes("word").tolist() == [-1, 5, 4, 3, 11]
    assert UNLEXICALISED.codes("word").tolist() == []
    assert Contexts((), ("s4.t",), ("s4.w", "lc(s4).t")).codes("word").tolist() == [27, 28]


def test_every_element_has_its_code() -> None:
    assert len(ELEMENTS) == 17 == len(set(ELEMENTS.values()))
    assert sorted(ELEMENTS.values()) == [-1, *(8 * depth + column for depth in range(4) for column in (2, 3, 4, 5))]


ALL_TAGS = tuple(name for name in ELEMENTS if name != "b.t")


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"action": ("s1.t", "s5.t")}, ("action: there is no element 's5.t'", "Did you mean s")),
        ({"action": ("lc(s1)",)}, ("action: ", "Did you mean lc(s1).t?")),
        ({"tag": ("x",)}, ("tag: there is no element 'x'", "Choose from s1.t, s1.w")),
        ({"tag": ("b.t",)}, ("tag: b.t is known only when the word is predicted", "word only")),
        ({"word": ("b.t", "s1.w", "b.t")}, ("word: b.t is listed twice",)),
        ({"word": ALL_TAGS}, (f"word: a context of {MOST_ELEMENTS + 1} elements is too long", "Use at most 15")),
        ({"word": ()}, ("words are conditioned on (s1.w)",)),
    ],
)
def test_errors_say_what(given: dict[str, tuple[str, ...]], parts: tuple[str, ...]) -> None:
    with pytest.raises(DeptreeError) as caught:
        replace(LEXICALISED, **given)
    assert all(part in str(caught.value) for part in parts)
