"""Talk: lines and tables for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from deptree_cli.cli.status_line import clear_status


def talk(line: str) -> None:
    """One line to the user."""
    clear_status()
    print(f"deptree: {line}", file=sys.stderr, flush=True)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], stream: TextIO | None = None) -> None:
    """A table on a stream, stderr by default; the first column is text, the others are right-aligned."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        drawn.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        drawn.add_row(*(shown(cell) for cell in row))
    clear_status()
    # Names come from files: what looks like markup in them is none.
    Console(file=stream or sys.stderr, markup=False, emoji=False).print(drawn)


def shown(value: object) -> str:
    """A value for a table: floats to three digits, None as a dash."""
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
