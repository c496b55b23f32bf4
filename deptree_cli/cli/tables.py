"""Tables for people, drawn by rich: ids are shortened in the middle, headings and texts wrapped, numbers kept whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

from deptree_cli.core.errors import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.measure import Measurement
    from rich.table import Table as Grid

# The column that names the rows, and the columns of a terminal that a name keeps at least.
ID, LEAST_ID = "sent_id", 12

# A longer word of a text (of a path, say) may be folded; no number is as long, and no verdict.
LONGEST = 24

# Columns that no table takes.
UNCUT = 1 << 20

# What is tried in turn: columns of the terminal between those of the table, and how wide headings may be.
TRIES = ((1, UNCUT), (1, 12), (1, 0), (0, 0))


class Table(NamedTuple):
    """Rows under their headings; the first column is text, the others are right-aligned."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


class ShortId(NamedTuple):
    """A name for which rich may find less room than it takes."""

    text: str

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """The least and the most room that it takes."""
        from rich.measure import Measurement

        return Measurement(min(LEAST_ID, _width(self.text)), _width(self.text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The name in the room that there is."""
        yield shortened(self.text, options.max_width)


class Column(NamedTuple):
    """A column: what stands in it, whether that may be wrapped or shortened, and the room that it takes even so."""

    heading: str
    cells: list[str | ShortId]
    wraps: bool
    least: int

    @classmethod
    def of(cls, heading: str, cells: list[str | ShortId]) -> Column:
        """Look at what stands in it."""
        words = [_width(word) for each in cells if isinstance(each, str) for word in each.split()]
        longest = max(words, default=0)
        has_ids = any(isinstance(each, ShortId) for each in cells)
        wraps = has_ids or longest > LONGEST or any(" " in each for each in cells if isinstance(each, str))
        return cls(heading, cells, wraps, max(LEAST_ID * has_ids, min(longest, LONGEST)))

    def broken(self, room: int) -> Column:
        """Return the column with its heading in lines as wide as its cells or the room."""
        title = _broken(self.heading, max(self.least, room))
        return self._replace(heading=title, least=max([self.least, *map(_width, title.split("\n"))]))


def drawn(table: Table, width: int, styled: bool = False) -> str:
    """Return a table as text, at most `width` columns wide, ending in a newline.

    Headings are broken where the terminal is narrow; if numbers had to be cut even so, rows become records.

    Args:
        styled: whether the terminal may be told what is italic and bold.
    """
    from rich.console import Console
    from rich.text import Text

    file = StringIO()
    console = Console(file=file, markup=False, emoji=False, highlight=False, width=UNCUT, force_terminal=styled)
    rows = [[_cell(*each) for each in zip(table.columns, row, strict=True)] for row in table.rows]
    columns = [Column.of(heading, [row[number] for row in rows]) for number, heading in enumerate(table.columns)]
    tries = ((gap, [each.broken(room) for each in columns]) for gap, room in TRIES)
    gap, shown = next((each for each in tries if _least(*each) <= width), (1, _records(columns, width)))
    if table.title:
        console.print(Text(shortened(printable(table.title), width), style="italic"))
    console.print(_grid(gap, shown), width=max(width, _least(gap, shown)))
    return file.getvalue()


def _least(gap: int, columns: Sequence[Column]) -> int:
    """How wide the table is at least, with so many columns of a terminal between its own, and edges."""
    return 1 + sum(each.least + gap + 1 for each in columns)


def _grid(gap: int, columns: Sequence[Column]) -> Grid:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid

    has_headings = any(each.heading for each in columns)
    grid = Grid(box=SIMPLE_HEAD, padding=(0, gap, 0, 0), show_header=has_headings)
    for number, each in enumerate(columns):
        least = None if each.wraps else each.least
        grid.add_column(
            each.heading,
            justify="right" if number and has_headings else "left",
            min_width=least,
            no_wrap=not each.wraps,
            overflow="fold",
        )
    for row in zip(*(each.cells for each in columns), strict=True):
        grid.add_row(*row)
    return grid


def _records(columns: Sequence[Column], width: int) -> list[Column]:
    """The rows as records: a line of name and value for each cell, an empty one between two records."""
    names, values = list[str | ShortId](), list[str | ShortId]()
    for row in zip(*(each.cells for each in columns), strict=True):
        names += [""] * bool(names) + [_broken(each.heading, width // 2) for each in columns]
        values += [""] * bool(values) + [*row]
    return [Column.of("", names), Column.of("", values)]


def _cell(heading: str, value: object) -> str | ShortId:
    """A value as it is drawn: floats to three digits, tuples with commas, None as a dash."""
    if value is None:
        return "-"
    value = ",".join(map(str, value)) if isinstance(value, tuple) else value
    text = f"{value:.3g}" if isinstance(value, float) else printable(str(value))
    return ShortId(text) if heading == ID else text


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _broken(heading: str, width: int) -> str:
    """A heading in lines of that width, if it can be broken: between words, and behind the underscores of a field."""
    lines = [""]
    for piece in [heading] if heading == ID else re.findall(r"[^ _]*_+|[^ _]+ *| +", heading):
        if lines[-1] and _width(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def shortened(text: str, width: int) -> str:
    """Return a text in at most `width` columns; where that is too few, an ellipsis stands for its middle."""
    if _width(text) <= width:
        return text
    ahead, behind = text[: width // 2], text[len(text) - (width - 1) // 2 :]
    while _width(ahead) + _width(behind) >= width:  # characters of two columns
        ahead, behind = (ahead[:-1], behind) if _width(ahead) > _width(behind) else (ahead, behind[1:])
    return f"{ahead}…{behind}"
