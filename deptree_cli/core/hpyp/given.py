"""Sentences as Python users give them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.hpyp.annotated import UNKNOWN, Annotated
from deptree_cli.kernels.text.columns import NO_HEAD

# One with all that is known of it; a pair of its words and their tags; or its words.
Sentence = Annotated | tuple[Sequence[str], Sequence[str]] | Sequence[str]


def as_annotated(sentence: Sentence, predicts_tags: bool) -> Annotated:
    """The sentence to be parsed; one that is given as words is called 1.

    Args:
        predicts_tags: whether it may do without tags.

    Raises:
        DeptreeError: it is nothing of what it may be, or lacks tags.
    """
    if isinstance(sentence, str):
        raise DeptreeError("a sentence is a string", "Give a list of words, or a pair of words and tags")
    if not isinstance(sentence, Annotated):
        forms, tags = _words_and_tags(sentence)
        unknown = (UNKNOWN,) * len(forms)
        sentence = Annotated("1", "", forms, tags or unknown, np.full(len(forms), NO_HEAD, dtype=np.int32), unknown)
    if not predicts_tags and set(sentence.tags) == {UNKNOWN}:
        problem, remedy = "no word has a tag", "Give tags, or have them predicted"
        raise DeptreeError(problem, remedy, place=sentence.place, sent_id=sentence.sent_id)
    return sentence


def _words_and_tags(given: Sequence[str] | tuple[Sequence[str], Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The words, and their tags or nothing."""
    if all(isinstance(word, str) for word in given):
        return tuple(map(str, given)), ()
    try:
        forms, tags = map(tuple, given)
    except ValueError:
        raise DeptreeError("a sentence is neither words nor a pair", "Give (words, tags)") from None
    return forms, tags
