"""What is said of bytes that are no sentence of CoNLL-U."""

from __future__ import annotations

from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.conllu.columns import COLUMNS
from deptree_cli.io.conllu.columns import shown as shown_columns
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
        repair = "Repair the line; an empty line ends a sentence"
        if text.startswith(b"{") and columns is COLUMNS:
            problem = "a line of JSON where CoNLL-U should be"
            trees = "trees by deptree combine FILE --conllu SENTENCES; what is no tree, Python's repaired() takes"
            repair = f"Write the sentences as CoNLL-U, {trees}"
        elif columns is COLUMNS:
            problem = f"{counted(width, 'column')} where a word has 10, separated by tabs"
            repair += ", or name other columns in a first line # global.columns = ID FORM ..." * (width > 1 and not n)
        else:
            problem = (
                f"{counted(width, 'column')} where # global.columns names {len(columns)}: {shown_columns(columns)}"
            )
        return DeptreeError(problem, repair, place=place)
    found = shown(text)
    problem, remedy = {
        BAD_ID: (f"the word id is {found} where {n + 1} is due", "Number the words 1, 2, 3, ... in order"),
        BAD_FORM: (f"the FORM of {found} is empty", "Write it, or _ where it is not known"),
        BAD_RANGE: (f"the range {found} ends before it begins", "Write its first word first"),
        BAD_NUMBER: (f"HEAD is {found}, not _ or the number of a word", "Repair the line"),
        BAD_HEAD: (f"HEAD is {found}, not _ or 0 to {n}", "Repair the line"),
    }[wrong]
    return DeptreeError(problem, remedy, place=place)


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
