"""Several annotations of the same sentences, read together: files of trees, CoNLL-U or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.conllu.chunks import Chunk, split_chunks
from deptree_cli.io.files.streams import Input, open_input, place_of
from deptree_cli.io.read import beside, read, sentence_of
from deptree_cli.io.sentence import Companion, Sentence, Side, Warn, unheard
from deptree_cli.io.trees.jsonl import JSON_LINES
from deptree_cli.io.trees.written import format_of, read_written
from deptree_cli.kernels.budget import BYTES, foresee


def read_annotations(paths: Sequence[str], warn: Warn = unheard) -> Iterator[Sentence | DeptreeError]:
    """The sentences of the first file, each with what the n-th further one has of it as its companion "n"; see `read`.

    Args:
        warn: tells a line, once for each key.

    Raises:
        DeptreeError: the files do not hold the same sentences.
    """
    first, *others = paths
    for path in paths:
        with suppress(OSError):  # what is not there is told when it is opened
            foresee(Path(path).stat().st_size / BYTES)
    lead = Side(map(sentence_of, _blocks(first), count(1)), "sentences", place_of(first))
    yield from read(lead, [_beside(path, str(number)) for number, path in enumerate(others, 1)], warn)


def annotations_of(sentence: Sentence, files: int) -> list[Block]:
    """What each of so many files has of a sentence."""
    return [sentence.sentence, *(sentence.companions[str(number)] for number in range(1, files))]


@dataclass(slots=True, eq=False)
class _Unread:
    """A sentence of CoNLL-U of which nothing is known but its name: it may be the bytes that the first file has."""

    chunk: Chunk
    file: str
    sent_id: str

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.chunk.line}"

    def read(self, first: Block) -> Block:
        """The sentence; what the first file has of it if that is the same."""
        return first if self.chunk.data == first.raw else Block(self.chunk, self.file)


def _beside(path: str, role: str) -> Companion:
    found = beside(_unread(path), place_of(path), role)

    def add(sentence: Sentence, item: Block | _Unread) -> None:
        found.add(sentence, item.read(sentence.sentence) if isinstance(item, _Unread) else item)

    return replace(found, add=add)


def _unread(path: str) -> Iterator[Block | _Unread | DeptreeError]:
    """The sentences of a file beside the first; those without a name are read, because they may be malformed."""
    with open_input(path) as file:
        if format_of(file) is JSON_LINES:
            yield from _of_json(file)
            return
        for chunk in split_chunks(file.stream, file.place):
            try:
                yield _Unread(chunk, file.place, name) if (name := chunk.sent_id) else Block(chunk, file.place)
            except DeptreeError as error:
                yield error


def _blocks(path: str) -> Iterator[Block | DeptreeError]:
    """The sentences of a file."""
    with open_input(path) as file:
        is_json = format_of(file) is JSON_LINES
        yield from _of_json(file) if is_json else read_blocks_or_errors(file.stream, file.place)


def _of_json(file: Input) -> Iterator[Block | DeptreeError]:
    """Sentences of JSON Lines as they would be in CoNLL-U."""
    for written in read_written(file.stream, file.place, JSON_LINES, 1, None, True):
        try:
            yield Block(written.block.chunk, file.place)
        except DeptreeError as error:
            yield error
