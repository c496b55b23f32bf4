"""Sentences with trees as they are written, right or not; a line of JSON as the CoNLL-U that it would be."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from deptree_cli.core.errors import DeptreeError, counted, fits_a_line
from deptree_cli.io.conllu.blocks import Block, Chunk, split_with_feats
from deptree_cli.io.conllu.columns import BOM, COLUMNS, header_for
from deptree_cli.io.files.streams import Input, lines_of
from deptree_cli.io.json_lines import object_of, sent_id_of

# The columns of a line that has no place for labels.
_UNLABELLED = tuple("none" if name == "deprel" else name for name in COLUMNS)

# What stands where a field says nothing.
_NOTHING = "_"

# What a word may have in a list; a number is a form that its writer took for one.
_TEXTS = (str, int, float, type(None))


@dataclass(frozen=True, eq=False)
class Written:
    """A sentence as it is written.

    Attributes:
        chunk: its bytes, and the number of their first line.
        file: what messages call the file.
        number: its running number in all files, from 1.
        suspect: whether something is wrong with its tree, None where nobody has looked.
        has_other_tags: whether the column UPOS of that has something else than parts of speech.
    """

    chunk: Chunk
    file: str
    number: int
    suspect: bool | None = None
    has_other_tags: bool = False
    weight = 0

    @property
    def sent_id(self) -> str:
        return str(self.number)

    @property
    def place(self) -> str:
        return f"{self.file}:{self.chunk.line}"

    @cached_property
    def block(self) -> Block:
        """The sentence, whatever its heads are."""
        return Block(self.chunk, self.file, any_heads=True)

    @property
    def name(self) -> str:
        return self.block.sent_id or self.sent_id


def read_written(
    stream: BinaryIO, place: str, first: int = 1, suspects: Sequence[int] | None = None
) -> Iterator[Written]:
    """The sentences of a stream of CoNLL-U.

    Args:
        first: the running number of the first.
        suspects: of each sentence of all files, whether something is wrong with it; None: nobody has looked.
    """
    for number, chunk in enumerate(split_with_feats(stream, place), first):
        suspect = bool(suspects[number - 1]) if suspects is not None and number <= len(suspects) else None
        yield Written(chunk, place, number, suspect)


def blocks_of_json(file: Input) -> Iterator[Block | DeptreeError]:
    for number, line in enumerate(lines_of(file.stream, file.place), 1):
        line = line.removeprefix(BOM) if number == 1 else line
        if line.strip() and not line.startswith(b'{"signature"'):
            try:
                yield Block(_chunk_of(line, number, f"{file.place}:{number}"), file.place)
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
