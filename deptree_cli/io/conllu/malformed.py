"""What is said of bytes that are no sentence of CoNLL-U."""

from __future__ import annotations

from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.kernels.text.columns import BAD_COLUMNS, BAD_FORM, BAD_HEAD, BAD_ID, BAD_NUMBER, BAD_RANGE


def malformed(wrong: int, text: bytes, place: str, n: int, columns: int) -> DeptreeError:
    """Build the error of a line.

    Args:
        wrong: what is wrong with it, as `scan` found: `BAD_COLUMNS`, ...
        text: the wrong text.
        n: how many words come before; where a HEAD is wrong, how many there are.
        columns: how many the line has.
    """
    found = shown(text)
    problem, remedy = {
        BAD_COLUMNS: (
            f"{counted(columns, 'column')} where a word has 10, separated by tabs",
            "Repair the line; an empty line ends a sentence",
        ),
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
