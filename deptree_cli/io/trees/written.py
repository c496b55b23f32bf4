"""Sentences with trees as they are written, right or not; a line without words as the CoNLL-U that it would be."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from deptree_cli.core.errors import DeptreeError, fits_a_line
from deptree_cli.io.conllu.blocks import Block, Chunk, split_chunks
from deptree_cli.io.conllu.columns import COLUMNS, UNKNOWN, header_for
from deptree_cli.io.files.streams import Input, open_input
from deptree_cli.io.trees import texts_in, tree_in
from deptree_cli.io.trees.lines import LineFormat, line_format

# The columns of a line that has no place for labels.
_UNLABELLED = tuple("none" if name == "deprel" else name for name in COLUMNS)


def blocks_of(path: str, read: Callable[[Chunk, str], Any] = Block) -> Iterator[Any]:
    """The sentences of a file of trees in any format, those of CoNLL-U as they are `read`; errors of malformed ones."""
    with open_input(path) as file:
        if lines := line_format(file.head, file.place):
            yield from _of_lines(lines, file)
            return
        for chunk in split_chunks(file.stream, file.place):
            try:
                yield read(chunk, file.place)
            except DeptreeError as error:
                yield error.at(sent_id=chunk.sent_id)


def _of_lines(lines: LineFormat, file: Input) -> Iterator[Block | DeptreeError]:
    for number, fields in lines.lines(file):
        try:
            if isinstance(fields, DeptreeError):
                raise fields
            yield Block(_chunk_of(fields, number, f"{file.place}:{number}"), file.place)
        except DeptreeError as error:
            yield error


def _chunk_of(fields: dict[str, Any], number: int, place: str) -> Chunk:
    """What a line says as CoNLL-U, or if it has no ``deprels`` as CoNLL-U Plus without a column for them."""
    tree = tree_in(fields, place, any_heads=True)
    upos = texts_in(fields.get("upos"), "upos", "tag", tree.heads, place, tree.sent_id)
    given = [form.decode() for form in tree.forms], upos, tree.labels
    for text in chain(*given):
        if not fits_a_line(text):
            problem, remedy = f"{reprlib.repr(text)} has control characters", "Leave them out"
            raise DeptreeError(problem, remedy, place=place, sent_id=tree.sent_id)
    columns = ([text if text.strip() else UNKNOWN for text in each or [UNKNOWN] * len(tree.heads)] for each in given)
    rows = (
        f"{word}\t{form}\t_\t{tag}\t_\t_\t{UNKNOWN if head < 0 else head}\t{label}\t_\t_\n"
        for word, (head, form, tag, label) in enumerate(zip(tree.heads, *columns, strict=True), 1)
    )
    named = f"# sent_id = {tree.sent_id}\n" if tree.sent_id.strip() and fits_a_line(tree.sent_id) else ""
    header = b"" if tree.labels else header_for(_UNLABELLED, "\n")
    return Chunk(header + f"{named}{''.join(rows)}\n".encode(), number - bool(header), header)
