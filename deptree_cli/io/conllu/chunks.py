"""Where the sentences of a CoNLL-U file begin and end: its bytes cut behind the empty lines, nothing lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.columns import BOM, COLUMNS, header_of
from deptree_cli.io.files.streams import rewound, seekable
from deptree_cli.kernels.budget import BYTES, foresee
from deptree_cli.kernels.text.columns import BEGUN, EMPTY, LINE_START

_READ, _AHEAD = 1 << 18, 1 << 13

# A hundred thousand words with long lines.
LONGEST_SENTENCE = 1 << 26

SENT_ID = re.compile(rb"^#[^\S\n]*sent_id[^\S\n]*=[^\S\n]*(\S(?:[^\n]*\S)?)", re.MULTILINE)


class Chunk(NamedTuple):
    """The bytes of one sentence with the empty lines around it.

    Attributes:
        data: the bytes. In CoNLL-U Plus those of every sentence begin with the file's first line, behind a byte order
            mark: so each says which columns it has, wherever it goes; what writes them leaves the first one alone.
        line: the number of their first line in the file; of such a first line that of the line before.
        header: the first line of CoNLL-U Plus, ``# global.columns = ...``.
        feats: whether some word of the file is known to have FEATS.
    """

    data: bytes
    line: int
    header: bytes = b""
    feats: bool = False

    @property
    def sent_id(self) -> str:
        """The name of its sentence, also of a malformed one; empty if it has none."""
        found = SENT_ID.search(self.data)
        return found[1].decode("utf-8", "replace") if found else ""


def split_chunks(stream: BinaryIO, place: str = "") -> Iterator[Chunk]:
    """Cut a file into sentences, as they come in.

    Together the chunks of CoNLL-U are the file, unless it is nothing but space.

    Raises:
        DeptreeError: a sentence is longer than any that is meant, or the line that names columns is not the first.
    """
    header = front = b""
    for chunk in _cut(stream, place):
        if own := header_of(chunk.data):
            header = own
            if not chunk.data.partition(own)[2].strip():  # empty lines behind it: it belongs to the sentence there
                front += chunk.data
                continue
        elif chunk.line == 1:
            _check(chunk, place)
        if front:
            chunk = Chunk(front + chunk.data, chunk.line - front.count(b"\n"))
        elif header and not own:
            chunk = Chunk(header + chunk.data.removeprefix(BOM), chunk.line - 1)
        front = b""
        yield chunk._replace(header=header) if header else chunk


def split_with_feats(stream: BinaryIO, place: str = "") -> Iterator[Chunk]:
    """The same, after a look for FEATS, wherever in the file they begin; a pipe that begins without some is copied.

    Raises:
        DeptreeError: see `split_chunks`.
    """
    ahead, feats = b"", False
    while not feats and len(ahead) < _AHEAD and (line := stream.readline(_AHEAD)):
        ahead += line
        feats = _has_feats(Chunk(ahead, 1, header_of(ahead)))
    stream = rewound(ahead, stream)  # type: ignore[arg-type]
    with nullcontext(stream) if feats else seekable(stream) as again:
        with suppress(DeptreeError):  # raised behind the sentences in front of it
            feats = feats or any(map(_has_feats, split_chunks(again)))
        if again.seekable():
            again.seek(0)
        yield from (chunk._replace(feats=feats) for chunk in split_chunks(again, place))


def _has_feats(chunk: Chunk) -> bool:
    """Whether a word or an empty node has FEATS."""
    columns = chunk.header.lower().partition(b"=")[2].split() or [name.encode() for name in COLUMNS]
    before = columns.index(b"feats") - 1 if b"feats" in columns else len(columns)
    return re.search(rb"(?m)^[^\t\n#-]++(?:\t[^\t\n]*+){%d}\t(?!_(?:\s|\Z))\S" % before, chunk.data) is not None


def _check(chunk: Chunk, place: str) -> None:
    """A line that names columns must be the first: else we would have read others."""
    for number, line in enumerate(chunk.data.split(b"\n"), 1):
        if header_of(line):
            raise DeptreeError("# global.columns is not the first line", "Put it there", place=f"{place}:{number}")
        if line.strip() and not line.startswith(b"#"):
            return


def _cut(stream: BinaryIO, place: str) -> Iterator[Chunk]:
    """Every byte is looked at once, in however small pieces it comes."""
    buffer = bytearray(stream.read(len(BOM)))
    scanned = len(BOM) if buffer == BOM else 0
    state = np.zeros(4, dtype=np.int64)
    state[LINE_START], state[EMPTY] = scanned, 1
    line, more = 1, True
    while more:
        start = 0
        for end in _ends(buffer, scanned, state):
            yield Chunk(bytes(buffer[start:end]), line)
            line += buffer.count(b"\n", start, end)
            start = end
        del buffer[:start]
        state[LINE_START] -= start
        scanned = len(buffer)
        if scanned > LONGEST_SENTENCE:
            problem = f"the sentence from line {line} on has more than {LONGEST_SENTENCE:,} bytes"
            raise DeptreeError(problem, "An empty line ends a sentence", place=place)
        buffer += stream.read1(_READ)  # type: ignore[attr-defined]
        more = len(buffer) > scanned
    if state[BEGUN]:
        yield Chunk(bytes(buffer), line)


def separator(chunk: bytes) -> bytes:
    """What a sentence's bytes lack before another can follow them: newlines up to an empty line, or nothing."""
    if chunk.endswith((b"\n\n", b"\n\r\n")):
        return b""
    end = chunk[len(chunk.rstrip()) :]
    lacking = max(2 - end.count(b"\n"), not end.endswith(b"\n"))
    return lacking * (b"\r\n" if b"\r\n" in chunk else b"\n")


def _ends(buffer: bytearray, scanned: int, state: NDArray[np.int64]) -> list[int]:
    """Where sentences end in the bytes behind those that were scanned."""
    foresee((len(buffer) - scanned) / BYTES)
    from deptree_cli.kernels.text.scanning import sentence_ends  # loaded when there is something to read

    ends = np.empty(len(buffer) - scanned + 1, dtype=np.int64)
    return ends[: sentence_ends(np.frombuffer(buffer, dtype=np.uint8), scanned, state, ends)].tolist()
