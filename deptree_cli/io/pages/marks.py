"""The marks that a reader of a report made, as the page exports them: tab-separated, a line for each word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import entries_of, open_input

COLUMNS = ("sent_id", "word", "form", "head", "mark", "chosen", "note")
FINE = "fine"
VERDICTS = ("wrong", "ambiguous", FINE)
NOTHING = "_"


class Mark(NamedTuple):
    """What somebody says of a word's head.

    Attributes:
        sent_id, word: which word, from 1 on.
        form: the word.
        head: its head when it was marked, 0 for ROOT.
        verdict: one of `VERDICTS`, empty for a word with a note or a head alone.
        chosen: the head that it should have, None where none was chosen.
        note: free text.
        place: ``file:line``.
    """

    sent_id: str
    word: int
    form: str
    head: int
    verdict: str
    chosen: int | None
    note: str
    place: str


def read_marks(path: str) -> Iterator[Mark]:
    """The marks in a file, one at a time; `-` is standard input.

    Raises:
        DeptreeError: it has other columns, or a line is no mark; with ``file:line``.
    """
    with open_input(path) as file:
        for number, (place, line) in enumerate(entries_of(file.stream, file.place)):
            try:
                fields = line.decode().split("\t")
            except UnicodeDecodeError:
                raise DeptreeError("not UTF-8", "Convert the file to UTF-8", place=place) from None
            if not number:
                _check_columns(fields, place)
            elif any(fields):
                yield _mark(fields, place)


def _check_columns(fields: list[str], place: str) -> None:
    if tuple(fields) != COLUMNS:
        problem = f"the columns are not {', '.join(COLUMNS)}"
        raise DeptreeError(problem, "Give marks as a report exports them (Marks as TSV)", place=place)


def _mark(fields: list[str], place: str) -> Mark:
    if len(fields) != len(COLUMNS):
        problem = f"{len(fields)} fields instead of {len(COLUMNS)}"
        raise DeptreeError(problem, "Separate fields by single tabs", place=place)
    sent_id, word, form, head, verdict, chosen, note = fields
    if verdict not in (NOTHING, *VERDICTS):
        raise DeptreeError(f"the mark is {verdict!r}", f"Give {', '.join(VERDICTS)} or _", place=place)
    return Mark(
        sent_id,
        _number(word, 1, "word", place),
        form,
        _number(head, 0, "head", place),
        "" if verdict == NOTHING else verdict,
        None if chosen == NOTHING else _number(chosen, 0, "chosen head", place),
        "" if note == NOTHING else note,
        place,
    )


def _number(text: str, least: int, what: str, place: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise DeptreeError(f"the {what} is {text!r}", f"Give a number from {least} on", place=place)
    return int(text)
