"""Sentences of CoNLL-U: bytes cut behind the empty lines, nothing lost; their columns, words and surface tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from functools import cache, cached_property
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.conllu.columns import (
    BOM,
    COLUMNS,
    MISC,
    TEN,
    UNKNOWN,
    UNLABELLED,
    decoded,
    header_of,
    is_note,
    is_signature,
    key_of,
    keys_in,
    keys_of,
    layout_of,
    malformed,
    may_hold,
    no_column,
)
from deptree_cli.io.files.streams import rewound, seekable
from deptree_cli.kernels.budget import BYTES, foresee
from deptree_cli.kernels.columns import (
    BEGUN,
    DEPREL_END,
    DEPREL_START,
    EMPTY,
    FINE,
    HEAD,
    LINE,
    LINE_START,
    NO_HEAD,
    NO_NUMBER,
    WORD_FACTS,
    Template,
)

if TYPE_CHECKING:
    from conllu.models import TokenList


_READ, _AHEAD = 1 << 18, 1 << 13

# A hundred thousand words with long lines.
LONGEST_SENTENCE = 1 << 26

_LINES = re.compile(rb"[^\n]*\n|[^\n]+").findall

SENT_ID = re.compile(rb"^#[^\S\n]*sent_id[^\S\n]*=[^\S\n]*(\S(?:[^\n]*\S)?)", re.MULTILINE)


class Chunk(NamedTuple):
    """The bytes of one sentence with the empty lines around it, and the number of their first line in the file.

    In CoNLL-U Plus those of every sentence begin with the file's first line, `header`, behind a byte order mark: each
    says which columns it has, wherever it goes; what writes them leaves the first one alone. `line` is then that of the
    line before the sentence. `feats`: whether some word of the file is known to have FEATS.
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
    """The same, after a look for FEATS, wherever in the file they begin; a pipe that begins without some is copied."""
    ahead, feats = b"", False
    while not feats and len(ahead) < _AHEAD and (line := stream.readline(_AHEAD)):
        ahead += line
        feats = has_feats(ahead)
    stream = rewound(ahead, stream)  # type: ignore[arg-type]
    with nullcontext(stream) if feats else seekable(stream) as again:
        with suppress(DeptreeError):  # raised behind the sentences in front of it
            feats = feats or any(map(_in_chunk, split_chunks(again)))
        if again.seekable():
            again.seek(0)
        yield from (chunk._replace(feats=feats) for chunk in split_chunks(again, place))


def has_feats(data: bytes) -> bool:
    """Whether a word or an empty node has FEATS, in the columns that the first line may name."""
    return _in_chunk(Chunk(data, 1, header_of(data)))


def _in_chunk(chunk: Chunk) -> bool:
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
    foresee((len(buffer) - scanned) / BYTES)
    from deptree_cli.kernels.text import sentence_ends  # loaded when there is something to read

    ends = np.empty(len(buffer) - scanned + 1, dtype=np.int64)
    return ends[: sentence_ends(np.frombuffer(buffer, dtype=np.uint8), scanned, state, ends)].tolist()


# What `Block.heads` has for a HEAD that is not a number, if any heads are read.
NO_WORD = -1


def read_blocks_or_errors(
    stream: BinaryIO, place: str, any_heads: bool = False, feats: bool = False
) -> Iterator[Block | DeptreeError]:
    """The sentences of a binary stream, or the errors of those that are malformed.

    `any_heads`: see `Block`; `feats`: whether to look first whether words of the file have FEATS.
    """
    for chunk in split_with_feats(stream, place) if feats else split_chunks(stream, place):
        try:
            yield Block(chunk, place, any_heads)
        except DeptreeError as error:
            yield error.at(sent_id=chunk.sent_id)


@cache
def _scan() -> Callable[..., Any]:
    from deptree_cli.kernels.text import scan  # loaded when there is something to read

    return scan


class Block:
    """One sentence: its bytes, and the number of their first line; `file` is what messages call the file.

    With `any_heads` HEAD may be anything, for those who look at heads themselves: the number of no word, the word
    itself, no number. Otherwise it is `_` or 0 to n.

    Attributes:
        columns: those of its rows, in order and in small letters: the ten of CoNLL-U, or what CoNLL-U Plus names.
        sent_id: from the comment ``# sent_id = ...``, else empty; `id_span`: where it begins and ends in the bytes.
        n, empty_nodes: the numbers of words with an integer id, and of empty nodes.
        template: the bytes, and the places in them where `splicing.py` writes trees.

    Raises:
        DeptreeError: other columns, ids that are not 1, 2, 3, ..., an empty FORM, a HEAD that is not a word, no words.
    """

    def __init__(self, chunk: Chunk, file: str, any_heads: bool = False) -> None:
        self.chunk, self.file, self.any_heads = chunk, file, any_heads
        data, header = chunk.data, chunk.header
        start = (len(BOM) if data.startswith(BOM) else 0) + len(header)
        layout = layout_of(header, file) if header else TEN
        self.columns = layout.names
        rows = np.empty((data.count(b"\n") + 2, max(WORD_FACTS, len(self.columns) + 1)), dtype=np.int64)
        array = np.frombuffer(data, dtype=np.uint8)
        wrong, *found = _scan()(array, start, rows, layout.places, any_heads)
        if wrong != FINE:
            raise self._problem(wrong, start, *found)
        self.start, self._rows_start, self._rows_end, self.n, self.empty_nodes = found
        if not self.n:
            what = "no words" if self._rows_start < self._rows_end else "comments without a sentence"
            raise DeptreeError(what, "Give each sentence its lines, then one empty line", place=self.place)
        self._words = rows[1 : self.n + 1]
        empty_nodes = rows[: -self.empty_nodes - 1 : -1]
        places = self.start, self._rows_start, self._rows_end
        self.template = Template(array, *places, self._words, empty_nodes, layout.written)
        match = SENT_ID.search(self._comments)
        self.id_span = (self.start + match.start(1), self.start + match.end(1)) if match else None
        self.sent_id = decoded(match[1], self.place) if match else ""

    def __reduce__(self) -> tuple[type[Block], tuple[Chunk, str, bool]]:
        """Between processes the bytes travel; looking at them again is quicker than carrying what was seen."""
        return Block, (self.chunk, self.file, self.any_heads)

    def _problem(self, wrong: int, scanned: int, line: int, start: int, end: int, n: int, width: int) -> DeptreeError:
        if b"\0" in self.raw:
            return DeptreeError("not CoNLL-U, which is text in UTF-8", "Name a file of trees", place=self.file)
        line += self.chunk.line + self.raw.count(b"\n", 0, scanned)
        return malformed(wrong, self.raw[start:end], f"{self.file}:{line}", n, width, self.columns)

    @property
    def raw(self) -> bytes:
        return self.chunk.data

    @cached_property
    def line(self) -> int:
        return self.chunk.line + self.raw.count(b"\n", 0, self.start)

    def line_of(self, word: int) -> int:
        return int(self._words[word - 1, LINE]) + self.chunk.line + bool(self.chunk.header)

    @property
    def place(self) -> str:
        """``file:line``, for messages."""
        return f"{self.file}:{self.line}"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.sent_id,) if self.sent_id else ()

    @property
    def heads(self) -> list[int | None]:
        """The words' heads, 0 = ROOT, None where the column is ``_``.

        With `any_heads` also numbers beyond the sentence, and `NO_WORD` if the column is not a number (up to 9 digits):
        `column` has what is written there.
        """
        heads = self._words[:, HEAD].tolist()
        return [None if head == NO_HEAD else NO_WORD if head == NO_NUMBER else head for head in heads]

    @property
    def known_heads(self) -> Heads:
        """The same as an array, (n,), -1 where no word is the head."""
        heads = self._words[:, HEAD].astype(np.int32)
        return np.where(heads > self.n, NO_HEAD, np.maximum(heads, NO_HEAD))

    @property
    def deprels(self) -> list[str]:
        if "deprel" not in self.columns:
            return [UNKNOWN] * self.n
        spans, data, place = self._words[:, [DEPREL_START, DEPREL_END]].tolist(), self.raw, self.place
        return [decoded(data[start:end], place) for start, end in spans]

    @property
    def labels(self) -> list[str | None]:
        """The words' labels, None where there is none, and for `dep` without a word as head: it says nothing then."""
        words = zip(self.heads, self.deprels, strict=True)
        return [None if name in ("_", "") or (name == UNLABELLED and not head) else name for head, name in words]

    def column(self, name: str) -> list[str]:
        """A column of the words, by its name, such as ``upos``; ``_`` for each if the file does not have it."""
        cells, place = self.cells("id", name), self.place
        return [decoded(value, place) for number, value in cells if number.isdigit()]

    def cells(self, *names: str) -> Iterator[tuple[bytes, ...]]:
        """What all rows have in some columns, those of multiword tokens and empty nodes too."""
        places = [self.columns.index(name) if name in self.columns else None for name in names]
        for line in self.raw[self._rows_start : self._rows_end].split(b"\n"):
            if line:
                row = line.rstrip(b"\r").split(b"\t")
                yield tuple([b"_" if place is None else row[place] for place in places])

    def comment(self, key: str) -> str | None:
        pattern = rb"^#[^\S\n]*%b[^\S\n]*=[^\S\n]*([^\n]*)" % re.escape(key.encode())
        match = re.search(pattern, self._comments, re.MULTILINE)
        return decoded(match[1].strip(), self.place) if match else None

    @property
    def _comments(self) -> bytes:
        return self.chunk.data[self.start : self._rows_start]

    @property
    def comments(self) -> list[bytes]:
        """The lines of its comments, with their newlines; a lone carriage return ends none."""
        return _LINES(self._comments)

    def with_notes(
        self, word_to_misc: Mapping[int, str], comments: Sequence[str] = (), instead: Set[bytes] = frozenset()
    ) -> bytes:
        """The block as it is, plus comments, and `noting` some words; older ones of their keys, and signatures, go.

        instead: keys of comments, and of MISC of these words, that go whether or not there are new ones.
        """
        added = [f"{comment}{self.newline}".encode() for comment in comments]
        noted = self.noting(word_to_misc, instead).without({*instead, *map(key_of, added)})
        return b"".join([noted.raw[: noted._rows_start], *added, noted.raw[noted._rows_start :]])

    def noting(self, word_to_misc: Mapping[int, str], instead: Set[bytes] = frozenset()) -> Block:
        """The block with `Key=value` (several: `A=1|B=2`) in MISC of some words; older values of the keys go.

        instead: more keys whose values go.
        """
        if not word_to_misc:
            return self
        additions = {b"%d" % word: entry.encode() for word, entry in word_to_misc.items()}
        if "misc" not in self.columns:
            raise no_column("misc", self.columns, ", ".join(keys_in(additions.values())), self.place)

        def noted(number: bytes, misc: bytes) -> bytes:
            if (addition := additions.get(number)) is None:
                return misc
            if misc == b"_":
                return addition or misc
            gone = instead | keys_of(addition) if addition else instead
            entries = [entry for entry in misc.split(b"|") if entry.partition(b"=")[0] not in gone]
            if not addition and len(entries) > misc.count(b"|"):  # nothing went
                return misc
            kept = [entry for entry in entries if entry != b"_"]
            return b"|".join([*kept, *[addition] * bool(addition)]) or b"_"

        return self._with_cells("misc", noted)

    def with_column(self, name: str, values: Sequence[str]) -> Block:
        """The block with other values, n of them, in a column of the words, which is not the first.

        Raises DeptreeError if there is no such column, and they are not all ``_``.
        """
        if name not in self.columns:
            if {*values} <= {UNKNOWN}:
                return self
            raise no_column(name, self.columns, "what is known of words", self.place)
        texts = iter(values)
        return self._with_cells(name, lambda number, old: next(texts).encode() if number.isdigit() else old)

    def _with_cells(self, name: str, another: Callable[[bytes, bytes], bytes]) -> Block:
        """The block with another value in a column of each row, by the row's ID and its value."""
        place, written = self.columns.index(name), []
        for line in _LINES(self.raw[self._rows_start : self._rows_end]):
            row = line.split(b"\t")
            old = row[place].rstrip(b"\r\n")
            row[place] = another(row[0], old) + row[place][len(old) :]
            written.append(b"\t".join(row))
        return self._with(self._rows_start, written, self._rows_end)

    def fresh(self) -> Block:
        """The block without the notes and signatures of earlier commands, which another tree makes untrue."""
        block = self
        if may_hold(self._comments):
            block = self._leaving(lambda comment: not is_note(key_of(comment)))
        if "misc" in self.columns and any(key + b"=" in self.raw for key in MISC):
            block = block.noting(dict.fromkeys(range(1, self.n + 1), ""), MISC)
        return block

    def _leaving(self, stays: Callable[[bytes], bool]) -> Block:
        """The block with those of its comments that stay, and without signatures of ours."""
        kept = [each for each in self.comments if stays(each) and not is_signature(each)]
        return self if len(kept) == len(self.comments) else self._with(self.start, kept, self._rows_start)

    def _with(self, start: int, lines: Sequence[bytes], end: int) -> Block:
        data = b"".join([self.raw[:start], *lines, self.raw[end:]])
        return Block(self.chunk._replace(data=data), self.file, self.any_heads)

    def without(self, keys: Set[bytes]) -> Block:
        """The block without comments ``# key = ...`` of these keys, and without signatures: what is said anew."""
        return self._leaving(lambda comment: key_of(comment) not in keys) if may_hold(self._comments, keys) else self

    @property
    def newline(self) -> str:
        return "\r\n" if self.chunk.data[: self.chunk.data.find(b"\n", self.start)].endswith(b"\r") else "\n"


def in_utf8(block: Block) -> bytes:
    """The bytes of a sentence, for what must be UTF-8."""
    decoded(block.raw, block.place)
    return block.raw


def block_of(sent_id: str, forms: Sequence[str]) -> Block:
    """A sentence that nobody read: nothing is known of it but its words."""
    rows = "".join(f"{word}\t{form}" + "\t_" * 8 + "\n" for word, form in enumerate(forms, 1))
    text = f"# sent_id = {sent_id}\n# text = {' '.join(forms)}\n{rows}\n"
    return Block(Chunk(text.encode(), 1), sent_id)


# The words of many sentences at once, one sentence behind the other, without a string of a word: what a column has are
# bytes, `numbered` makes numbers of them, and whoever wants names decodes each that there is, once.


def word_starts(blocks: Sequence[Block]) -> Int:
    """Where the words of each of S sentences begin, and where the last end, (S + 1,)."""
    return np.cumsum([0, *(block.n for block in blocks)])


def heads_of(blocks: Sequence[Block]) -> Int:
    """The heads of all words, 0 = ROOT, negative where the column is not a number."""
    return np.concatenate([block.template.words[:, HEAD] for block in blocks])  # type: ignore[index]


def columns_of(blocks: Sequence[Block], *names: str) -> list[list[bytes]]:
    """What all words have in some columns; ``_`` for each where a file does not have it."""
    found: list[list[bytes]] = [[] for _ in names]
    for columns, alike in groupby(blocks, lambda block: block.columns):
        together = list(alike)
        data = b"\n".join(block.raw[block.template.rows_start : block.template.rows_end] for block in together)
        lines = data.replace(b"\r\n", b"\n").split(b"\n")
        rows = [line.rstrip(b"\r").split(b"\t") for line in lines if line]
        if len(rows) > sum(block.n for block in together):  # multiword tokens and empty nodes are not words
            rows = [row for row in rows if row[0].isdigit()]
        for name, cells in zip(names, found, strict=True):
            place = columns.index(name) if name in columns else None
            cells += [UNKNOWN.encode()] * len(rows) if place is None else [row[place] for row in rows]
    return found


def numbered(cells: Sequence[bytes]) -> tuple[list[bytes], Int]:
    """What stands in a column, each once, in the order in which it came; and the number of each word's."""
    known = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
    return list(known), np.fromiter(map(known.__getitem__, cells), dtype=np.int64, count=len(cells))


def tokens_of(block: Block) -> TokenList:
    """The tokens of a block, with the columns that it has, by their names in small letters."""
    import conllu
    from conllu.models import Metadata

    text = block.raw.removeprefix(BOM).removeprefix(block.chunk.header)
    tokens = conllu.parse(text.decode(), fields=block.columns)[0]
    if block.chunk.header:  # in front of each sentence: what is written of any of them says which columns it has
        names = {"global.columns": block.chunk.header.partition(b"=")[2].strip().decode()}
        tokens.metadata = Metadata({**names, **tokens.metadata})
    return tokens


class Region(NamedTuple):
    """A stretch of words that a reader sees as one, ``3`` or ``3-4``: its first and last word, and what is written."""

    id: str
    form: str
    first: int
    last: int


def wrong_tokens(block: Block) -> list[tuple[str, str, int, int, bytes]]:
    """The multiword tokens that are not in front of their words, end beyond the sentence or overlap others: of each
    what the UD validator calls it, what is wrong, its first and last word, and its form."""
    found, words, covered = [], 0, 0
    rows = block.raw[block.template.rows_start :]
    if not (b"-" in rows.partition(b"\t")[0] or re.search(rb"\n[0-9]+-", rows)):
        return []
    for number, form in block.cells("id", "form"):
        words += number.isdigit()
        if b"-" not in number:
            continue
        first, last = map(int, number.split(b"-"))
        if words < first and block.n < last:
            found.append(("word-interval-out", f"ends beyond the {counted(block.n, 'word')}", first, last, form))
        elif words < first <= covered:
            found.append(("overlapping-word-intervals", "overlaps another", first, last, form))
            covered = max(covered, last)
        elif first != words + 1:
            found.append(("misplaced-word-interval", "is not in front of its first word", first, last, form))
        else:
            covered = last
    return found


def error_of_tokens(block: Block) -> DeptreeError | None:
    """What is wrong with the first of them; None if there are none."""
    if not (found := wrong_tokens(block)):
        return None
    _, what, first, last, _ = found[0]
    problem, remedy = f"the multiword token {first}-{last} {what}", "Correct the ids of multiword tokens"
    return DeptreeError(problem, remedy, place=block.place, sent_id=block.sent_id)


def words_of(block: Block) -> list[Region]:
    forms = enumerate(columns_of([block], "form")[0], 1)
    return [Region(str(word), _text(form, block), word, word) for word, form in forms]


def surface_tokens(block: Block) -> list[Region]:
    """The tokens in order; every word belongs to exactly one."""
    return [token for token, _ in _tokens(block)]


def between_spaces(block: Block) -> list[Region]:
    """What stands between spaces, in order: tokens, with those behind them if SpaceAfter=No joins them.

    As UD has it, the line of a multiword token says whether a space follows; the lines of its words say nothing.
    """
    found, joined = list[Region](), False
    for token, misc in _tokens(block):
        if joined:
            one = found.pop()
            token = Region(f"{one.first}-{token.last}", one.form + token.form, one.first, token.last)
        found.append(token)
        joined = b"SpaceAfter=No" in misc.split(b"|")
    _check_text(found, block)
    return found


# What a surprisal, or another number that adds up over words, may be given of.
REGIONS = {"words": words_of, "tokens": surface_tokens, "spaces": between_spaces}


def _tokens(block: Block) -> Iterator[tuple[Region, bytes]]:
    """The tokens, each with MISC of its line."""
    if error := error_of_tokens(block):
        raise error
    covered = 0
    for number, form, misc in block.cells("id", "form", "misc"):
        first, _, last = number.partition(b"-")
        if first.isdigit() and int(first) > covered:  # not an empty node, nor a word of a multiword token
            covered = int(last or first)
            yield Region(number.decode(), _text(form, block), int(first), covered), misc


def _check_text(regions: Sequence[Region], block: Block) -> None:
    """Raise if the sentence has a text that is divided otherwise; a word may have spaces within."""
    if (text := block.comment("text")) is None:
        return
    for pair in zip_longest(" ".join(region.form for region in regions).split(), text.split()):
        if pair[0] != pair[1]:
            shown = " but ".join(f"{each!r}" if each else "nothing" for each in pair)
            problem = f"SpaceAfter and # text disagree: by SpaceAfter a reader sees {shown} in # text"
            raise DeptreeError(problem, "Correct one of them", place=block.place, sent_id=block.sent_id)


def _text(form: bytes, block: Block) -> str:
    try:
        return form.decode()
    except UnicodeDecodeError:
        raise DeptreeError("a form is not UTF-8", "Convert the file to UTF-8", place=block.place) from None
