"""Marked blocks of the manual that hold measured tables.

``<!-- table: NAME/TABLE -->`` ... ``<!-- end -->`` holds one table,
``<!-- table: NAME/TABLE | ROW; ROW | COLUMN; COLUMN -->``
some of its rows and columns (all rows if none are named), and ``<!-- table: NAME -->`` all tables of a benchmark, with
headings and a line that says when and where they were measured.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import results

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md")

BLOCK = re.compile(r"(?P<start><!-- table: (?P<reference>[^\n]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)


def filled(text: str) -> str:
    """The text with every block as results have it.

    Raises:
        LookupError: a block names results or a table that are not there.
    """
    return BLOCK.sub(lambda block: f"{block['start']}{content(block['reference'])}{block['end']}", text)


def content(reference: str) -> str:
    """What stands in a block."""
    name, _, rest = reference.partition("/")
    if not results.path(name).exists():
        raise LookupError(f"There are no results of {name}. Run: make bench NAME={name}")
    found = results.read(name)
    if not rest:
        tables = "".join(f"### {table.title}\n\n{table.markdown()}\n\n" for table in found.tables)
        return f"{found.origin}.\n\n{tables}"
    wanted, *parts = rest.split(" | ")
    picked = [[each.strip() for each in part.split(";") if each.strip()] for part in parts]
    tables_by_name = {table.name: table for table in found.tables}
    if wanted not in tables_by_name:
        raise LookupError(f"{name} has no table {wanted!r}, only: {'; '.join(tables_by_name)}")
    table = tables_by_name[wanted]
    return f"{(table.picked(*picked) if picked else table).markdown()}\n"


def fill() -> None:
    """Fill the blocks of all pages."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text), encoding="utf-8")
