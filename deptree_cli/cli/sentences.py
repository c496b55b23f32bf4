"""Sentences in CoNLL-U that a command reads by themselves, without scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.files.streams import open_input, share_read


@dataclass(frozen=True)
class ReadSentence:
    """A sentence as it was read.

    Attributes:
        sent_id: its own, or its running number.
        has_other_tags: whether the column UPOS of its file has something else than parts of speech.
    """

    block: Block
    sent_id: str
    has_other_tags: bool = False

    @property
    def place(self) -> str:
        """Where it was read."""
        return self.block.place


SentenceStream = Iterator[ReadSentence | DeptreeError]

# Looks at the sentences of a file as they pass; it is told what messages call the file.
Watched = Callable[[SentenceStream, str], SentenceStream]


def read_sentences(paths: Sequence[str], watched: Watched | None = None, any_heads: bool = False) -> SentenceStream:
    """The sentences of all files in order, one in memory at a time; `-` is standard input.

    Args:
        paths: files, gzipped or not.
        watched: looks at those of each file.
        any_heads: whether HEAD may be anything, as of `Block`.
    """
    numbers = count(1)
    for path in paths:
        with open_input(path) as file:
            blocks = read_blocks_or_errors(file.stream, file.place, any_heads)
            found = (_named(block, next(numbers)) for block in blocks)
            yield from watched(found, file.place) if watched else found


def share_of(paths: Sequence[str]) -> Callable[[], float | None]:
    """What tells how much of the files is read; of several nobody knows."""
    return (lambda: share_read(paths[0])) if len(paths) == 1 else (lambda: None)


def _named(block: Block | DeptreeError, number: int) -> ReadSentence | DeptreeError:
    return block if isinstance(block, DeptreeError) else ReadSentence(block, block.sent_id or str(number))
