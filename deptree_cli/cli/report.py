"""Talk: lines and tables for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from deptree_cli.cli.status_line import clear_status
from deptree_cli.cli.table_layout import fitted, shortened, upright


def talk(line: str) -> None:
    """One line to the user."""
    clear_status()
    print(f"deptree: {line}", file=sys.stderr, flush=True)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], stream: TextIO | None = None) -> None:
    """A table on a stream, stderr by default; the first column is text, the others are right-aligned.

    It is never wider than the terminal: where numbers would have to be cut for that, rows become records.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    # Names come from files: what looks like markup in them is none.
    console = Console(file=stream or sys.stderr, markup=False, emoji=False, soft_wrap=True)
    texts = [[shown(cell) for cell in row] for row in rows]
    found = fitted(columns, texts, console.width) or upright(columns, texts, console.width)
    drawn = Table(box=SIMPLE_HEAD, padding=(0, found.gap - 1, 0, 0), show_header=bool(found.headings))
    for number, heading in enumerate(found.headings or ("", "")):
        drawn.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for row in found.rows:
        drawn.add_row(*row)
    clear_status()
    if title:
        console.print(shortened(title, console.width), style="italic", highlight=False)
    console.print(drawn)


def shown(value: object) -> str:
    """A value for a table: floats to three digits, None as a dash."""
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
