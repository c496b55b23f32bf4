"""The columns of a file, read or written: the ten of CoNLL-U, or those that the first line of CoNLL-U Plus names.

``# global.columns = ID FORM UPOS HEAD DEPREL PARSEME:MWE``: any of the ten, and others. What we read, we look up by
these names; all else is copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.files.output import CONLLU_SUFFIXES, suffix_of
from deptree_cli.kernels.columns import (
    BAD_COLUMNS,
    BAD_FORM,
    BAD_HEAD,
    BAD_ID,
    BAD_NUMBER,
    BAD_RANGE,
    HEAD_START,
    NO_COLUMN,
)

# Those of CoNLL-U, as we call them.
COLUMNS: tuple[str, ...] = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

# In the place of a value of a column that a file does not have, and where no label is known.
UNKNOWN, UNLABELLED = "_", "dep"

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


class Layout(NamedTuple):
    """The columns of a file's rows: their names, in order and in small letters; their `places`, as `scan` is told them;
    and where `Template.words` has those that are written, in order."""

    names: tuple[str, ...]
    places: Int
    written: Int


@lru_cache(64)
def layout_of(header: bytes, place: str) -> Layout:
    """The columns that a first line names; the ten of CoNLL-U if there is none."""
    names = tuple(header.partition(b"=")[2].decode("utf-8", "replace").lower().split()) if header else COLUMNS
    if names[:1] != ("id",) or len(names) == 1:
        problem = f"# global.columns names {shown_columns(names) or 'nothing'}: ID and another column must come first"
        raise DeptreeError(problem, "Put ID in front", place=place)
    if twice := [name for name in names if names.count(name) > 1]:
        raise DeptreeError(f"# global.columns names {twice[0].upper()} twice", "Name each column once", place=place)
    found = [names.index(name) if name in names else NO_COLUMN for name in _SOUGHT]
    written = sorted((names.index(name), number) for number, name in enumerate(_WRITTEN) if name in names)
    starts = [HEAD_START + 2 * number for _, number in written]
    return Layout(names, np.array([len(names), *found], dtype=np.int64), np.array(starts, dtype=np.int64))


# That of CoNLL-U.
TEN = layout_of(b"", "")


def shown_columns(columns: tuple[str, ...]) -> str:
    return " ".join(columns).upper()


def no_column(name: str, columns: tuple[str, ...], what: str, place: str) -> DeptreeError:
    """Build the error of `what`, which is to be written where there is no column for it."""
    problem = f"there is no column {name.upper()} for {what}: # global.columns names {shown_columns(columns)}"
    remedy = f"Add {name.upper()} to that line and _ to every row, or write JSON Lines"
    return DeptreeError(problem, remedy, place=place)


# Of files that always have ten columns, and of those that always name them.
_TEN, _NAMED = CONLLU_SUFFIXES[:2]


class FileColumns:
    """What sentences on their way into one file say of their columns, `names`; each of CoNLL-U Plus does."""

    def __init__(self, path: str | None) -> None:
        self._path, self._suffix = path or "", suffix_of(path)
        self.names = COLUMNS

    def first(self, sentence: bytes) -> bytes:
        """The first sentence, in front of it the line that names columns, if the file is to have one."""
        header = header_of(sentence)
        self.names = layout_of(header, self._path).names
        if self.names != COLUMNS and self._suffix == _TEN:
            problem = f"{_TEN} is the suffix of CoNLL-U, but the columns are {shown_columns(self.names)}"
            raise DeptreeError(problem, f"Name a file {_NAMED}", place=self._path)
        if not header and self._suffix == _NAMED:
            text = sentence.removeprefix(BOM)
            mark = sentence[: len(sentence) - len(text)]
            return mark + header_for(COLUMNS, "\r\n" if b"\r\n" in text else "\n") + text
        return sentence

    def another(self, sentence: bytes) -> bytes:
        """One that is not the first, without that line."""
        header = header_of(sentence)
        names = layout_of(header, self._path).names
        if names != self.names:
            problem = f"sentences with columns {shown_columns(self.names)} and {shown_columns(names)} in one file"
            raise DeptreeError(problem, "Give files of the same columns together", place=self._path)
        return sentence[len(header) :]


def malformed(wrong: int, text: bytes, place: str, n: int, width: int, columns: tuple[str, ...]) -> DeptreeError:
    """Build the error of a line by what `scan` found wrong with it.

    `text` is the wrong text, n how many words come before (where a HEAD is wrong: there are), `width` how many columns
    the line has, and `columns` are those that it should have.
    """
    if wrong == BAD_COLUMNS:
        repair = "Repair the line; an empty line ends a sentence"
        # a tree has a 0, which the ID of a line that was cut off has not
        numbers = "numbers" * (text.replace(b" ", b"").strip().isdigit() and b"0" in text.split())
        if columns is COLUMNS and (kind := "JSON" if text.startswith(b"{") else numbers):
            problem = f"a line of {kind} where CoNLL-U should be"
            repair = "Add the words first: deptree combine FILE --conllu SENTENCES"
        elif columns is COLUMNS:
            problem = f"{counted(width, 'column')} where a word has 10, separated by tabs"
            repair += ", or name other columns in a first line # global.columns = ID FORM ..." * (width > 1 and not n)
        else:
            named = f"{len(columns)}: {shown_columns(columns)}"
            problem = f"{counted(width, 'column')} where # global.columns names {named}"
        return DeptreeError(problem, repair, place=place)
    found = shown(text)
    problem, remedy = {
        BAD_ID: (f"the word id is {found} where {n + 1} is due", "Number the words 1, 2, 3, ... in order"),
        BAD_FORM: (f"the FORM of {found} is empty", "Write it, or _ where it is not known"),
        BAD_RANGE: (f"the range {found} ends before it begins", "Write its first word first"),
        BAD_NUMBER: (f"HEAD is {found}, not _ or the number of a word", "Correct it, for example with deptree repair"),
        BAD_HEAD: (f"HEAD is {found}, not _ or 0 to {n}", "Correct it, for example with deptree repair"),
    }[wrong]
    return DeptreeError(problem, remedy, place=place)


def decoded(text: bytes, place: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise DeptreeError(f"{shown(text)} is not UTF-8", "Convert the file to UTF-8", place=place) from None


def shown(text: bytes) -> str:
    return repr(text[:20].decode("utf-8", "replace"))


def no_sentences() -> DeptreeError:
    return DeptreeError("there are no sentences to write as CoNLL-U", "Name them with --conllu FILE")


# Comments `# key = ...`; and where the file says what made it.
COMMENTS = frozenset(
    b"tree_logprob tree_prob tree_count label_logprob entropy trees_mass trees_complete certified gap relaxed "
    b"relaxed_fewest acceptance repaired expected_errors least_margin disagreement derivation_logprob effective_size "
    b"particles".split()
)
COMMENT_PREFIX = b"swor_"
GENERATOR = b"generator"
_SIGNATURE = re.compile(rb"#[^\S\n]*%b[^\S\n]*=[^\S\n]*deptree\|" % GENERATOR)

# Entries `Key=value` of MISC; what a word was before it was repaired, and what another annotation says of it.
OLD_HEAD, OLD_DEPREL = "OldHead", "OldDeprel"
OTHER_HEAD, OTHER_DEPREL = "OtherHead", "OtherDeprel"
MISC = frozenset(b"HeadProb LabelProb HeadSet Doubt DoubtNote OldHead OldDeprel OtherHead OtherDeprel".split())


def key_of(comment: bytes) -> bytes:
    """The key of a comment ``# key = value``; free text has one of its own, with the newline in it."""
    return comment.lstrip(b"#").partition(b"=")[0].strip(b" ") if b"=" in comment else comment


def is_note(key: bytes) -> bool:
    return key in COMMENTS or key.startswith(COMMENT_PREFIX)


def is_signature(comment: bytes) -> bool:
    """Whether a comment ``# key = value`` is the signature of an earlier run of ours: the next one takes its place."""
    return bool(_SIGNATURE.match(comment))


def may_hold(comments: bytes, keys: Set[bytes] = COMMENTS) -> bool:
    """Whether these bytes hold one of the keys, by default those of notes, or a signature, as one or otherwise."""
    return COMMENT_PREFIX in comments or b"deptree|" in comments or any(map(comments.__contains__, keys))


@lru_cache(16)
def keys_of(entries: bytes) -> frozenset[bytes]:
    return frozenset(entry.partition(b"=")[0] for entry in entries.split(b"|"))


def keys_in(entries: Iterable[bytes]) -> list[str]:
    """The keys of entries `A=1|B=2` of words, in the order in which they come first."""
    return list(dict.fromkeys(key.decode() for each in entries if each for key in sorted(keys_of(each))))


# Of a float: none below 1 is rounded to it.
_ALL_DIGITS = 17


def unused_mark(data: bytes) -> bytes:
    """Bytes that do not occur in these, so that they can stand for places in them."""
    mark = b"\0"
    while mark in data:
        mark += b"\1"
    return mark


def probability(value: float, digits: int = 4) -> str:
    """A probability to this many significant digits, more where it would be rounded to a certainty that it is not."""
    text = f"{value:.{digits}g}"
    while text == "1" and value < 1 and digits < _ALL_DIGITS:
        digits += 1
        text = f"{value:.{digits}g}"
    return text


def entries_of(misc: Mapping[str, Float]) -> list[str]:
    """An entry ``Key=probability`` for each word, with bars between several keys; equal ones are worked out once."""
    columns = []
    for key, values in misc.items():
        probs = values.ravel().tolist()
        usual = {value: f"{value:.4g}" for value in set(probs)}  # few of these look like a certainty
        texts = {value: f"{key}={probability(value) if text == '1' else text}" for value, text in usual.items()}
        columns.append(list(map(texts.__getitem__, probs)))
    return columns[0] if len(columns) == 1 else list(map("|".join, zip(*columns, strict=True)))


def filled(data: bytes, mark: bytes, values: Iterable[str]) -> bytes:
    pieces = data.split(mark)
    texts = [value.encode() for value in values]
    return b"".join(piece for pair in zip(pieces, [*texts, b""], strict=True) for piece in pair)
