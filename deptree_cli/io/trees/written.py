"""Sentences with trees as they are written, right or not; a line of JSON as the CoNLL-U that it would be."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from deptree_cli.core.errors import DeptreeError, counted, fits_a_line
from deptree_cli.io.conllu.blocks import Block, Chunk, read_blocks_or_errors, split_chunks
from deptree_cli.io.conllu.columns import COLUMNS, header_for
from deptree_cli.io.files.streams import Input, open_input, place_of
from deptree_cli.io.json_lines import sent_id_of
from deptree_cli.io.read import beside, read, sentence_of
from deptree_cli.io.sentence import Companion, Sentence, Side, Warn, unheard
from deptree_cli.io.trees.lines import LineFormat, line_format
from deptree_cli.kernels.budget import BYTES, foresee

# The columns of a line that has no place for labels.
_UNLABELLED = tuple("none" if name == "deprel" else name for name in COLUMNS)

# What stands where a field says nothing.
_NOTHING = "_"

# What a word may have in a list; a number is a form that its writer took for one.
_TEXTS = (str, int, float, type(None))


def read_annotations(paths: Sequence[str], warn: Warn = unheard) -> Iterator[Sentence | DeptreeError]:
    """The sentences of the first file, each with what the n-th further one has of it as its companion "n"; see `read`.

    Args:
        warn: tells a line, once for each key.
    """
    first, *others = paths
    for path in paths:
        with suppress(OSError):  # what is not there is told when it is opened
            foresee(Path(path).stat().st_size / BYTES)
    lead = Side(map(sentence_of, blocks_of(first), count(1)), "sentences", place_of(first))
    yield from read(lead, [_beside(path, str(number)) for number, path in enumerate(others, 1)], warn)


def annotations_of(sentence: Sentence, files: int) -> list[Block]:
    return [sentence.sentence, *(sentence.companions[str(number)] for number in range(1, files))]


@dataclass(slots=True, eq=False)
class _Unread:
    """A sentence of CoNLL-U of which nothing is known but its name: it may be the bytes that the first file has."""

    chunk: Chunk
    file: str
    sent_id: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.chunk.line}"

    def read(self, first: Block) -> Block:
        return first if self.chunk.data == first.raw else Block(self.chunk, self.file)


def _beside(path: str, role: str) -> Companion:
    found = beside(_unread(path), place_of(path), role)

    def add(sentence: Sentence, item: Block | _Unread) -> None:
        found.add(sentence, item.read(sentence.sentence) if isinstance(item, _Unread) else item)

    return replace(found, add=add)


def _unread(path: str) -> Iterator[Block | _Unread | DeptreeError]:
    """The sentences of a file beside the first; those without a name are read, because they may be malformed."""
    with open_input(path) as file:
        if lines := line_format(file.head, file.place):
            yield from _of_lines(lines, file)
            return
        for chunk in split_chunks(file.stream, file.place):
            try:
                yield _Unread(chunk, file.place, name) if (name := chunk.sent_id) else Block(chunk, file.place)
            except DeptreeError as error:
                yield error


def blocks_of(path: str) -> Iterator[Block | DeptreeError]:
    """The sentences of a file of trees in any format."""
    with open_input(path) as file:
        if lines := line_format(file.head, file.place):
            yield from _of_lines(lines, file)
        else:
            yield from read_blocks_or_errors(file.stream, file.place)


def _of_lines(lines: LineFormat, file: Input) -> Iterator[Block | DeptreeError]:
    for number, fields in lines.lines(file):
        try:
            if isinstance(fields, DeptreeError):
                yield fields
            else:
                yield Block(_chunk_of(fields, number, f"{file.place}:{number}"), file.place)
        except DeptreeError as error:
            yield error


def _chunk_of(fields: dict[str, Any], number: int, place: str) -> Chunk:
    """What a line says as CoNLL-U, or if it has no ``deprels`` as CoNLL-U Plus without a column for them."""
    name = sent_id_of(fields, place) or ""
    header = b"" if fields.get("deprels") else header_for(_UNLABELLED, "\n")
    try:
        return Chunk(header + _as_conllu(fields, name).encode(), number - bool(header), header)
    except DeptreeError as error:
        raise error.at(place, name) from None


def _as_conllu(fields: dict[str, Any], name: str) -> str:
    """A sentence of CoNLL-U from ``heads`` and, if they are there, ``deprels``, ``upos`` and ``forms``."""
    heads = fields.get("heads")
    if not isinstance(heads, list) or not heads:
        raise DeptreeError("the field heads is not a list of numbers", "Give one head per word, 0 for ROOT")
    for word, head in enumerate(heads, 1):
        if type(head) not in (int, type(None)):
            problem = f"the head of word {word} is {reprlib.repr(head)}"
            raise DeptreeError(problem, "Give a number, 0 for ROOT, or null for a head that is to be found")
    texts = [_NOTHING if head is None else head for head in heads]
    columns = [_texts(fields, key, len(heads)) for key in ("forms", "upos", "deprels")]
    rows = (
        f"{word}\t{form}\t_\t{upos}\t_\t_\t{head}\t{label}\t_\t_\n"
        for word, (head, form, upos, label) in enumerate(zip(texts, *columns, strict=True), 1)
    )
    named = f"# sent_id = {name}\n" if name.strip() and fits_a_line(name) else ""
    return f"{named}{''.join(rows)}\n"


def _texts(fields: dict[str, Any], key: str, n: int) -> list[str]:
    """A list of texts, one a word; underscores where there is none."""
    given = fields.get(key)
    if given is None:
        return [_NOTHING] * n
    if not isinstance(given, list):
        raise DeptreeError(f"the field {key} is {reprlib.repr(given)}, not a list", "Give one per word")
    if len(given) != n:
        problem = f"{counted(n, 'head')}, but {len(given)} in the field {key}"
        raise DeptreeError(problem, "Give one per word")
    other = next((text for text in given if type(text) not in _TEXTS), None)
    if other is not None:
        raise DeptreeError(f"the field {key} has {reprlib.repr(other)}", "Give a text, or null")
    texts = [_NOTHING if text is None else str(text) for text in given]
    wrong = next((text for text in texts if not fits_a_line(text)), None)
    if wrong is not None:
        raise DeptreeError(f"the field {key} has {reprlib.repr(wrong)}", "Leave out control characters")
    return [text if text.strip() else _NOTHING for text in texts]
