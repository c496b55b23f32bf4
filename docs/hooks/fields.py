"""Tables of what commands write, from the table that their help reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby

from deptree_cli.cli.help import COMMENTS, EVERY, MISC, Field, fields, fields_of

# Where docs/output_fields.md has the tables.
PLACE = "<!-- fields -->"
TITLES = {COMMENTS: "Comments of CoNLL-U", MISC: "MISC of CoNLL-U"}


def filled(page: str) -> str:
    """Return a page with the tables of all commands in their place."""
    return page.replace(PLACE, "\n\n".join(_sections()))


def of_command(name: str) -> Iterator[str]:
    """A section of a command's page for each kind of output that it has."""
    for title, section in (("Output fields", ""), (TITLES[COMMENTS], COMMENTS), (TITLES[MISC], MISC)):
        rows = [f"| {_code(names.split(', '))} | {cell(meaning)} |" for names, meaning in fields_of(name, section)]
        if rows:
            yield "\n".join([f"## {title}\n", "| name | meaning |", "|---|---|", *rows])


def _sections() -> Iterator[str]:
    for section, here in groupby(fields(), lambda each: each.section):
        head = [f"### {TITLES.get(section, section)}\n", "| name | written by | meaning |", "|---|---|---|"]
        yield "\n".join([*head, *map(_row, here)])


def _row(field: Field) -> str:
    commands = "all commands" if field.commands == (EVERY,) else _code(field.commands)
    return f"| {_code(field.names)} | {commands} | {cell(field.meaning)} |"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def cell(text: str) -> str:
    """Text that is safe in a cell of a table."""
    return re.sub(r"([|*_`])", r"\\\1", escape(" ".join(text.split()), quote=False))
