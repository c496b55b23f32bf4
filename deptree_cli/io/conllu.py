"""CoNLL-U, byte for byte: blocks of lines that are written back as read, except HEAD, DEPREL and DEPS of words.

A block is split into columns once; a tree is then spliced into it by joining ready pieces. Only what is asked for is
decoded, so whatever stands in the other columns survives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.chunks import Chunk, split_chunks

_SENT_ID = re.compile(rb"#\s*sent_id\s*=\s*(\S|\S.*\S)\s*")
_NOT_A_WORD = re.compile(rb"\d+([-.])\d+")
_HEAD, _DEPREL, _MISC = 6, 7, 9
_NO_HEAD = -1
_NOTHING: Mapping[str, Any] = {}

Packed = NDArray[np.uint8]
Cuts = NDArray[np.int64]


def read_blocks(stream: Iterable[bytes], place: str) -> Iterator[Block]:
    """The sentences of a binary stream, one in memory at a time.

    Raises:
        DeptreeError: with ``file:line``, where a block is not a sentence.
    """
    return (Block.parse(chunk, place) for chunk in split_chunks(stream))


@dataclass(frozen=True, eq=False)
class Block:
    """One sentence.

    Attributes:
        sent_id: from the comment ``# sent_id = ...``, else empty.
        n: the number of words with an integer id.
        heads: of the words, 0 = ROOT, None where the column is ``_``.
        deprels: of the words.
        line: the number of the first line.
        place: ``file:line``, for messages.
    """

    sent_id: str
    n: int
    heads: list[int | None]
    deprels: list[str]
    line: int
    place: str
    _lead: bytes
    _comments: list[bytes]
    _rows: list[list[bytes]]
    _tail: bytes

    @classmethod
    def parse(cls, chunk: Chunk, place: str) -> Block:
        """Look into a chunk.

        Raises:
            DeptreeError: not ten columns, ids that are not 1, 2, 3, ..., a HEAD that is no word, or no words at all.
        """
        lead, comments, lines, tail = chunk.parts()
        rows = [line.split(b"\t") for line in lines]
        words = _words(rows, chunk.line + len(comments), place)
        if not words:
            what = "no words" if rows else "comments without a sentence"
            raise DeptreeError(what, "Give each sentence its lines, then one empty line", place=f"{place}:{chunk.line}")
        here = f"{place}:{chunk.line}"
        return cls(
            sent_id=_text(_sent_id(comments), here),
            n=len(words),
            heads=[_head(row[_HEAD], len(words), f"{place}:{line}") for line, row in words],
            deprels=[_text(row[_DEPREL], f"{place}:{line}") for line, row in words],
            line=chunk.line,
            place=here,
            _lead=b"".join(lead),
            _comments=comments,
            _rows=rows,
            _tail=b"".join(tail),
        )

    @property
    def raw(self) -> bytes:
        """The block as read, with the empty lines around it."""
        return b"".join([self._lead, *self._comments, *map(b"\t".join, self._rows), self._tail])

    def comment(self, key: str) -> str | None:
        """The value of the first comment ``# key = value``, None where there is none."""
        pattern = re.compile(rb"#\s*%b\s*=\s*(.*?)\s*" % re.escape(key.encode()))
        match = next(filter(None, map(pattern.fullmatch, self._comments)), None)
        return _text(match[1], self.place) if match else None

    def with_trees(
        self,
        heads: NDArray[np.int32],
        sent_ids: Sequence[str],
        comments: Mapping[str, Sequence[str]] = _NOTHING,
        closing: Mapping[str, str] = _NOTHING,
    ) -> bytes:
        """The block once for each tree: HEAD, DEPREL and DEPS of its words change, empty nodes go, all else stays.

        A word whose HEAD is what it was keeps its DEPREL; another one is `dep`; `root` stands exactly where HEAD is 0.
        A byte order mark and empty lines in front stay where they are; the last copy ends as the block did.

        Args:
            heads: (k, n), 0 = ROOT.
            sent_ids: k names, in place of the sentence's own or, where it has none, in front of its comments.
            comments: for each key k values of a comment ``# key = value`` behind the others; older ones of the key go.
            closing: the same for the last tree only.
        """
        from deptree_cli.kernels.splicing import splice, spliced_size  # compiled code: not for those who only read

        pool, cuts, old = self._without({key.encode() for key in (*comments, *closing)})._splice
        template = "".join(f"# {key} = {{}}{self.newline}" for key in comments)
        notes = list(map(template.format, *comments.values())) if comments else [""] * len(heads)
        notes[-1] += "".join(f"# {key} = {value}{self.newline}" for key, value in closing.items())
        ids, id_cuts = _packed([sent_id.encode() for sent_id in sent_ids])
        noted, note_cuts = _packed([note.encode() for note in notes])
        out = np.empty(spliced_size(cuts, old, id_cuts, note_cuts, heads), dtype=np.uint8)
        splice(pool, cuts, old, ids, id_cuts, noted, note_cuts, heads, out)
        return out.tobytes()

    def with_misc(self, word_to_misc: Mapping[int, str], comments: Sequence[str] = ()) -> bytes:
        """The block as it is, plus comments, and `noting` some words."""
        added = [f"{comment}{self.newline}".encode() for comment in comments]
        kept = self._without({_key(line) for line in added})._comments
        return replace(self.noting(word_to_misc), _comments=[*kept, *added]).raw

    def noting(self, word_to_misc: Mapping[int, str]) -> Block:
        """The block with a `Key=value` in MISC of some words; an older value of the key goes."""
        additions = {b"%d" % word: entry.encode() for word, entry in word_to_misc.items()}
        rows = [_with_entry(row, additions[row[0]]) if row[0] in additions else row for row in self._rows]
        return replace(self, _rows=rows)

    def _without(self, keys: Set[bytes]) -> Block:
        """The block without comments ``# key = ...`` of these keys: what is said anew is not said twice."""
        kept = [comment for comment in self._comments if _key(comment) not in keys]
        return self if len(kept) == len(self._comments) else replace(self, _comments=kept)

    @cached_property
    def newline(self) -> str:
        """How the block's lines end."""
        first_line = self._comments[0] if self._comments else self._rows[0][-1]
        return "\r\n" if first_line.endswith(b"\r\n") else "\n"

    def _around_sent_id(self) -> tuple[bytes, bytes]:
        """The comments up to the sentence's name, and from behind it."""
        for number, comment in enumerate(self._comments):
            if match := _SENT_ID.fullmatch(comment):
                before, after = self._comments[:number], self._comments[number + 1 :]
                start, end = match.span(1)
                return b"".join(before) + comment[:start], comment[end:] + b"".join(after)
        return b"# sent_id = ", self.newline.encode() + b"".join(self._comments)

    @cached_property
    def _splice(self) -> tuple[Packed, Cuts, NDArray[np.int64]]:
        """The pieces that `kernels/splicing.py` copies, and the HEAD with which each word keeps its arc as read."""
        before, kept, old = [], [], []
        between = b""
        for row in self._rows:
            if row[0].isdigit():
                before.append(between + b"\t".join(row[:_HEAD]) + b"\t")
                arc = row[_HEAD : _DEPREL + 1]
                kept.append(b"\t".join(arc))
                old.append(_NO_HEAD if arc[0] in (b"_", b"0") or arc[1] in (b"_", b"root") else int(arc[0]))
                between = b"\t_\t" + row[_MISC]
            elif b"-" in row[0]:
                between += b"\t".join(row)
        newline = self.newline.encode()
        closed = between if between.endswith(b"\n") else between + newline
        arcs = [b"0\troot", *(b"%d\tdep" % head for head in range(1, self.n + 1))]
        ends = between + self._tail, closed + newline, self._lead, *self._around_sent_id()
        return *_packed([*before, *kept, *arcs, *ends]), np.array(old)


def _key(comment: bytes) -> bytes:
    """The key of a comment ``# key = value``; free text has one of its own, with the newline in it."""
    return comment.lstrip(b"#").partition(b"=")[0].strip(b" ") if b"=" in comment else comment


def _packed(pieces: Sequence[bytes]) -> tuple[Packed, Cuts]:
    """Pieces laid end to end, and where each begins and the last ends."""
    cuts = np.array([0, *accumulate(map(len, pieces))], dtype=np.int64)
    return np.frombuffer(b"".join(pieces), dtype=np.uint8), cuts


def _words(rows: list[list[bytes]], line: int, place: str) -> list[tuple[int, list[bytes]]]:
    """The rows of words with an integer id, each with its line number."""
    words: list[tuple[int, list[bytes]]] = []
    for number, row in enumerate(rows, line):
        if len(row) != 10:
            problem = f"{len(row)} column{'s' * (len(row) > 1)} where a word has 10, separated by tabs"
            raise DeptreeError(problem, "Repair the line; an empty line ends a sentence", place=f"{place}:{number}")
        if row[0] == b"%d" % (len(words) + 1):
            words.append((number, row))
        elif not _NOT_A_WORD.fullmatch(row[0]):
            problem = f"the word id is {_shown(row[0])} where {len(words) + 1} is due"
            raise DeptreeError(problem, "Number the words 1, 2, 3, ... in order", place=f"{place}:{number}")
    return words


def _head(text: bytes, n: int, place: str) -> int | None:
    if text == b"_":
        return None
    if text.isdigit() and len(text) < 10 and int(text) <= n:
        return int(text)
    raise DeptreeError(f"HEAD is {_shown(text)}, not _ or 0 to {n}", "Repair the line", place=place)


def _sent_id(comments: list[bytes]) -> bytes:
    return next((match[1] for match in map(_SENT_ID.fullmatch, comments) if match), b"")


def _text(text: bytes, place: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise DeptreeError(f"{_shown(text)} is not UTF-8", "Convert the file to UTF-8", place=place) from None


def _shown(text: bytes) -> str:
    return repr(text[:20].decode("utf-8", "replace"))


def _with_entry(row: list[bytes], entry: bytes) -> list[bytes]:
    misc = row[_MISC].rstrip(b"\r\n")
    key = entry.partition(b"=")[0] + b"="
    entries = [old for old in misc.split(b"|") if old != b"_" and not old.startswith(key)]
    return [*row[:_MISC], b"|".join([*entries, entry]) + row[_MISC][len(misc) :]]
