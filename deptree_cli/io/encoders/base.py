"""What a format of results is: how a result becomes what is written, and how a file of these is begun and ended."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, printable
from deptree_cli.io.files.output import CONLLU_SUFFIXES, Output, until_the_end
from deptree_cli.io.json_lines import dump

if TYPE_CHECKING:
    from deptree_cli.io.conllu.splicing import Spliced

Row = Mapping[str, Any]

# Writes what a result was encoded as.
Write = Callable[[Any], object]


class Sheet(NamedTuple):
    """How rows are laid out: the columns of TSV and of a table (JSON has whatever a row has), and a table's title.

    A table's headings are by the names of its columns; without them it has the columns that are filled anywhere.
    """

    columns: Sequence[str] = ()
    title: str = ""
    headings: Mapping[str, str] | None = None


class Page(NamedTuple):
    """What a file has beside its results.

    Attributes:
        signature: how these were made.
        header: whether it is shown where the format leaves the choice; None for what is usual there.
        sheet: how rows are laid out.
        about: what formats of scores (`LAYOUT_ASKED`) and of reports (`Report`) are to know of all results.
    """

    signature: str
    header: bool | None = None
    sheet: Sheet = Sheet()
    about: Any = None


@dataclass(frozen=True, slots=True)
class Encoder:
    """A format of results.

    Attributes:
        name: how ``--format`` calls it.
        suffixes: of its files, with their dot and in small letters, the usual one first.
        encode: what becomes of a result, with the `Style` of trees; workers call it.
        open: opens a file, None for standard output, that takes what `encode` returned.
        skipped: what stands in the place of a result that is missing; None for nothing.
        for_people: whether it is what a terminal gets, unless a format is asked for.
        header: whether the signature is shown or not, as one likes.
    """

    name: str
    suffixes: tuple[str, ...]
    encode: Callable[[Any, Any], Any]
    open: Callable[[str | None, Page], AbstractContextManager[Write]]
    skipped: Any = None
    for_people: bool = False
    header: bool = True


BARE = Page("", header=False)


def also(path: str | None, encoder: Encoder, page: Page = BARE) -> Callable[[Any], object]:
    """Return what writes results into a file beside those of the run; without a path it does nothing."""
    if path is None:
        return lambda result: None
    write = until_the_end(encoder.open(path, page))
    return lambda result: write(encoder.encode(result, None))


# What may stand before the first sentence: a byte order mark, empty lines; the columns of CoNLL-U Plus.
_BEFORE_FIRST = re.compile(rb"(\xef\xbb\xbf)?(#[ \t]*global\.columns[^\n]*\n)?([ \t]*\r?\n)*")


def by_method(name: str, result: Any, _: Any) -> Any:
    """What a method of the result returns; with its name, `encode` of an encoder, which workers can be sent."""
    return getattr(result, name)()


def _to_conllu(result: Any, style: Any) -> Any:
    return result.to_conllu(style)


@contextmanager
def _conllu(path: str | None, page: Page) -> Iterator[Write]:
    """CoNLL-U with the signature as the first comment, unless it is not wanted.

    An empty line stands between sentences; a byte order mark, and the columns of CoNLL-U Plus, at most at the start,
    whatever files they are from.
    """
    from deptree_cli.io.conllu.blocks import separator  # what few formats need
    from deptree_cli.io.conllu.columns import BOM, FileColumns

    with Output(path) as out:
        signature = "" if page.header is False else page.signature
        before: bytes | None = None
        columns = FileColumns(path)

        def write(written: bytes | Spliced) -> None:
            nonlocal signature, before
            chunk = written if isinstance(written, bytes) else written.data
            chunk = columns.first(chunk) if before is None else before + columns.another(chunk.removeprefix(BOM))
            out.write(_with_generator(chunk, signature) if signature else chunk)
            signature, before = "", separator(chunk)

        yield write


def _with_generator(chunk: bytes, signature: str) -> bytes:
    """The first sentence with the signature as its first comment, in the sentence's style of newline."""
    match = _BEFORE_FIRST.match(chunk)
    start = match.end() if match else 0
    newline = b"\r\n" if chunk[start:].split(b"\n", 1)[0].endswith(b"\r") else b"\n"
    return chunk[:start] + b"# generator = " + signature.encode() + newline + chunk[start:]


def _to_jsonl(result: Any, _: Any) -> Any:
    return result.to_jsonl() if hasattr(result, "to_jsonl") else b"".join(map(dump, rows_of(result)))


@contextmanager
def _jsonl(path: str | None, page: Page) -> Iterator[Write]:
    with Output(path) as out:
        if page.header:
            out.write(dump({"signature": page.signature}))
        yield out.write


def rows_of(result: Any, _: Any = None) -> Iterable[Row]:
    """The rows of a result; a tuple in one is written with commas where there are cells."""
    return [result] if isinstance(result, Mapping) else result if isinstance(result, list) else result.rows()


@contextmanager
def _tsv(path: str | None, page: Page) -> Iterator[Write]:
    with Output(path) as out:
        columns = page.sheet.columns
        before = ((f"# {page.signature}\n" if page.header else "") + "\t".join(columns) + "\n").encode()

        def write(rows: Iterable[Row] | bytes) -> None:
            nonlocal before
            if not isinstance(rows, bytes):
                lines = ("\t".join(_cell(name, row.get(name)) for name in columns) + "\n" for row in rows)
                rows = "".join(lines).encode()
            if rows:
                out.write(before + rows)
                before = b""

        yield write
        if columns:
            out.write(before)  # nothing, unless there are no rows


def _flattened(result: Any, _: Any) -> list[Row] | bytes:
    """The rows of a result, objects in them as fields of their own: ``depth.unbiased``; or its lines."""
    if hasattr(result, "to_tsv"):
        lines: bytes = result.to_tsv()
        return lines
    return [dict(_fields(row)) for row in rows_of(result)]


def _fields(row: Row) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{key}", each) for key, each in value.items())
        else:
            yield name, value


def _cell(name: str, value: object) -> str:
    """A value as text, numbers as JSON has them; nothing for None. A list has no place in a cell."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, list):
        raise DeptreeError(f"{name} is more than a number, which TSV cannot store", "Write JSON Lines")
    if value is None:
        return ""
    if isinstance(value, str):
        return printable(value)
    return dump(value).decode().strip()


def cells(name: str, values: Iterable[Any]) -> list[bytes]:
    return [_cell(name, value).encode() for value in values]


def numbers_as_cells(values: Array) -> list[bytes]:
    """Numbers of a column (m,) as text, all at once; nothing for NaN, and ValueError for an infinite one."""
    unknown = np.flatnonzero(np.isnan(values)).tolist()
    found = dump((np.where(np.isnan(values), 0.0, values) if unknown else values).tolist())[1:-2].split(b",")
    for at in unknown:
        found[at] = b""
    return found


@contextmanager
def _lines(path: str | None, page: Page) -> Iterator[Write]:
    with Output(path) as out:
        yield out.write


CONLLU = Encoder("conllu", CONLLU_SUFFIXES, _to_conllu, _conllu)
JSONL = Encoder("jsonl", (".jsonl", ".ndjson"), _to_jsonl, _jsonl)
TSV = Encoder("tsv", (".tsv",), _flattened, _tsv)
_TO_PHARAOH = partial(by_method, "to_pharaoh")
PHARAOH = Encoder("pharaoh", (".align", ".pharaoh", ".txt"), _TO_PHARAOH, _lines, skipped=b"\n", header=False)
