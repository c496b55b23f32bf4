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

# What stands beside the two columns of records, and columns that no table takes.
BETWEEN, UNCUT = 5, 1 << 20


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
        from rich.cells import cell_len
        from rich.measure import Measurement

        return Measurement(min(LEAST_ID, cell_len(self.text)), cell_len(self.text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The name in the room that there is."""
        yield shortened(self.text, options.max_width)


def drawn(table: Table, width: int, styled: bool = False) -> str:
    """Return a table as text, at most `width` columns wide, ending in a newline.

    Headings are broken where the terminal is narrow; if numbers had to be cut even so, rows become records.

    Args:
        styled: whether the terminal may be told what is italic and bold.
    """
    from rich.console import Console
    from rich.measure import Measurement
    from rich.text import Text

    console = Console(file=StringIO(), markup=False, emoji=False, highlight=False, width=UNCUT, force_terminal=styled)
    texts = [[shown(cell) for cell in row] for row in table.rows]
    tries = [_grid(table.columns, texts, gap, room) for gap, room in ((1, UNCUT), (1, 12), (1, 0), (0, 0))]
    tries.append(_records(table.columns, texts, width))
    needed = [Measurement.get(console, console.options, each).minimum for each in tries]
    chosen = next((number for number, least in enumerate(needed) if least <= width), -1)
    if table.title:
        console.print(Text(shortened(printable(table.title), width), style="italic"))
    console.print(tries[chosen], width=max(width, needed[chosen]))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]], gap: int, room: int) -> Grid:
    """The table with so many more columns of a terminal between its own; headings wider than `room` are broken."""
    grid = _empty(gap, show_header=True)
    for number, heading in enumerate(columns):
        cells = [row[number] for row in rows]
        wraps = heading == ID or any(" " in each for each in cells)
        needed = 0 if wraps else max(map(_width, cells), default=0)
        title = _broken(heading, max(needed, room))
        least = max(needed, *map(_width, title.split("\n")))
        grid.add_column(title, justify="right" if number else "left", min_width=least, no_wrap=not wraps)
    for row in rows:
        grid.add_row(*(_cell(*each) for each in zip(columns, row, strict=True)))
    return grid


def _records(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Grid:
    """The rows as records: a line of name and value for each cell, an empty one between two records."""
    grid = _empty(1, show_header=False)
    cells = {text for row in rows for heading, text in zip(columns, row, strict=True) if heading != ID}
    least = max((_width(text) for text in cells if " " not in text and len(text) <= LONGEST), default=0)
    names = [_broken(heading, width - least - BETWEEN) for heading in columns]
    grid.add_column(no_wrap=True, min_width=max(_width(line) for name in names for line in name.split("\n")))
    grid.add_column(overflow="fold", min_width=least)
    for number, row in enumerate(rows):
        if number:
            grid.add_row()
        for name, heading, text in zip(names, columns, row, strict=True):
            grid.add_row(name, _cell(heading, text))
    return grid


def _empty(gap: int, show_header: bool) -> Grid:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid

    return Grid(box=SIMPLE_HEAD, padding=(0, gap, 0, 0), show_header=show_header)


def _cell(heading: str, text: str) -> ShortId | str:
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


def shown(value: object) -> str:
    """A value for a table: floats to three digits, None as a dash."""
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else printable(str(value))
