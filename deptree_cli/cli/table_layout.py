"""How a table fits a terminal: ids are cut in the middle, headings and texts broken between words, numbers kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from deptree_cli.io.pictures.forms import cells

# The column that names the rows.
ID = "sent_id"

# Columns that an id gets before headings stand in one line again.
AMPLE_ID = 24

# A longer word of a text (of a path, say) may be cut; no number is as long, and no verdict.
LONGEST_WORD = 24

# What is tried in turn: columns of the terminal that stand behind every text, and those that an id keeps at least.
TRIES = ((2, 12), (1, 8))
EDGE = 1


class Texts(NamedTuple):
    """A table as it is drawn: headings, if there are any, and cells may have several lines; a `gap` is behind each."""

    headings: list[str]
    rows: list[list[str]]
    gap: int


def fitted(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> Texts | None:
    """Return a table that takes at most `room` columns of a terminal; None if numbers would have to be cut for that."""
    found = ((gap, _widths(columns, rows, room - EDGE - gap * len(columns), least)) for gap, least in TRIES)
    gap, widths = next((each for each in found if each[1]), (0, []))
    if not widths:
        return None
    headings = [_broken(heading, width) for heading, width in zip(columns, widths, strict=True)]
    lines = max(heading.count("\n") for heading in headings)
    return Texts(
        ["\n" * (lines - heading.count("\n")) + heading for heading in headings],
        [[_fit(*each) for each in zip(columns, row, widths, strict=True)] for row in rows],
        gap,
    )


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int, least_id: int) -> list[int]:
    """The widths of columns that take at most `room` together; none where that is too few."""
    texts = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]
    widest = [max(map(cells, column), default=0) for column in texts]
    widths = [
        max(_least(heading), min(wide, least_id) if heading == ID else max(map(_least, column), default=0))
        for heading, column, wide in zip(columns, texts, widest, strict=True)
    ]
    if sum(widths) > room:
        return []
    named = list(zip(columns, widest, strict=True))
    for wanted in (  # what the columns left over are for, in this order
        [0 if heading == ID else min(wide, LONGEST_WORD) for heading, wide in named],
        [min(wide, AMPLE_ID) if heading == ID else 0 for heading, wide in named],
        [0 if heading == ID else max(wide, cells(heading)) for heading, wide in named],
        [max(wide, cells(heading)) for heading, wide in named],
    ):
        for number, width in enumerate(wanted):
            widths[number] += min(room - sum(widths), max(0, width - widths[number]))
    return widths


def upright(columns: Sequence[str], rows: Iterable[Sequence[str]], room: int) -> Texts:
    """Return the rows as records: a line of name and value for each cell, an empty one between two records."""
    gap, least = TRIES[0]
    values = max(least, room - EDGE - 2 * gap - max(map(cells, columns)))
    lines: list[list[str]] = []
    for row in rows:
        lines += [["", ""]] * bool(lines)
        lines += [[heading, _fit(heading, text, values)] for heading, text in zip(columns, row, strict=True)]
    return Texts([], lines, gap)


def shortened(text: str, width: int) -> str:
    """Return a text in at most `width` columns; where that is too few, an ellipsis stands for its middle."""
    if cells(text) <= width:
        return text
    ahead, behind = text[: width // 2], text[len(text) - (width - 1) // 2 :]
    while cells(ahead) + cells(behind) >= width:  # characters of two columns
        ahead, behind = (ahead[:-1], behind) if cells(ahead) > cells(behind) else (ahead, behind[1:])
    return f"{ahead}…{behind}"


def _words(text: str) -> Iterator[str]:
    """What stays together: words, and the parts of a field's name between its underscores."""
    for word in text.split():
        yield from re.findall("[a-z]*_+|[a-z]+", word) if re.fullmatch("[a-z_]+", word) else [word]


def _least(text: str) -> int:
    """The columns that a text needs."""
    return max((min(cells(word), LONGEST_WORD) for word in _words(text)), default=0)


def _fit(heading: str, text: str, width: int) -> str:
    """A cell's text in its column."""
    return shortened(text, width) if heading == ID else _broken(text, width)


def _broken(text: str, width: int) -> str:
    """The text in lines of at most `width` columns, broken between words."""
    if cells(text) <= width:
        return text
    lines: list[str] = []
    for word in _words(text):
        joint = "" if not lines or lines[-1].endswith("_") else " "
        if lines and cells(lines[-1] + joint + word) <= width:
            lines[-1] += joint + word
        else:
            lines.append(shortened(word, width))
    return "\n".join(lines)
