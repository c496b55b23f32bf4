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

# What lines above words become below them.
_TURNED = str.maketrans("╭╮╰╯┬┴╷╵▼", "╰╯╭╮┴┬╵╷▲")


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
    found = row_of(picture.forms, [picture.of_kind(TREE)], width)
    return [*found.above(0), found.words] if found else []


class Layer:
    """Arcs of one side of a row of words: with their levels, and their places at words."""

    def __init__(self, arcs: Sequence[Arc]) -> None:
        self.arcs = arcs
        self.heights = levels(arcs)
        self._places = slots(arcs, self.heights)

    def place(self, arc: int, word: int) -> Slot:
        """The place of an end of an arc, by its number, at a word."""
        return self._places[arc, word]

    def widths(self) -> Iterator[tuple[int, int]]:
        """Words, and how wide they must be at least."""
        for number, arc in enumerate(self.arcs):
            for word in (arc.left, arc.right):
                slot = self.place(number, word)
                yield word, slot.total
                yield word, 0 if arc.head else int(2 * abs(slot.offset)) + cells(arc.tag)

    def spans(self) -> Iterator[Span]:
        """How far apart the ends of arcs must be for their labels."""
        for number, arc in enumerate(self.arcs):
            if arc.head and arc.tag:
                inner = self.place(number, arc.left).offset - self.place(number, arc.right).offset
                yield Span(arc.left, arc.right, cells(arc.tag) + 2 + inner)


class Row:
    """Words in a row, and where the ends of their arcs are; `labelled`: with room for the arcs' labels."""

    def __init__(self, forms: Sequence[str], layers: Sequence[Layer], labelled: bool) -> None:
        self._forms, self._layers = forms, layers
        self._sizes = [cells(form) for form in forms]
        widths = list(self._sizes)
        for word, least in (each for layer in layers for each in layer.widths()):
            widths[word - 1] = max(widths[word - 1], least)
        spans = [span for layer in layers for span in layer.spans()] if labelled else []
        self._middles = middles(widths, GAP, spans)
        self.width = int(self._middles[-1] + widths[-1] / 2 + 1)

    @property
    def words(self) -> str:
        """The line of words."""
        line = ""
        for form, middle, size in zip(self._forms, self._middles, self._sizes, strict=True):
            line += " " * (int(middle - size / 2) - cells(line)) + form
        return line

    def above(self, layer: int) -> list[str]:
        """The lines of the arcs of one of the layers over the words; none without arcs."""
        found = self._layers[layer]
        return list(_arcs_above(found, self._ends(found), self.width)) if found.arcs else []

    def below(self, layer: int) -> list[str]:
        """The same under the words."""
        return [line.translate(_TURNED) for line in reversed(self.above(layer))]

    def _ends(self, layer: Layer) -> list[tuple[int, int]]:
        """The columns in which the arcs of a layer end."""
        return [
            (self._end(arc.left, layer.place(number, arc.left)), self._end(arc.right, layer.place(number, arc.right)))
            for number, arc in enumerate(layer.arcs)
        ]

    def _end(self, word: int, slot: Slot) -> int:
        return int(self._middles[word - 1] - 0.5 + slot.offset)


def row_of(forms: Sequence[str], layers: Sequence[Sequence[Arc]], width: int) -> Row | None:
    """Return the words with their arcs in layers, without room for labels if need be; None if they are too wide."""
    found = [Layer(arcs) for arcs in layers]
    rows = (Row(forms, found, labelled) for labelled in (True, False))
    return next((row for row in rows if row.width <= width), None)


def _arcs_above(layer: Layer, places: Sequence[tuple[int, int]], width: int) -> Iterator[str]:
    canvas, bottom = Canvas(), max(layer.heights)
    for arc, height, ends in zip(layer.arcs, layer.heights, places, strict=True):
        row, dashed = bottom - height, arc.weight < IMPROBABLE
        for column in ends:
            canvas.upright(column, row, bottom + 1, dashed)
        if arc.head:
            canvas.level(row, *ends, dashed)
        room = ends[1] - ends[0] - 1 if arc.head else len(arc.tag)
        if cells(arc.tag) == len(arc.tag) <= room:
            canvas.write(row, max(0, (sum(ends) - len(arc.tag) + 1) // 2), arc.tag)
        canvas.write(bottom, ends[arc.dependent == arc.right], DOWNWARDS)
    yield from (canvas.row(row, width) for row in range(bottom + 1))


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
