"""Talk: lines, tables and progress, on stderr only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")


def talk(line: str) -> None:
    """One line to the user."""
    print(f"deptree: {line}", file=sys.stderr, flush=True)


def progress(items: Iterable[Item], *, quiet: bool = False) -> Iterator[Item]:
    """The items, counted on stderr as they pass, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield from items
        return
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("sentences"), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=_console(), transient=True) as bar:
        yield from bar.track(items, total=None)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table; the first column is text, the others are right-aligned."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        drawn.add_column(column, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        drawn.add_row(*(shown(cell) for cell in row))
    _console().print(drawn)


def shown(value: object) -> str:
    """A value for a table: floats to three digits, None as a dash."""
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)
