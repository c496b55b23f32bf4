"""Files with a tree a line and without words: JSON Lines, and head vectors; a register of such formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import Register
from deptree_cli.io.conllu.columns import BOM
from deptree_cli.io.files.streams import Input, lines_of
from deptree_cli.io.json_lines import object_of

# How containers of arrays begin.
_BINARY = b"PK", b"\x93NUMPY", b"\x80", b"\x89HDF"

# Numbers and blanks, up to the end of the line or of what is known of it.
_VECTOR = re.compile(rb"[ ]*[0-9]+(?:[ ]+[0-9]+)*[ ]*(?:\r?\n|\Z)")


@dataclass(frozen=True)
class LineFormat:
    """A format of trees.

    Attributes:
        begins: whether a file that begins so has it.
        fields: what a line at a place says, with the names of JSON Lines (`heads`, ...), or what is wrong with it.
    """

    name: str
    begins: Callable[[bytes], bool]
    fields: Callable[[bytes, str], dict[str, Any] | DeptreeError]

    def lines(self, file: Input) -> Iterator[tuple[int, dict[str, Any] | DeptreeError]]:
        """What the lines say, with their numbers; blank ones, and the signature of an earlier run, say nothing."""
        for number, line in enumerate(lines_of(file.stream, file.place), 1):
            if text := (line.removeprefix(BOM) if number == 1 else line).strip():
                found = self.fields(text, f"{file.place}:{number}")
                if isinstance(found, DeptreeError) or found.keys() != {"signature"}:
                    yield number, found


def _vector(line: bytes, place: str) -> dict[str, Any] | DeptreeError:
    words = line.split()
    for number, word in enumerate(words, 1):
        if not word.isdigit():
            problem = f"the head of word {number} is {word.decode('utf-8', 'replace')!r}, not a number"
            return DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place)
    return {"heads": list(map(int, words))}


JSON = LineFormat("jsonl", lambda head: head.lstrip().startswith((b"{", b"[")), object_of)
VECTORS = LineFormat("hv", lambda head: _VECTOR.match(head.lstrip()) is not None, _vector)

FORMATS = Register("format of trees", (JSON, VECTORS))


def line_format(head: bytes, place: str) -> LineFormat | None:
    """The format of a file of trees that begins so, None for CoNLL-U; raises if it has neither."""
    if head.startswith(_BINARY):
        problem = "these are not trees in CoNLL-U or JSON Lines"
        raise DeptreeError(problem, "Give trees as CoNLL-U, or a line of JSON with sent_id and heads", place=place)
    return next((each for each in FORMATS if each.begins(head.removeprefix(BOM))), None)
