"""A picture as text for a terminal: the tree's arcs above the words or, where these are too long, beside them.

A table says how probable the heads are and which others there may be. Arcs less probable than not are dashed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from deptree_cli.io.pictures.arcs import TREE, Arc, Picture
from deptree_cli.io.pictures.canvas import Canvas
from deptree_cli.io.pictures.forms import cells, is_right_to_left
from deptree_cli.io.pictures.geometry import Slot, Span, levels, middles, slots
from deptree_cli.io.pictures.table import table_of

GAP = 2
IMPROBABLE = 0.5

# Beside the words arcs get this share of the terminal's width at most, and what the table leaves, but so many columns
# at least. Where two columns for each are too many they get one; those too long even so are left to the table.
MOST_BESIDE, LEAST_BESIDE = 0.4, 12
DOWNWARDS, RIGHTWARDS = "▼", "►"


def to_text(picture: Picture, width: int, colour: bool = False) -> str:
    """The whole text, ending in a newline.

    Args:
        width: columns of the terminal; what would be wider is drawn word below word.
        colour: mark uncertain heads with the terminal's colours.
    """
    heading = f"{picture.name}: {picture.full_caption}"
    # Words that the terminal may put into the order of their script would leave their arcs behind.
    rows = [] if any(map(is_right_to_left, picture.forms)) else _above(picture, width)
    if rows:
        table = table_of(picture, width, colour)
        lines = [*rows, "", table.heading, *(line for word in table.rows for line in word)]
    else:
        lines = list(_beside(picture, width, colour))
    return "".join(f"{line.rstrip()}\n" for line in [heading, "", *lines])


def _above(picture: Picture, width: int) -> list[str]:
    """Arcs over a row of words, with their labels where there is room for them; nothing if there is no room at all."""
    arcs = picture.of_kind(TREE)
    heights = levels(arcs)
    places = slots(arcs, heights)
    for labelled in (True, False):
        columns = _Columns(picture.forms, arcs, places, labelled)
        if columns.width <= width:
            return list(_arcs_above(picture.forms, arcs, heights, columns))
    return []


class _Columns:
    """The columns of words in a row, and of the ends of their arcs."""

    def __init__(
        self, forms: Sequence[str], arcs: Sequence[Arc], places: dict[tuple[int, int], Slot], labelled: bool
    ) -> None:
        self._sizes = [cells(form) for form in forms]
        self._places = places
        widths, spans = list(self._sizes), []
        for number, arc in enumerate(arcs):
            for word in (arc.left, arc.right):
                slot = places[number, word]
                tag = 0 if arc.head else int(2 * abs(slot.offset)) + cells(arc.tag)
                widths[word - 1] = max(widths[word - 1], slot.total, tag)
            if arc.head and labelled and arc.tag:
                inner = places[number, arc.left].offset - places[number, arc.right].offset
                spans.append(Span(arc.left, arc.right, cells(arc.tag) + 2 + inner))
        self._middles = middles(widths, GAP, spans)
        self.width = int(self._middles[-1] + widths[-1] / 2 + 1)

    def form(self, word: int) -> int:
        """Where a word begins."""
        return int(self._middles[word - 1] - self._sizes[word - 1] / 2)

    def end(self, arc: int, word: int) -> int:
        """Where an arc ends at a word."""
        return int(self._middles[word - 1] - 0.5 + self._places[arc, word].offset)


def _arcs_above(forms: Sequence[str], arcs: Sequence[Arc], heights: Sequence[int], columns: _Columns) -> Iterator[str]:
    canvas, bottom = Canvas(), max(heights)
    for number, (arc, height) in enumerate(zip(arcs, heights, strict=True)):
        row, dashed = bottom - height, arc.weight < IMPROBABLE
        ends = columns.end(number, arc.left), columns.end(number, arc.right)
        for column in ends:
            canvas.upright(column, row, bottom + 1, dashed)
        if arc.head:
            canvas.level(row, *ends, dashed)
        room = ends[1] - ends[0] - 1 if arc.head else len(arc.tag)
        if cells(arc.tag) == len(arc.tag) <= room:
            canvas.write(row, max(0, (sum(ends) - len(arc.tag) + 1) // 2), arc.tag)
        canvas.write(bottom, columns.end(number, arc.dependent), DOWNWARDS)
    yield from (canvas.row(row, columns.width) for row in range(bottom + 1))
    line = ""
    for word, form in enumerate(forms, 1):
        line += " " * (columns.form(word) - cells(line)) + form
    yield line


def _beside(picture: Picture, width: int, colour: bool) -> Iterator[str]:
    """Arcs at the left of a column of words: the higher the farther, and those of a word joined in its line."""
    arcs = picture.of_kind(TREE)
    heights = levels(arcs)
    left_over = width - cells(table_of(picture, width, False).heading) - LEAST_BESIDE
    most = max(LEAST_BESIDE, min(int(width * MOST_BESIDE), left_over))
    step = 2 if 2 * max(heights) <= most else 1
    top = min(max(heights), most)
    margin = step * top + 2
    table = table_of(picture, width - margin, colour)
    rows = [0, *accumulate(map(len, table.rows))]
    canvas = Canvas()
    for arc, height in zip(arcs, heights, strict=True):
        column, dashed = step * (top - height), arc.weight < IMPROBABLE
        if not arc.head:
            canvas.level(rows[arc.dependent - 1], 0, margin - 1, dashed)
            canvas.write(rows[arc.dependent - 1], 0, f"─{RIGHTWARDS}")
        elif column < 0:
            canvas.level(rows[arc.dependent - 1], margin - 2, margin - 1, dashed)
            canvas.write(rows[arc.dependent - 1], margin - 2, RIGHTWARDS)
        else:
            canvas.upright(column, rows[arc.left - 1], rows[arc.right - 1], dashed)
            canvas.level(rows[arc.head - 1], column, margin - 1, dashed)
            canvas.level(rows[arc.dependent - 1], column, margin - 1, dashed)
            canvas.write(rows[arc.dependent - 1], column + 1, RIGHTWARDS)
    yield " " * margin + table.heading
    for number, line in enumerate(line for word in table.rows for line in word):
        yield f"{canvas.row(number, margin - 1)} {line}"
