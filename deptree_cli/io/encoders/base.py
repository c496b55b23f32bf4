"""What a format of results is: how a result becomes what is written, and how a file of these is begun and ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

Row = Mapping[str, Any]

# Writes what a result was encoded as.
Write = Callable[[Any], object]


class Sheet(NamedTuple):
    """How rows are laid out.

    Attributes:
        columns: of TSV and of a table; JSON has whatever a row has.
        title: of a table.
        headings: of a table, by the names of its columns; without them it has the columns that are filled anywhere.
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
        about: what formats of scores (`NewScores`) and of reports (`Report`) are to know of all results.
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
