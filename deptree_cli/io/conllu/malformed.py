"""What is said of bytes that are no sentence of CoNLL-U."""

from __future__ import annotations

from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.conllu.columns import COLUMNS
from deptree_cli.io.conllu.columns import shown as shown_columns
from deptree_cli.io.conllu.formats import other_format
from deptree_cli.kernels.text.columns import BAD_COLUMNS, BAD_FORM, BAD_HEAD, BAD_ID, BAD_NUMBER, BAD_RANGE


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
