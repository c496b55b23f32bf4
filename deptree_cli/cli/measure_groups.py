"""Groups of sentences, or of arcs, whose means `deptree measure` tells apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from deptree_cli.cli.measured import GROUP, Measured
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.evaluation.classes import SENTENCE_LENGTHS, buckets
from deptree_cli.io.sentence import Sentence

# What is no comment's key.
FILE, LABEL, LENGTH = "file", "label", "length"

# Comments on a document, which stand on its first sentence alone.
_NEW_DOCUMENT, _NEW_PARAGRAPH, _META = "newdoc", "newpar", "meta::"

_BUCKETS = buckets(SENTENCE_LENGTHS)


@dataclass(frozen=True)
class By:
    """What sentences are grouped by.

    Attributes:
        key: `FILE`, `LABEL`, `LENGTH`, or the key of a comment, such as ``newdoc id``.
        pattern: what of the comment is the group: the first match, or its first group; None: all of it.
    """

    key: str
    pattern: re.Pattern[str] | None = None

    @classmethod
    def of(cls, text: str) -> By:
        """What an option says: ``KEY`` or ``KEY=PATTERN``."""
        key, equals, pattern = text.partition("=")
        if equals and key in (FILE, LABEL, LENGTH):
            raise click.BadParameter(f"{key} has no pattern: pass {key}, or the key of a comment.")
        try:
            return cls(key, re.compile(pattern) if equals else None)
        except re.error as error:
            raise click.BadParameter(f"{pattern!r} is no regular expression ({error}).") from None

    @property
    def name(self) -> str:
        """What an option says."""
        return f"{self.key}={self.pattern.pattern}" if self.pattern else self.key

    @property
    def of_sentences(self) -> bool:
        """Whether a sentence is in a group by what its file says."""
        return self.key not in (LABEL, LENGTH)

    def grouped(self, items: Iterable[Sentence | DeptreeError]) -> Iterator[Sentence | DeptreeError]:
        """The sentences, each with its group; those of a document have that of its first sentence."""
        inherited = _Inherited(self.key)
        for item in items:
            if isinstance(item, Sentence) and self.of_sentences:
                value = item.sentence.file if self.key == FILE else inherited.value(item)
                item.companions[GROUP] = self._group(value)
            yield item

    def _group(self, value: str | None) -> str | None:
        if value is None or self.pattern is None:
            return value
        match = self.pattern.search(value)
        return match and match[1 if self.pattern.groups else 0]

    def name_of(self, measured: Measured) -> str | None:
        """The group of a sentence; None if it is in none."""
        found, number = measured.of.trees, measured.number
        return bucket_of(int(found.lengths[number])) if self.key == LENGTH else found.read[number].companions[GROUP]

    def in_order(self, sizes: dict[str, int]) -> list[str]:
        """The groups in the order of rows, by how many sentences or arcs each has: as they came, or as is usual."""
        if self.key == LENGTH:
            return sorted(sizes, key=_BUCKETS.index)
        return sorted(sizes, key=lambda name: -sizes[name]) if self.key == LABEL else list(sizes)


class _Inherited:
    """The value of a comment, which for documents and paragraphs holds up to the next one."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._holds = key.startswith((_META, _NEW_DOCUMENT, _NEW_PARAGRAPH))
        self._last: str | None = None

    def value(self, sentence: Sentence) -> str | None:
        """That of a sentence."""
        block = sentence.sentence
        found = block.sent_id if self._key == "sent_id" else block.comment(self._key)
        if not self._holds:
            return found or None
        if found is None and self._key.startswith(_META) and block.comment("newdoc id") is not None:
            self._last = None
        self._last = found or self._last
        return self._last


def bucket_of(length: int) -> str:
    """The range of lengths that a sentence is in: ``1-10``, ``11-20``, ..."""
    return _BUCKETS[sum(length > end for end in SENTENCE_LENGTHS)]
