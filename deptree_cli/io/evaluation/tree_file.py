"""A file of trees as it was read: its words as arrays, where its sentences stand, and what is wrong with some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.evaluation.words import Words, cyclic, starts_of
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.conllu.surface import error_of_tokens
from deptree_cli.io.evaluation.rows import Rows
from deptree_cli.io.evaluation.vocabulary import Vocabulary
from deptree_cli.io.files.streams import open_input, place_of
from deptree_cli.io.pairing import unmarked
from deptree_cli.io.trees.base import GivenTree
from deptree_cli.io.trees.conllu import without_heads

# Sentences of so many words become arrays at once.
_TOGETHER = 1 << 14


@dataclass
class TreeFile:
    """The trees of a file, as they were read.

    Attributes:
        place: what messages call the file.
        vocabulary: numbers of what stands there.
        names: the sent_id of each sentence, empty where it has none.
        lines: the number of its first line, and of the line of its first row.
        errors: what is wrong with sentences, by number, from 0.
    """

    place: str
    vocabulary: Vocabulary
    names: list[str] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)
    errors: dict[int, DeptreeError] = field(default_factory=dict)
    _waiting: list[Block | DeptreeError] = field(default_factory=list)
    _size: int = 0
    _parts: list[Words] = field(default_factory=list)

    def add(self, item: Block | DeptreeError, name: str = "") -> None:
        """Add a sentence, or what is wrong with one, of which then nothing is known."""
        number = len(self.names)
        self.names.append(name)
        item = item if isinstance(item, DeptreeError) else error_of_tokens(item) or item
        if isinstance(item, DeptreeError):
            self.errors[number] = item
            self.lines.append((0, 0))
        else:
            self.lines.append((item.line, item.line + item.raw.count(b"\n", item.start, item.template.rows_start)))
            self._size += item.n
        self._waiting.append(item)
        if self._size >= _TOGETHER:
            self._flush()

    @cached_property
    def words(self) -> Words:
        """The words of all sentences; none of those of which nothing is known."""
        self._flush()
        return _joined(self._parts)

    def sent_id(self, number: int) -> str:
        """What messages call a sentence."""
        return self.names[number] or str(number + 1)

    def at(self, number: int, row: int | None = None) -> str:
        """``file:line`` of a sentence, or of one of its rows."""
        line, first = self.lines[number]
        return f"{self.place}:{line if row is None else first + row}"

    def check_trees(self) -> None:
        """Note what is wrong with sentences whose heads are no tree."""
        words = self.words
        owners = np.repeat(np.arange(len(words.sizes)), words.sizes)
        for number in [*np.unique(owners[words.heads < 0]).tolist(), *np.flatnonzero(cyclic(words)).tolist()]:
            heads = words.heads[words.words[number] : words.words[number + 1]].tolist()
            known = [None if head < 0 else head for head in heads]
            try:
                if None in known:
                    raise without_heads(known, self.at(number), self.sent_id(number))
                GivenTree(self.sent_id(number), tuple(heads), 1, self.at(number)).check_acyclic()
            except DeptreeError as error:
                self.errors.setdefault(number, error)

    def row_of(self, number: int, at: int) -> int:
        """The row of a sentence that a character of its text is in, or the last of its tokens."""
        words = self.words
        first, end = words.tokens[number : number + 2]
        token = min(int(np.searchsorted(np.cumsum(words.lengths[first:end]), at, side="right")), end - first - 1)
        return int(words.rows[first + token]) if end > first else 0

    def _flush(self) -> None:
        for _, run in groupby(self._waiting, lambda item: getattr(item, "columns", None)):  # maybe of several files
            self._parts.append(Rows.of(list(run)).words(self.vocabulary))
        self._waiting.clear()
        self._size = 0


def read_trees(path: str, vocabulary: Vocabulary, any_heads: bool = False) -> TreeFile:
    """Read a file of CoNLL-U; `-` is standard input. Its heads must be trees, unless they may be anything."""
    found = TreeFile(place_of(path), vocabulary)
    with open_input(path) as file:
        for item in read_blocks_or_errors(file.stream, file.place, any_heads):
            found.add(item, unmarked(item.sent_id))
    if not any_heads:
        found.check_trees()
    return found


def _joined(parts: Sequence[Words]) -> Words:
    """Several files' words as one's."""
    if len(parts) == 1:
        return parts[0]
    parts = [*parts] or [Rows.of([]).words(Vocabulary())]
    rest = "lengths", "rows", "token_of", "in_multiword", "columns", "heads"
    return Words(
        [text for part in parts for text in part.texts],
        starts_of(np.concatenate([part.sizes for part in parts])),
        starts_of(np.concatenate([np.diff(part.tokens) for part in parts])),
        *(np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in rest),
    )
