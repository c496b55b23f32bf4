"""The table below or beside a tree drawn as text: a line for each word, more where many other heads are possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from deptree_cli.io.pictures.arcs import OTHER, SURE, TREE, Arc, Picture
from deptree_cli.io.pictures.forms import cells, fitted

# The widest that forms and labels get, and the least that is left for other heads.
WIDEST, LEAST = 20, 20

# What a terminal is told: faint, yellow, cyan.
FAINT, UNSURE, POSSIBLE = "2", "33", "36"


@dataclass(frozen=True)
class Column:
    """A column: what stands above it and, for each word, in it."""

    name: str
    entries: list[str]

    @cached_property
    def size(self) -> int:
        """Its width."""
        return min(WIDEST, max(map(cells, [self.name, *self.entries])))


class Table(NamedTuple):
    """Words with their heads: the line of column names, and the lines of each word, one or more."""

    heading: str
    rows: list[list[str]]


def table_of(picture: Picture, width: int, colour: bool) -> Table:
    """The table; other heads go on in further lines rather than beyond the width, if anything else leaves them room."""
    tree = picture.of_kind(TREE)
    columns = _columns(picture, tree)
    indent = sum(column.size + 2 for column in columns)
    room = max(LEAST, width - indent)
    heading = joined([column.name for column in columns], columns, ["" for _ in columns], colour)
    rows, others = [], _others(picture)
    for arc in tree:
        styles = [FAINT, *[""] * (len(columns) - 2), UNSURE if arc.weight < SURE else ""]
        line = joined([column.entries[arc.dependent - 1] for column in columns], columns, styles, colour)
        first, *more = list(_packed(others[arc.dependent], room)) or [""]
        rows.append([line + painted(first, POSSIBLE, colour)])
        rows[-1] += [" " * indent + painted(line, POSSIBLE, colour) for line in more]
    return Table(painted(f"{heading}other heads", FAINT, colour), rows)


def _columns(picture: Picture, tree: Sequence[Arc]) -> list[Column]:
    digits = len(str(len(tree)))
    columns = [
        Column("", [f"{arc.dependent:>{digits}}" for arc in tree]),
        Column("word", list(picture.forms)),
        Column("relation", [arc.label for arc in tree]),
        Column("head", [_named(picture, arc.head) for arc in tree]),
        Column("share" if picture.samples else "p", [_number(arc) for arc in tree]),
    ]
    return [column for column in columns if any(column.entries)]


def _others(picture: Picture) -> Mapping[int, list[str]]:
    """The other heads of every word, the likeliest first."""
    found: dict[int, list[str]] = defaultdict(list)
    for arc in sorted(picture.of_kind(OTHER), key=lambda arc: -arc.weight):
        found[arc.dependent].append(f"{_named(picture, arc.head)} {_number(arc)}")
    return found


def _named(picture: Picture, word: int) -> str:
    form = picture.word(word)
    if form == str(word):
        return form
    return f"{word} {fitted(form, min(cells(form), WIDEST - 4))}"


def _number(arc: Arc) -> str:
    return f"{arc.weight:.4f}"


def _packed(items: Sequence[str], room: int) -> Iterator[str]:
    """The items, separated by commas, as many to a line as there is room for."""
    line = ""
    for item in items:
        if line and cells(f"{line}, {item}") > room:
            yield f"{line},"
            line = ""
        line = f"{line}, {item}" if line else item
    if line:
        yield line


def joined(entries: Sequence[str], columns: Sequence[Column], styles: Sequence[str], colour: bool) -> str:
    """Entries in the columns' widths, two blanks behind each."""
    parts = (fitted(entry, column.size) for entry, column in zip(entries, columns, strict=True))
    return "".join(painted(part, style, colour) + "  " for part, style in zip(parts, styles, strict=True))


def painted(text: str, style: str, colour: bool) -> str:
    """The text in a style, where colours are wanted."""
    return f"\x1b[{style}m{text}\x1b[0m" if colour and style and text else text
