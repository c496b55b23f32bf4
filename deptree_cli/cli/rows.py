"""RowFormat results, a row of named values per sentence: JSON Lines, tab-separated values, or a table on a terminal.

One rule for every command that has them: ``--json`` and ``--tsv`` say what is written; without them the suffix of -o
decides, a terminal gets a table, and everything else JSON Lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.report import table
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.sections import writing_option
from deptree_cli.cli.writing import choose_format, signed, write_chunks
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.json_lines import dump
from deptree_cli.io.output import suffix_of

Row = Mapping[str, Any]

JSON, TSV, TABLE = "jsonl", "tsv", "table"


@dataclass(frozen=True)
class RowFormat:
    """What was asked for: JSON, TSV, or neither."""

    json: bool = False
    tsv: bool = False

    def form(self, output: str | None, single: bool = False) -> str:
        """What is written, one of `JSON`, `TSV` and `TABLE`.

        Args:
            single: whether there is but one row: then it may go into a file `.json`.

        Raises:
            DeptreeError: the suffix of the output promises something else.
        """
        asked = JSON if self.json else TSV if self.tsv else None
        if asked is None and single and suffix_of(output) == ".json":
            return JSON
        fmt = choose_format(asked, output, None, JSON, TSV)
        return TABLE if asked is None and output is None and _on_terminal() else fmt


_OPTIONS = [
    writing_option(
        "--json", "as_json", is_flag=True, often=True, help="JSON, also on a terminal, which gets a table otherwise."
    ),
    writing_option(
        "--tsv", "as_tsv", is_flag=True, often=True, help="Tab-separated values under a line with their names."
    ),
]


def _row_format(*, as_json: bool, as_tsv: bool) -> RowFormat:
    if as_json and as_tsv:
        raise click.UsageError("--json and --tsv are two formats: choose one.")
    return RowFormat(as_json, as_tsv)


# Gives a command with flat results --json and --tsv, as one `row_format: RowFormat`.
row_options = bound("row_format", _OPTIONS, _row_format)


def write_rows(
    rows: Iterable[Row],
    columns: Sequence[str],
    fmt: str,
    signature: str,
    header: bool | None,
    run: RunOptions,
    title: str = "",
    headings: Mapping[str, str] | None = None,
) -> None:
    """Write rows as they come; a table at the end, when its columns are known to fit.

    Args:
        columns: of TSV and table; JSON has whatever a row has.
        fmt: what `RowFormat.form` returned.
        header: whether the signature is the first line.
        title, headings: of the table, whose columns are those that have a heading, or all that are filled anywhere; a
            single row without headings stands upright.
    """
    if fmt == TABLE:
        found = list(signed(rows, signature, run))
        if len(found) == 1 and not headings:
            table(title, ("what", "value"), found[0].items(), sys.stdout)
            return
        shown = list(headings or (name for name in columns if any(row.get(name) is not None for row in found)))
        names = [headings[name] if headings else name for name in shown]
        table(title, names, ([row.get(name) for name in shown] for row in found), sys.stdout)
    elif fmt == TSV:
        write_chunks(_tsv(rows, columns, signature if header else ""), fmt, signature, None, run)
    else:
        write_chunks(map(dump, rows), fmt, signature, header, run)


def _tsv(rows: Iterable[Row], columns: Sequence[str], first: str) -> Iterator[bytes]:
    """The lines; the names of the columns come with the first row."""
    before = (f"# {first}\n" if first else "") + "\t".join(columns) + "\n"
    for row in rows:
        yield (before + "\t".join(_cell(name, row.get(name)) for name in columns) + "\n").encode()
        before = ""


def _cell(name: str, value: object) -> str:
    """A value as text, numbers as JSON has them; nothing for None.

    Raises:
        DeptreeError: it is a list, for which a cell has no place.
    """
    if isinstance(value, list | dict | tuple):
        raise DeptreeError(f"{name} is more than a number, which --tsv has no place for", "Leave out --tsv")
    if value is None:
        return ""
    if isinstance(value, str):
        return "".join(char if char.isprintable() else repr(char)[1:-1] for char in value)
    return dump(value).decode().strip()


def flattened(row: Row) -> dict[str, Any]:
    """The row with objects in it as fields of their own: ``depth.unbiased``."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        inner = {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, Mapping) else {name: value}
        found |= inner
    return found


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
