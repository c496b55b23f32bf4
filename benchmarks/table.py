"""What a benchmark yields: a table of figures. How tables are shown is written here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Cell = float | int | str | None


@dataclass(frozen=True, init=False)
class Table:
    """Measured figures under a name that is unique within a benchmark.

    Attributes:
        name: what was measured, in lower case unless it is a name.
        columns: their headings; the first is that of the rows' names.
        rows: their cells, as many as there are columns; None is what was not measured.
        unit: of all cells that have no unit in their row's or column's name.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    unit: str

    def __init__(self, name: str, columns: Iterable[str], rows: Iterable[Sequence[Cell]], unit: str = "") -> None:
        """Take rows as they are measured; numbers are kept to three digits.

        Raises:
            ValueError: a row has not as many cells as there are columns.
        """
        columns, cells = tuple(columns), tuple(tuple(map(rounded, row)) for row in rows)
        if any(len(row) != len(columns) for row in cells):
            raise ValueError(f"{name}: a row has not {len(columns)} cells")
        for key, value in (("name", name), ("columns", columns), ("rows", cells), ("unit", unit)):
            object.__setattr__(self, key, value)

    @property
    def title(self) -> str:
        """The name and the unit as a heading."""
        return f"{self.name[:1].upper()}{self.name[1:]}{f' ({self.unit})' if self.unit else ''}"

    def turned(self, corner: str = "") -> Table:
        """The same figures with a row for each column: its headings have to be the names of rows."""
        headings, *columns = zip(*self.rows, strict=True)
        rows = [(name, *cells) for name, cells in zip(self.columns[1:], columns, strict=True)]
        return Table(self.name, (corner, *(f"{self.columns[0]} = {shown(each)}" for each in headings)), rows, self.unit)

    def picked(self, rows: Sequence[str] = (), columns: Sequence[str] = ()) -> Table:
        """The rows and columns of these names in this order, all if none are given.

        Raises:
            LookupError: there is no such row or column.
        """
        names = [shown(row[0]) for row in self.rows]
        missing = [name for name in rows if name not in names]
        missing += [name for name in columns if name not in self.columns]
        if missing:
            raise LookupError(f"{self.name} has no row or column {missing[0]!r}")
        places = [0, *(self.columns.index(name) for name in columns or self.columns[1:])]
        picked = [self.rows[names.index(name)] for name in rows] if rows else self.rows
        chosen = [[row[place] for place in places] for row in picked]
        return Table(self.name, [self.columns[place] for place in places], chosen, self.unit)

    def markdown(self) -> str:
        """Lines of Markdown, without the title."""
        heading, *rows = (f"| {' | '.join(line)} |" for line in self._lines())
        return "\n".join((heading, "|" + "---|" * len(self.columns), *rows))

    def text(self) -> str:
        """The title, and lines for a terminal: figures aligned on the right."""
        lines = self._lines()
        first, *widths = (max(map(len, column)) for column in zip(*lines, strict=True))
        aligned = (
            "  ".join((name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))))
            for name, *cells in lines
        )
        return "\n".join((self.title, *aligned))

    def _lines(self) -> list[tuple[str, ...]]:
        return [self.columns, *(tuple(map(shown, row)) for row in self.rows)]


def headings(symbol: str, values: Iterable[int]) -> tuple[str, ...]:
    """Headings of columns: `n = 10`, `k = 1,000`."""
    return tuple(f"{symbol} = {value:,}" for value in values)


def rounded(cell: Cell) -> Cell:
    """Three digits of a number, whole where that is a whole one; NaN and infinity by their names, as JSON has none."""
    if not isinstance(cell, float):
        return cell
    if not math.isfinite(cell):
        return str(cell)
    digits = float(f"{cell:.3g}")
    return int(digits) if digits.is_integer() and abs(digits) < 1e9 else digits


def shown(cell: Cell) -> str:
    """A cell as people write it: 485,000; 1.04; 2.2e-16; a dash for None."""
    if cell is None:
        return "-"
    cell = rounded(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return cell if isinstance(cell, str) else f"{cell:.3g}"
