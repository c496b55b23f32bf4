"""What is said of bytes that are no sentence of CoNLL-U, and formats that look like it and have other columns.

The shared tasks of CoNLL: 2006 and 2007 (CoNLL-X) have ten columns, of which the last two, heads and labels of a
projective tree, are often left out; 2008 has ten, the predicate and one for each of the sentence's predicates; 2009 has
twelve, two for the predicate and one for each; 2011 and 2012 have constituents. What heads are of in 2008 are the parts
of words that were split (SPLIT_FORM, SPLIT_LEMMA).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.conllu.columns import COLUMNS
from deptree_cli.io.conllu.columns import shown as shown_columns
from deptree_cli.kernels.text.columns import BAD_COLUMNS, BAD_FORM, BAD_HEAD, BAD_ID, BAD_NUMBER, BAD_RANGE


class OtherFormat(NamedTuple):
    """A format with other columns.

    Attributes:
        name: what it is called.
        columns: its columns as CoNLL-U Plus would name them, as many as every sentence has; empty if it has no heads.
        is_cut: whether a row has more than these.
    """

    name: str
    columns: str
    is_cut: bool = False


_X = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL"
_2008 = "ID CONLL:FORM CONLL:LEMMA XPOS CONLL:PPOS FORM LEMMA CONLL:PPOSS HEAD DEPREL"
_2009 = "ID FORM LEMMA CONLL:PLEMMA XPOS CONLL:PPOS FEATS CONLL:PFEAT HEAD CONLL:PHEAD DEPREL CONLL:PDEPREL"


def other_format(row: Sequence[bytes]) -> OtherFormat | None:
    """The format of a row that does not have ten columns; None if it is none that we know."""
    width = len(row)
    if width >= 12 and row[1].isdigit() and row[2].isdigit() and not row[0].isdigit():
        return OtherFormat("CoNLL 2011 and 2012", "")
    if not row[0].isdigit():
        return None
    if width == 8 and row[6].isdigit() and not _may_be_head(row[7]):
        return OtherFormat("CoNLL-X without PHEAD and PDEPREL", _X)
    heads = row[8:10]  # DEPS and MISC of CoNLL-U, where no number stands alone
    if width >= 12 and all(map(_may_be_head, heads)) and any(map(bytes.isdigit, heads)):
        return OtherFormat("CoNLL 2009", _2009, width > 12)
    if width >= 11 and heads[0].isdigit() and not _may_be_head(heads[1]):
        return OtherFormat("CoNLL 2008", _2008, True)
    return None


def _may_be_head(text: bytes) -> bool:
    return text == b"_" or text.isdigit()


def malformed(wrong: int, text: bytes, place: str, n: int, width: int, columns: tuple[str, ...]) -> DeptreeError:
    """Build the error of a line.

    Args:
        wrong: what is wrong with it, as `scan` found: `BAD_COLUMNS`, ...
        text: the wrong text.
        n: how many words come before; where a HEAD is wrong, how many there are.
        width: how many columns the line has.
        columns: those that it should have.
    """
    if wrong == BAD_COLUMNS:
        return _other_columns(text, place, n, width, columns)
    found = shown(text)
    problem, remedy = {
        BAD_ID: (f"the word id is {found} where {n + 1} is due", "Number the words 1, 2, 3, ... in order"),
        BAD_FORM: (f"the FORM of {found} is empty", "Write it, or _ where it is not known"),
        BAD_RANGE: (f"the range {found} ends before it begins", "Write its first word first"),
        BAD_NUMBER: (f"HEAD is {found}, not _ or the number of a word", "Repair the line"),
        BAD_HEAD: (f"HEAD is {found}, not _ or 0 to {n}", "Repair the line"),
    }[wrong]
    return DeptreeError(problem, remedy, place=place)


def _other_columns(row: bytes, place: str, n: int, width: int, columns: tuple[str, ...]) -> DeptreeError:
    """The error of a row with more or fewer columns: of a sentence's first one perhaps those of another format."""
    repair = "Repair the line; an empty line ends a sentence"
    if columns is not COLUMNS:
        problem = f"{counted(width, 'column')} where # global.columns names {len(columns)}: {shown_columns(columns)}"
        return DeptreeError(problem, repair, place=place)
    if row.startswith(b"{"):
        return DeptreeError("a line of JSON where CoNLL-U should be", "Write the sentences as CoNLL-U", place=place)
    problem = f"{counted(width, 'column')} where a word has 10, separated by tabs"
    known = None if n else other_format(row.rstrip(b"\r\n").split(b"\t"))
    if known is None:
        more = ", or name other columns in a first line # global.columns = ID FORM ..." if width > 1 and not n else ""
        return DeptreeError(problem, repair + more, place=place)
    problem += f", as in {known.name}"
    if not known.columns:
        return DeptreeError(problem, "Convert its constituents to heads", place=place)
    kept = len(known.columns.split())
    cut = f"Keep columns 1 to {kept} (cut -f 1-{kept}) and write" if known.is_cut else "Write"
    return DeptreeError(problem, f"{cut} in the first line: # global.columns = {known.columns}", place=place)


def decoded(text: bytes, place: str) -> str:
    """Text in UTF-8.

    Raises:
        DeptreeError: it is something else.
    """
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise DeptreeError(f"{shown(text)} is not UTF-8", "Convert the file to UTF-8", place=place) from None


def shown(text: bytes) -> str:
    """Bytes as messages show them: the first few, in quotes."""
    return repr(text[:20].decode("utf-8", "replace"))


def no_sentences() -> DeptreeError:
    """Build the error of scores without sentences where CoNLL-U is to be written."""
    return DeptreeError("there are no sentences to write as CoNLL-U", "Name them with --conllu FILE")
