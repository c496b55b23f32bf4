"""Several annotations of the same sentences, read together: files of trees, CoNLL-U or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.files.streams import open_input, place_of
from deptree_cli.io.read import beside, read, sentence_of
from deptree_cli.io.sentence import Sentence, Side, Warn, unheard
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
    yield from read(
        lead, [beside(_blocks(path), place_of(path), str(number)) for number, path in enumerate(others, 1)], warn
    )


def annotations_of(sentence: Sentence, files: int) -> list[Block]:
    """What each of so many files has of a sentence."""
    return [sentence.sentence, *(sentence.companions[str(number)] for number in range(1, files))]


def _blocks(path: str) -> Iterator[Block | DeptreeError]:
    """The sentences of a file, those of JSON Lines as they would be in CoNLL-U."""
    with open_input(path) as file:
        fmt = format_of(file)
        if fmt is not JSON_LINES:
            yield from read_blocks_or_errors(file.stream, file.place)
            return
        for written in read_written(file.stream, file.place, fmt, 1, None, True):
            try:
                yield Block(written.block.chunk, file.place)
            except DeptreeError as error:
                yield error
