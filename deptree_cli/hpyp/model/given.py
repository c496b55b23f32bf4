"""Sentences as Python users give them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from warnings import warn

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.kernels.text.columns import NO_HEAD

# One with all that is known of it; a pair of its words and their tags; or its words.
Sentence = Annotated | tuple[Sequence[str], Sequence[str]] | Sequence[str]


def as_annotated(sentence: Sentence, tagset: Container[str] | None) -> Annotated:
    """The sentence to be parsed; one that is given as words is called 1.

    Args:
        tagset: the tags that the parser knows; None if tags are predicted. Some may be missing or of another kind: a
            warning names these.

    Raises:
        DeptreeError: it has another form, or none of its tags is known.
    """
    if isinstance(sentence, str):
        raise DeptreeError("the sentence is a string", "Give a list of words, or a pair of words and tags")
    if not isinstance(sentence, Annotated):
        forms, tags = _words_and_tags(sentence)
        unknown = (UNKNOWN,) * len(forms)
        sentence = Annotated("1", "", forms, tags or unknown, np.full(len(forms), NO_HEAD, dtype=np.int32), unknown)
    if tagset is not None:
        _check_tags(sentence, tagset)
    return sentence


def _check_tags(sentence: Annotated, tagset: Container[str]) -> None:
    unseen = sorted({tag for tag in sentence.tags if tag not in tagset} - {UNKNOWN})
    names = ", ".join(unseen)
    if not any(tag in tagset for tag in sentence.tags):
        problem = f"the parser knows none of the tags {names}" if unseen else "no word has a tag"
        remedy = "Use the tag set that it was trained on, or predict the tags"
        raise DeptreeError(problem, remedy, place=sentence.place, sent_id=sentence.sent_id)
    if unseen:
        warn(f"sentence {sentence.sent_id}: tags that the parser does not know are predicted: {names}", stacklevel=5)


def _words_and_tags(given: Sequence[str] | tuple[Sequence[str], Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The words, and their tags or nothing."""
    if all(isinstance(word, str) for word in given):
        return tuple(map(str, given)), ()
    try:
        forms, tags = map(tuple, given)
    except ValueError:
        raise DeptreeError("the sentence is neither a list of words nor a pair", "Give (words, tags)") from None
    return forms, tags
