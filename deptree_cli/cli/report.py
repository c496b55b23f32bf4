"""Talk: lines and tables for people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple, TextIO

from deptree_cli.cli.screen import width_of
from deptree_cli.cli.status_line import status
from deptree_cli.cli.table_layout import fitted, shortened, upright
from deptree_cli.core.errors import printable, readable


def talk(line: str) -> None:
    """One line to the user."""
    status().clear()
    print(f"deptree: {readable(line)}", file=sys.stderr, flush=True)


# Columns that no table takes.
UNCUT = 1 << 20


class Table(NamedTuple):
    """Rows under their headings; the first column is text, the others are right-aligned."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


def show(said: Table | str, stream: TextIO | None = None) -> None:
    """Show a table on a stream, stderr by default, or say a line.

    It is no wider than the terminal: if numbers would have to be cut for that, rows become records, which may be.
    """
    if isinstance(said, str):
        talk(said)
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as Drawn

    stream = stream or sys.stderr
    width = width_of(stream)
    # Names come from files: what looks like markup in them is none. What is fitted here is not cut again.
    console = Console(file=stream, markup=False, emoji=False, soft_wrap=True, width=UNCUT, height=1)
    texts = [[shown(cell) for cell in row] for row in said.rows]
    found = fitted(said.columns, texts, width) or upright(said.columns, texts, width)
    drawn = Drawn(box=SIMPLE_HEAD, padding=(0, found.gap - 1, 0, 0), show_header=bool(found.headings))
    for number, heading in enumerate(found.headings or ("", "")):
        drawn.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for row in found.rows:
        drawn.add_row(*row)
    status().clear()
    if said.title:
        console.print(shortened(printable(said.title), width), style="italic", highlight=False)
    console.print(drawn)


def shown(value: object) -> str:
    """A value for a table: floats to three digits, None as a dash."""
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else printable(str(value))
