"""Where the sentences of a CoNLL-U file begin and end: its lines cut at the empty ones, nothing lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The lines of one sentence with the empty lines around it.

    Attributes:
        lines: as read; a byte order mark is an item of its own.
        line: the number of the first line that is not empty.
    """

    lines: list[bytes]
    line: int

    def parts(self) -> tuple[list[bytes], list[bytes], list[bytes], list[bytes]]:
        """The empty lines in front, the comments, the other lines, the empty lines behind."""
        lead = list(takewhile(lambda line: line == BOM or not line.strip(), self.lines))
        comments = list(takewhile(lambda line: line.startswith(b"#"), self.lines[len(lead) :]))
        body = self.lines[len(lead) + len(comments) :]
        rows = list(takewhile(bytes.strip, body))
        return lead, comments, rows, body[len(rows) :]


def split_chunks(stream: Iterable[bytes]) -> Iterator[Chunk]:
    """Cut a file into sentences. Together the chunks are the file, unless it holds nothing but empty lines."""
    lines: list[bytes] = []
    start = 0
    for number, line in enumerate(stream, 1):
        if number == 1 and line.startswith(BOM):
            lines.append(BOM)
            line = line.removeprefix(BOM)
        content = bool(line.strip())
        if content and start and not lines[-1].strip():
            yield Chunk(lines, start)
            lines, start = [], 0
        start = start or number * content
        lines.append(line)
    if start:
        yield Chunk(lines, start)
