"""What a reader of surprisals must know of single words: which were not scored as what they are, and why."""

from __future__ import annotations

from typing import NamedTuple

from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.hpyp.model.symbols import Symbols

# Why a word was scored as its class: it was seen once in training, or never; and that class was not seen either. Why
# its tag was summed out, although tags were given: there is none, or the parser never saw it.
RARE_FORM, UNSEEN_CLASS, MISSING_TAG, UNSEEN_TAG = "rare_form", "unseen_class", "missing_tag", "unseen_tag"


class WordNote(NamedTuple):
    """What there is to note of a word: the class that it was scored as, None for itself; and the reasons."""

    word_class: str | None
    reasons: tuple[str, ...]


def word_notes(symbols: Symbols, sentence: Annotated, predicts_tags: bool) -> list[WordNote]:
    """The notes of a sentence's n words."""
    found = []
    for index, (form, tag) in enumerate(zip(sentence.forms, sentence.tags, strict=True)):
        word_class = symbols.lexicon.class_of(form, index == 0) if symbols.is_lexicalised else None
        reasons = {
            RARE_FORM: word_class is not None,
            UNSEEN_CLASS: word_class is not None and word_class not in symbols.lexicon.vocabulary,
            MISSING_TAG: not predicts_tags and tag == UNKNOWN,
            UNSEEN_TAG: not predicts_tags and tag != UNKNOWN and tag not in symbols.tags,
        }
        found.append(WordNote(word_class, tuple(name for name, holds in reasons.items() if holds)))
    return found
