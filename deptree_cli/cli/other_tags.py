"""Files whose column UPOS has something else than parts of speech: one line for each, not one for every word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.sentence import Sentence, Warn
from deptree_cli.io.trees.written import Written

Read = TypeVar("Read", Sentence | DeptreeError, Written)

# So many tags of a file tell which they are; wrong ones are slips if they are fewer than these, or not the most.
ENOUGH, FEWEST = 1000, 20

# So many tags are named.
NAMED = 5

_MISSING = "_"


class OtherTags:
    """Looks at the first tags of files as these are read.

    Args:
        upos: the parts of speech; empty: any.
        warn: tells a line, once for each key.
        fate: what becomes of others.
    """

    def __init__(self, upos: Sequence[str], warn: Warn, fate: str = "counted, but neither listed nor used") -> None:
        self._upos, self._warn, self._fate = frozenset(upos), warn, fate

    def watched(self, sentences: Iterator[Read], place: str) -> Iterator[Read]:
        """The sentences of a file, noted if most of its tags are no parts of speech."""
        held: list[Read] = []
        tags = Counter[str]()
        while self._upos and tags.total() < ENOUGH and (sentence := next(sentences, None)) is not None:
            held.append(sentence)
            tags.update(_tags_of(sentence))
        others = Counter({tag: count for tag, count in tags.items() if tag not in self._upos})
        if others.total() < FEWEST or 2 * others.total() <= tags.total():
            yield from chain(held, sentences)
            return
        self._warn(f"UPOS of {place}", f"{place}: UPOS has other tags than UD ({named(others)}): they are {self._fate}")
        for sentence in chain(held, sentences):
            yield sentence if isinstance(sentence, DeptreeError) else replace(sentence, has_other_tags=True)


def _tags_of(sentence: Sentence | Written | DeptreeError) -> list[str]:
    """The tags of words that have one."""
    with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
        if not isinstance(sentence, DeptreeError) and (block := sentence.block):
            return [tag for tag in block.column("upos") if tag != _MISSING]
    return []


def named(counts: Mapping[str, int]) -> str:
    """The most frequent of some symbols, with how often each is there."""
    most = Counter(counts).most_common(NAMED)
    return ", ".join(f"{symbol} {count}" for symbol, count in most) + (", ..." if len(counts) > NAMED else "")
