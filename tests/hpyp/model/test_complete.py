"""Sentences of which every word has a tag and a label."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.sentences import Complete
from tests.hpyp.model.toy_parsers import sentence_of

WHOLE = sentence_of([2, 3], [2, 2], ((0, 1), (1, 1)))
UNTAGGED, UNLABELLED = replace(WHOLE, tags=("t2", "_")), replace(WHOLE, deprels=("_", "l0"))


def test_what_is_left_out() -> None:
    found = Complete("upos")
    assert list(found.of([WHOLE, UNTAGGED, WHOLE, UNLABELLED])) == [WHOLE, WHOLE]
    expected = "in 1 of 4 sentences a word has no tag in UPOS and in 1 of 4 sentences a word has no DEPREL"
    assert found.line == f"left out of training: {expected}"
    assert (found.sentences, found.untagged, found.unlabelled) == (4, 1, 1)


def test_nothing_is_left_out() -> None:
    found = Complete("upos")
    assert list(found.of([WHOLE])) == [WHOLE]
    assert found.line == ""
    assert list(Complete("upos").of([])) == []


@pytest.mark.parametrize(
    ("missing", "column", "says"),
    [
        (
            UNTAGGED,
            "upos",
            'Tag the words, or take tags from XPOS with `column="xpos"`.',
        ),
        (UNTAGGED, "xpos", 'take tags from UPOS with `column="upos"`.'),
        (UNLABELLED, "upos", "no DEPREL, too many to leave out. Fill in DEPREL"),
    ],
)
def test_most_of_them_are_missing(missing, column: str, says: str) -> None:
    with pytest.raises(DeptreeError) as caught:
        list(Complete(column).of([WHOLE, missing, missing]))
    assert "in 2 of 3 sentences a word has" in str(caught.value)
    assert says in str(caught.value)
