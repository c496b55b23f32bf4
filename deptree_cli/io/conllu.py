"""CoNLL-U, byte for byte: a sentence is its bytes and where in them each word has its columns.

Trees are spliced in by copying those bytes around HEAD, DEPREL and DEPS, so whatever stands elsewhere survives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.chunks import BOM, Chunk, split_chunks
from deptree_cli.kernels.columns import (
    BAD_COLUMNS,
    BAD_HEAD,
    BAD_ID,
    BAD_NUMBER,
    DEPREL_END,
    DEPREL_START,
    FINE,
    HEAD,
    WORD_FACTS,
)

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

# What becomes of DEPS where HEAD may change, numbered as in kernels/columns.py.
DEPS = ("drop", "basic", "keep")

_MISC = COLUMNS.index("misc")
_SENT_ID = re.compile(rb"^#[^\S\n]*sent_id[^\S\n]*=[^\S\n]*(\S(?:[^\n]*\S)?)", re.MULTILINE)
_NOTHING: Mapping[str, Any] = {}


def read_blocks(stream: BinaryIO, place: str) -> Iterator[Block]:
    """The sentences of a binary stream, one in memory at a time.

    Raises:
        DeptreeError: with ``file:line``, where a block is not a sentence.
    """
    return (Block(chunk, place) for chunk in split_chunks(stream))


def block_of(sent_id: str, forms: Sequence[str]) -> Block:
    """A sentence of which nothing is known but its words."""
    rows = "".join(f"{word}\t{form}" + "\t_" * 8 + "\n" for word, form in enumerate(forms, 1))
    text = f"# sent_id = {sent_id}\n# text = {' '.join(forms)}\n{rows}\n"
    return Block(Chunk(text.encode(), 1), sent_id)


@dataclass(eq=False)
class Block:
    """One sentence.

    Attributes:
        chunk: its bytes, and the number of their first line.
        file: what messages call the file.
        sent_id: from the comment ``# sent_id = ...``, else empty.
        n: the number of words with an integer id.

    Raises:
        DeptreeError: not ten columns, ids that are not 1, 2, 3, ..., a HEAD that is no word, or no words at all.
    """

    chunk: Chunk
    file: str
    sent_id: str = field(init=False)
    n: int = field(init=False)

    def __post_init__(self) -> None:
        data = self.chunk.data
        rows = np.empty((data.count(b"\n") + 1, WORD_FACTS), dtype=np.int64)
        self._bytes = np.frombuffer(data, dtype=np.uint8)
        wrong, *found = _kernels().scan(self._bytes, len(BOM) if data.startswith(BOM) else 0, rows)
        if wrong != FINE:
            raise self._problem(wrong, *found)
        self._start, self._rows_start, self._rows_end, self.n, empty_nodes = found
        if not self.n:
            what = "no words" if self._rows_start < self._rows_end else "comments without a sentence"
            raise DeptreeError(what, "Give each sentence its lines, then one empty line", place=self.place)
        self._words, self._empty_nodes = rows[: self.n], rows[: -empty_nodes - 1 : -1]
        match = _SENT_ID.search(self._comments)
        self._id_span = (self._start + match.start(1), self._start + match.end(1)) if match else None
        self.sent_id = _text(match[1], self.place) if match else ""

    def __reduce__(self) -> tuple[type[Block], tuple[Chunk, str]]:
        """Between processes the bytes travel; looking at them again is quicker than carrying what was seen."""
        return Block, (self.chunk, self.file)

    def _problem(self, wrong: int, line: int, start: int, end: int, n: int, columns: int) -> DeptreeError:
        text = _shown(self.raw[start:end])
        problem, remedy = {
            BAD_COLUMNS: (
                f"{columns} column{'s' * (columns > 1)} where a word has 10, separated by tabs",
                "Repair the line; an empty line ends a sentence",
            ),
            BAD_ID: (f"the word id is {text} where {n + 1} is due", "Number the words 1, 2, 3, ... in order"),
            BAD_NUMBER: (f"HEAD is {text}, not _ or the number of a word", "Repair the line"),
            BAD_HEAD: (f"HEAD is {text}, not _ or 0 to {n}", "Repair the line"),
        }[wrong]
        return DeptreeError(problem, remedy, place=f"{self.file}:{self.chunk.line + line}")

    @property
    def raw(self) -> bytes:
        """The block as read, with the empty lines around it."""
        return self.chunk.data

    @property
    def line(self) -> int:
        """The number of the first line that is not empty."""
        return self.chunk.line + self.raw.count(b"\n", 0, self._start)

    @property
    def place(self) -> str:
        """``file:line``, for messages."""
        return f"{self.file}:{self.line}"

    @property
    def heads(self) -> list[int | None]:
        """The words' heads, 0 = ROOT, None where the column is ``_``."""
        return [None if head < 0 else head for head in self._words[:, HEAD].tolist()]

    @property
    def deprels(self) -> list[str]:
        """The words' labels, ``_`` where there is none."""
        return [
            _text(self.raw[start:end], self.place) for start, end in self._words[:, [DEPREL_START, DEPREL_END]].tolist()
        ]

    def column(self, name: str) -> list[str]:
        """A column of the words, by its name in `COLUMNS`."""
        index = COLUMNS.index(name)
        rows = [line.split(b"\t") for line in self._rows]
        return [_text(row[index].rstrip(b"\r\n"), self.place) for row in rows if row[0].isdigit()]

    def comment(self, key: str) -> str | None:
        """The value of the first comment ``# key = value``, None where there is none."""
        pattern = rb"^#[^\S\n]*%b[^\S\n]*=[^\S\n]*([^\n]*)" % re.escape(key.encode())
        match = re.search(pattern, self._comments, re.MULTILINE)
        return _text(match[1].strip(), self.place) if match else None

    @property
    def _comments(self) -> bytes:
        return self.chunk.data[self._start : self._rows_start]

    @property
    def _rows(self) -> list[bytes]:
        return _lines(self.raw[self._rows_start : self._rows_end])

    def with_trees(
        self,
        heads: NDArray[np.int32],
        sent_ids: Sequence[str],
        comments: Mapping[str, Sequence[str]] = _NOTHING,
        closing: Mapping[str, str] = _NOTHING,
        deprels: Deprels | None = None,
        deps: str = "drop",
    ) -> bytes:
        """The block once for each tree: HEAD, DEPREL and DEPS of its words change, all else stays.

        A byte order mark and empty lines in front stay where they are; the last copy ends as the block did.

        Args:
            heads: (k, n), 0 = ROOT.
            sent_ids: k names, in place of the sentence's own or, where it has none, in front of its comments.
            comments: for each key k values of a comment ``# key = value`` behind the others; older ones of the key go.
            closing: the same for the last tree only.
            deprels: the labels. Without them a word whose HEAD is what it was keeps its DEPREL; another one is `dep`;
                `root` stands exactly where HEAD is 0.
            deps: `drop` DEPS and empty nodes, which do not fit another tree; `basic`: the same, but DEPS say the tree
                again; `keep` both as they are.
        """
        block, newline = self, self.newline
        notes = [""] * len(heads)
        if comments or closing:
            block = self._without({key.encode() for key in (*comments, *closing)})
            template = "".join(f"# {key} = {{}}{newline}" for key in comments)
            notes = list(map(template.format, *comments.values())) if comments else notes
            notes[-1] += "".join(f"# {key} = {value}{newline}" for key, value in closing.items())
        return block._spliced(heads, sent_ids, notes, deprels, DEPS.index(deps))

    def _spliced(
        self,
        heads: NDArray[np.int32],
        sent_ids: Sequence[str],
        notes: Sequence[str],
        deprels: Deprels | None,
        deps: int,
    ) -> bytes:
        start, end = self._id_span or (self._start, self._start)
        naming = "{}" if self._id_span else f"# sent_id = {{}}{self.newline}"
        told = [piece.encode() for pair in zip(map(naming.format, sent_ids), notes, strict=True) for piece in pair]
        labels, names = (deprels.index, deprels.packed) if deprels else (_NO_LABELS, _UNLABELLED)
        gap = _GAPS[self.newline, self.chunk.data.endswith(b"\n", 0, self._rows_end)]
        size = len(self._bytes) + len(gap) + self.n * 2 * (_DIGITS + names.longest)
        out = np.empty(sum(map(len, told)) + len(heads) * size, dtype=np.uint8)
        seen = self._bytes, self._start, self._rows_start, self._rows_end, self._words, self._empty_nodes
        pool, cuts, _ = _packed(told)
        written = _kernels().splice(
            *seen, start, end, pool, cuts, heads, labels, names.pool, names.cuts, deps, gap, out
        )
        return out[:written].tobytes()

    def with_misc(self, word_to_misc: Mapping[int, str], comments: Sequence[str] = ()) -> bytes:
        """The block as it is, plus comments, and `noting` some words."""
        added = [f"{comment}{self.newline}".encode() for comment in comments]
        noted = self.noting(word_to_misc)._without({_key(line) for line in added})
        return b"".join([noted.raw[: noted._rows_start], *added, noted.raw[noted._rows_start :]])

    def noting(self, word_to_misc: Mapping[int, str]) -> Block:
        """The block with `Key=value` (several: `A=1|B=2`) in MISC of some words; older values of the keys go."""
        if not word_to_misc:
            return self
        additions = {b"%d" % word: entry.encode() for word, entry in word_to_misc.items()}
        rows = [line.split(b"\t") for line in self._rows]
        lines = [b"\t".join(_with_entry(row, additions[row[0]]) if row[0] in additions else row) for row in rows]
        return self._with(self._rows_start, lines, self._rows_end)

    def _with(self, start: int, lines: Sequence[bytes], end: int) -> Block:
        """The block with other lines from start to end."""
        data = b"".join([self.raw[:start], *lines, self.raw[end:]])
        return Block(Chunk(data, self.chunk.line), self.file)

    def _without(self, keys: Set[bytes]) -> Block:
        """The block without comments ``# key = ...`` of these keys: what is said anew is not said twice."""
        comments = self._comments
        if not any(key in comments for key in keys):
            return self
        kept = [comment for comment in _lines(comments) if _key(comment) not in keys]
        return self._with(self._start, kept, self._rows_start)

    @property
    def newline(self) -> str:
        """How the block's lines end."""
        end = self.chunk.data.find(b"\n", self._start)
        return "\r\n" if self.chunk.data[end - 1 : end] == b"\r" else "\n"


def _key(comment: bytes) -> bytes:
    """The key of a comment ``# key = value``; free text has one of its own, with the newline in it."""
    return comment.lstrip(b"#").partition(b"=")[0].strip(b" ") if b"=" in comment else comment


def _lines(data: bytes) -> list[bytes]:
    """Lines with their newlines; a lone carriage return ends none."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    return [*lines[:-1], lines[-1][:-1]] if lines[-1] != b"\n" else lines[:-1]


class _Kernels(NamedTuple):
    scan: Callable[..., Any]
    splice: Callable[..., Any]


@cache
def _kernels() -> _Kernels:
    """Compiled code, loaded when there is something to read."""
    from deptree_cli.kernels.conllu import scan
    from deptree_cli.kernels.splicing import splice

    return _Kernels(scan, splice)


class Packed(NamedTuple):
    """Pieces laid end to end, where each begins and the last ends, and the length of the longest."""

    pool: NDArray[np.uint8]
    cuts: NDArray[np.int64]
    longest: int


def _packed(pieces: Sequence[bytes]) -> Packed:
    cuts = np.array([0, *accumulate(map(len, pieces))], dtype=np.int64)
    return Packed(np.frombuffer(b"".join(pieces), dtype=np.uint8), cuts, max(map(len, pieces)))


_UNKNOWN = [b"root", b"dep"]
_UNLABELLED = _packed(_UNKNOWN)
_NO_LABELS = np.empty((0, 0), dtype=np.int32)
_DIGITS = 12  # of a head, and the two tabs

# What stands between two trees, by the newline and whether the last line has one: what it lacks, and an empty line.
_GAPS = {
    (newline, whole): np.frombuffer(newline.encode() * (2 - whole), dtype=np.uint8)
    for newline in ("\n", "\r\n")
    for whole in (True, False)
}


@dataclass(frozen=True, eq=False)
class Deprels:
    """The labels of k trees.

    Attributes:
        names: the names of labels.
        index: (k, n) int32, the number of each word's name.
    """

    names: tuple[str, ...]
    index: NDArray[np.int32]

    @property
    def packed(self) -> Packed:
        """What a splicing copies: behind the names for words without a label these."""
        return _packed_names(self.names)


@cache
def _packed_names(names: tuple[str, ...]) -> Packed:
    return _packed([*_UNKNOWN, *(name.encode() for name in names)])


def _text(text: bytes, place: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise DeptreeError(f"{_shown(text)} is not UTF-8", "Convert the file to UTF-8", place=place) from None


def _shown(text: bytes) -> str:
    return repr(text[:20].decode("utf-8", "replace"))


def _with_entry(row: list[bytes], addition: bytes) -> list[bytes]:
    misc = row[_MISC].rstrip(b"\r\n")
    keys = {entry.partition(b"=")[0] for entry in addition.split(b"|")}
    entries = [old for old in misc.split(b"|") if old != b"_" and old.partition(b"=")[0] not in keys]
    return [*row[:_MISC], b"|".join([*entries, addition]) + row[_MISC][len(misc) :]]
