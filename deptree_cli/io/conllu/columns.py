"""The columns of a file, read or written: the ten of CoNLL-U, or those that the first line of CoNLL-U Plus names.

``# global.columns = ID FORM UPOS HEAD DEPREL PARSEME:MWE``: any of the ten, and others. What we read, we look up by
these names; all else is copied.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import suffix_of
from deptree_cli.kernels.text.columns import HEAD_START, NO_COLUMN

# Those of CoNLL-U, as we call them.
COLUMNS: tuple[str, ...] = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

# In the place of a value of a column that a file does not have.
UNKNOWN = "_"

BOM = b"\xef\xbb\xbf"

_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(#[^\S\n]*global\.columns[^\S\n]*=[^\n]*\n?)")
_SOUGHT = ("form", "head", "deprel", "deps", "misc")
_WRITTEN = _SOUGHT[1:]


def header_of(data: bytes) -> bytes:
    """The line ``# global.columns = ...`` with which bytes begin, behind a byte order mark; empty if there is none."""
    found = _HEADER.match(data)
    return found[1] if found else b""


def header_for(names: tuple[str, ...], newline: str) -> bytes:
    return f"# global.columns = {' '.join(names).upper()}{newline}".encode()


def named_by(header: bytes, place: str) -> tuple[str, ...]:
    """The columns that a first line names, in small letters; the ten of CoNLL-U if there is none.

    Raises:
        DeptreeError: one is named twice, or ID does not come first; with `place`.
    """
    if not header:
        return COLUMNS
    names = header.partition(b"=")[2].decode("utf-8", "replace").split()
    columns = tuple(name.lower() for name in names)
    if columns[:1] != ("id",) or len(columns) == 1:
        problem = f"# global.columns names {shown(columns) or 'nothing'}: ID and another column must come first"
        raise DeptreeError(problem, "Put ID in front", place=place)
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise DeptreeError(f"# global.columns names {twice[0].upper()} twice", "Name each column once", place=place)
    return columns


class Layout(NamedTuple):
    """The columns of a file's rows.

    Attributes:
        names: in order and in small letters.
        places: what `scan` is told of them.
        written: where `Template.words` has those that are written, in order.
    """

    names: tuple[str, ...]
    places: Int
    written: Int


@lru_cache(64)
def layout_of(header: bytes, place: str) -> Layout:
    names = named_by(header, place)
    found = [names.index(name) if name in names else NO_COLUMN for name in _SOUGHT]
    written = sorted((names.index(name), number) for number, name in enumerate(_WRITTEN) if name in names)
    starts = [HEAD_START + 2 * number for _, number in written]
    return Layout(names, np.array([len(names), *found], dtype=np.int64), np.array(starts, dtype=np.int64))


# That of CoNLL-U.
TEN = layout_of(b"", "")


def shown(columns: tuple[str, ...]) -> str:
    return " ".join(columns).upper()


def no_column(name: str, columns: tuple[str, ...], what: str, place: str) -> DeptreeError:
    """Build the error of something that is to be written where there is no column for it.

    Args:
        what: is to be written.
    """
    problem = f"there is no column {name.upper()} for {what}: # global.columns names {shown(columns)}"
    return DeptreeError(
        problem, f"Add {name.upper()} to that line and _ to every row, or write JSON Lines", place=place
    )


# Of files that hold sentences.
CONLLU_SUFFIXES = (".conllu", ".conllup", ".cupt", ".conll")

# Of those that always have ten columns, and of those that always name them.
_TEN, _NAMED = CONLLU_SUFFIXES[:2]


class FileColumns:
    """What sentences on their way into one file say of their columns; each of CoNLL-U Plus does.

    Args:
        path: the file, None for standard output.

    Attributes:
        names: its columns, in small letters.
    """

    def __init__(self, path: str | None) -> None:
        self._path, self._suffix = path or "", suffix_of(path)
        self.names = COLUMNS

    def first(self, sentence: bytes) -> bytes:
        """The first sentence, in front of it the line that names columns, if the file is to have one.

        Raises:
            DeptreeError: the file's name promises the columns of CoNLL-U, and they are others.
        """
        header = header_of(sentence)
        self.names = layout_of(header, self._path).names
        if self.names != COLUMNS and self._suffix == _TEN:
            problem = f"{_TEN} is the suffix of CoNLL-U, but the columns are {shown(self.names)}"
            raise DeptreeError(problem, f"Name a file {_NAMED}", place=self._path)
        if not header and self._suffix == _NAMED:
            text = sentence.removeprefix(BOM)
            mark = sentence[: len(sentence) - len(text)]
            return mark + header_for(COLUMNS, "\r\n" if b"\r\n" in text else "\n") + text
        return sentence

    def another(self, sentence: bytes) -> bytes:
        """One that is not the first, without that line.

        Raises:
            DeptreeError: it has other columns than the first.
        """
        header = header_of(sentence)
        names = layout_of(header, self._path).names
        if names != self.names:
            problem = f"sentences with columns {shown(self.names)} and {shown(names)} in one file"
            raise DeptreeError(problem, "Give files of the same columns together", place=self._path)
        return sentence[len(header) :]
