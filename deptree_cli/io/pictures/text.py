"""Pictures as text for a terminal: the tree's arcs above the words or, where these are too long, beside them.

A table says how probable the heads are and which others there may be. Arcs less probable than not are dashed, and so
are those of a given tree that differ from another's. Of two given trees one is above the words and the other below; if
that is too wide, they are drawn one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf

from deptree_cli.io.files.streams import cells
from deptree_cli.io.pictures.arcs import SIDES, SURE, Arc, Picture, Side, Unit, fitted, is_right_to_left

UP, DOWN, RIGHT, LEFT = 1, 2, 4, 8

# A character for each set of the directions in which a line leaves it.
JOINTS = " ╵╷│╶╰╭├╴╯╮┤─┴┬┼"
DASHED = {UP | DOWN: "╎", LEFT | RIGHT: "╌"}

Cell = tuple[int, int]


class Canvas:
    """A grid of (row, column), as large as what is drawn; an upright line hides a level one that it crosses."""

    def __init__(self) -> None:
        self._joints: defaultdict[Cell, int] = defaultdict(int)
        self._uprights: dict[Cell, str] = {}
        self._solid: set[Cell] = set()
        self._written: dict[Cell, str] = {}

    def level(self, row: int, left: int, right: int, dashed: bool = False) -> None:
        """A line from one column to another, joined to what ends there."""
        self._joints[row, left] |= RIGHT
        self._joints[row, right] |= LEFT
        for column in range(left + 1, right):
            self._joints[row, column] |= LEFT | RIGHT
            if not dashed:
                self._solid.add((row, column))

    def upright(self, column: int, top: int, bottom: int, dashed: bool = False) -> None:
        self._joints[top, column] |= DOWN
        self._joints[bottom, column] |= UP
        for row in range(top + 1, bottom):
            self._uprights[row, column] = DASHED[UP | DOWN] if dashed else JOINTS[UP | DOWN]

    def write(self, row: int, column: int, text: str) -> None:
        self._written.update({(row, column + place): char for place, char in enumerate(text)})

    def row(self, number: int, width: int) -> str:
        return "".join(self._char((number, column)) for column in range(width))

    def _char(self, cell: Cell) -> str:
        drawn = self._written.get(cell) or self._uprights.get(cell)
        if drawn:
            return drawn
        joint = self._joints.get(cell, 0)
        return JOINTS[joint] if cell in self._solid else DASHED.get(joint, JOINTS[joint])


# The widest that forms and labels get, and the least that is left for other heads.
WIDEST, LEAST = 20, 20

# What a terminal is told: faint, yellow, cyan; and of two trees red and green.
FAINT, UNSURE, POSSIBLE = "2", "33", "36"
COLOURS = "31", "32"


def table_of(picture: Picture, width: int, colour: bool) -> tuple[str, list[list[str]]]:
    """The words with their heads: the line of column names, and the lines of each word, one or more.

    Other heads go on in further lines rather than beyond the width, if anything else leaves them room. Of given trees
    words are marked that differ.
    """
    tree, others = picture.tree, defaultdict[int, list[str]](list)
    for arc in sorted(() if picture.titles else picture.others, key=lambda arc: -arc.weight):
        others[arc.dependent].append(f"{_named(picture, arc.head)} {arc.weight:.4f}")
    digits, trees = len(str(len(tree))), [tree, picture.others] if len(picture.titles) > 1 else [tree]
    stand_out = [any(arc.differs or arc.weight < SURE for arc in arcs) for arcs in zip(*trees, strict=True)]
    columns = {
        " ": ["≠" if picture.titles and each else "" for each in stand_out],
        "": [f"{arc.dependent:>{digits}}" for arc in tree],
        "word": picture.forms,
    }
    if len(trees) > 1:
        columns |= {side: [_answer(picture, arc) for arc in arcs] for side, arcs in zip(SIDES, trees, strict=True)}
    else:
        columns |= {
            "relation": [arc.label for arc in tree],
            "head": [_named(picture, arc.head) for arc in tree],
            "share" if picture.samples else "p": [f"{arc.weight:.4f}" * (not picture.titles) for arc in tree],
        }
    heading, *rows = aligned((name, entries) for name, entries in columns.items() if any(entries))
    indent, lines = sum(cells(name) + 2 for name in heading), []
    marked = [UNSURE] * any(columns[" "])
    for arc, row, stands_out in zip(tree, rows, stand_out, strict=True):
        styles = [*marked, FAINT, *[""] * (len(row) - 2 - len(marked)), UNSURE if stands_out else ""]
        first, *more = _packed(others[arc.dependent], max(LEAST, width - indent))
        lines.append([joined(row, styles, colour) + painted(first, POSSIBLE, colour)])
        lines[-1] += [" " * indent + painted(line, POSSIBLE, colour) for line in more]
    last = "" if picture.titles else "other heads"
    return painted(joined(heading, [""] * len(heading), False) + last, FAINT, colour), lines


def _named(picture: Picture, word: int) -> str:
    if not 0 <= word <= len(picture.forms):
        return "_" if word < 0 else str(word)
    form = picture.word(word)
    if form == str(word):
        return form
    return f"{word} {fitted(form, min(cells(form), WIDEST - 4))}"


def _answer(picture: Picture, arc: Arc) -> str:
    """Label and head, the number of which has to do if the column has no room for its form."""
    head = _named(picture, arc.head)
    if cells(f"{arc.label} ← {head}") > WIDEST:
        head = head.partition(" ")[0]
    return f"{arc.label} ← {head}".lstrip()


def _packed(items: Sequence[str], room: int) -> Iterator[str]:
    """The items, separated by commas, as many to a line as there is room for."""
    line = ""
    for item in items:
        if line and cells(f"{line}, {item}") > room:
            yield f"{line},"
            line = ""
        line = f"{line}, {item}" if line else item
    yield line


def aligned(columns: Iterable[tuple[str, Sequence[str]]]) -> Iterator[tuple[str, ...]]:
    """Yield the names of columns, then their entries row by row: each as wide as its column, at most `WIDEST`."""
    sized = []
    for column in ([name, *entries] for name, entries in columns):
        size = min(WIDEST, max(map(cells, column)))
        sized.append([fitted(entry, size) for entry in column])
    return zip(*sized, strict=True)


def joined(row: Sequence[str], styles: Sequence[str], colour: bool) -> str:
    return "".join(painted(entry, style, colour) + "  " for entry, style in zip(row, styles, strict=True))


def painted(text: str, style: str, colour: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if colour and style and text else text


Layers = Sequence[Sequence[Arc]]

IMPROBABLE = 0.5

# Beside the words arcs get this share of the terminal's width at most, and what the table leaves, but this many columns
# at least. Where two columns for each are too many they get one; those too long even so are left to the table.
MOST_BESIDE, LEAST_BESIDE = 0.4, 12
DOWNWARDS, RIGHTWARDS = "▼", "►"

# What lines above words become below them.
_TURNED = str.maketrans("╭╮╰╯┬┴╷╵▼", "╰╯╭╮┴┬╵╷▲")


def to_text(picture: Picture, width: int, colour: bool = False) -> str:
    """The whole text, ending in a newline; what would be wider than `width` columns is drawn word below word."""
    pictures = ("".join(f"{line.rstrip()}\n" for line in _lines(each, width, colour)) for each in picture.all)
    return "\n".join(pictures)


def _lines(picture: Picture, width: int, colour: bool) -> Iterator[str]:
    (above, below), are_two = picture.sides, len(picture.titles) > 1
    # Words that the terminal may put into the order of their script would leave their arcs behind.
    is_drawn = not any(map(is_right_to_left, picture.forms))
    row = row_of(picture.forms, [above, below if are_two else []], width) if is_drawn else None
    if row is None and are_two:
        one, other = picture.apart
        yield from (*_lines(one, width, colour), "", *_lines(other, width, colour))
        return
    yield from (": ".join(filter(None, [picture.name, picture.full_caption])), "")
    if row is None:
        yield from _beside(picture, width, colour)
        return
    styles = COLOURS if are_two else ("", "")
    yield from (painted(line.rstrip(), styles[0], colour) for line in row.above(0))
    yield row.words
    yield from (painted(line.rstrip(), styles[1], colour) for line in row.below(1))
    names, words = table_of(picture, width, colour)
    yield from ("", names, *(line for word in words for line in word))


UNIT = Unit(cells, slot=1, gap=2, corners=(2, -inf))


def _is_dashed(arc: Arc) -> bool:
    return arc.differs or arc.weight < IMPROBABLE


class Row:
    """Words in a row, and where the ends of their arcs are; `labelled`: with room for the arcs' labels."""

    def __init__(self, forms: Sequence[str], sides: Sequence[Side], labelled: bool) -> None:
        self._forms, self._sides = forms, sides
        self._sizes = [cells(form) for form in forms]
        self._middles, widths = Side.middles(self._sizes, sides, 1, labelled)
        self.width = int(self._middles[-1] + widths[-1] / 2 + 1)

    @property
    def words(self) -> str:
        line = ""
        for form, middle, size in zip(self._forms, self._middles, self._sizes, strict=True):
            line += " " * (int(middle - size / 2) - cells(line)) + form
        return line

    def above(self, number: int) -> list[str]:
        side, canvas = self._sides[number], Canvas()
        bottom = max(side.levels, default=-1)
        for at, (arc, height) in enumerate(zip(side.arcs, side.levels, strict=True)):
            row, dashed = bottom - height, _is_dashed(arc)
            ends = [self._middles[word - 1] - 0.5 + side.slots[at, word].offset for word in (arc.left, arc.right)]
            start, end = map(int, ends)
            for column in (start, end):
                canvas.upright(column, row, bottom + 1, dashed)
            if arc.head:
                canvas.level(row, start, end, dashed)
            room = end - start - 1 if arc.head else len(arc.tag)
            if cells(arc.tag) == len(arc.tag) <= room:
                canvas.write(row, max(0, (start + end - len(arc.tag) + 1) // 2), arc.tag)
            canvas.write(bottom, end if arc.dependent == arc.right else start, DOWNWARDS)
        return [canvas.row(row, self.width) for row in range(bottom + 1)]

    def below(self, number: int) -> list[str]:
        return [line.translate(_TURNED) for line in reversed(self.above(number))]


def row_of(forms: Sequence[str], layers: Layers, width: int) -> Row | None:
    """Return the words with their arcs in layers, without room for labels if need be; None if they are too wide."""
    found = [Side(arcs, UNIT) for arcs in layers]
    rows = (Row(forms, found, labelled) for labelled in (True, False))
    return next((row for row in rows if row.width <= width), None)


def _beside(picture: Picture, width: int, colour: bool) -> Iterator[str]:
    """Arcs at the left of a column of words: the higher the farther, and those of a word joined in its line."""
    arcs = picture.sides[0]
    heights = Side(arcs, UNIT).levels
    left_over = width - cells(table_of(picture, width, False)[0]) - LEAST_BESIDE
    most = max(LEAST_BESIDE, min(int(width * MOST_BESIDE), left_over))
    step = 2 if 2 * max(heights, default=0) <= most else 1
    top = min(max(heights, default=0), most)
    margin = step * top + 2
    names, words = table_of(picture, width - margin, colour)
    rows = [0, *accumulate(map(len, words))]
    canvas = Canvas()
    for arc, height in zip(arcs, heights, strict=True):
        column, row, dashed = step * (top - height), rows[arc.dependent - 1], _is_dashed(arc)
        if not arc.head:
            canvas.level(row, 0, margin - 1, dashed)
            canvas.write(row, 0, f"─{RIGHTWARDS}")
        elif column < 0:
            canvas.level(row, margin - 2, margin - 1, dashed)
            canvas.write(row, margin - 2, RIGHTWARDS)
        else:
            canvas.upright(column, rows[arc.left - 1], rows[arc.right - 1], dashed)
            canvas.level(rows[arc.head - 1], column, margin - 1, dashed)
            canvas.level(row, column, margin - 1, dashed)
            canvas.write(row, column + 1, RIGHTWARDS)
    yield " " * margin + names
    for number, line in enumerate(line for word in words for line in word):
        yield f"{canvas.row(number, margin - 1)} {line}"
