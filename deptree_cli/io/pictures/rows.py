"""How the words of a picture are laid out in rows, and what of every arc is drawn in which row.

An arc between two rows is drawn in both: from its one end to the edge of the row, and from the edge of the other row to
its other end. Rows in between do not see it. Sizes are in pixels; y grows downwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from deptree_cli.io.pictures.arcs import Arc
from deptree_cli.io.pictures.forms import ems
from deptree_cli.io.pictures.geometry import Float, Slot, Span, levels, middles, slots

WORD, LABEL = 16, 11  # font sizes
GAP, SLOT = 20, 8
STEP, STEP_OF_BARE = 22, 13  # from a level with labels to the next, and from one without
LOWEST = 24  # how far from the words the arcs of level 1 are
CORNER = 9
EDGE = 12.0  # how far beyond its words a row ends for arcs that leave it
MIDDLE = Slot(0, 1)
MOST_MORE_ROWS = 4  # than words and gaps alone would need


@dataclass(frozen=True, slots=True)
class Part:
    """What is drawn of an arc in a row: all, or one end of it.

    Attributes:
        left, right: the words that it spans; one before the first or behind the last word stands for the edge.
        leaves: -1 where it goes on beyond the left edge, 1 beyond the right one, 0 where the row holds both ends.
    """

    arc: Arc
    left: int
    right: int
    leaves: int = 0

    @property
    def head(self) -> int:
        """The arc's."""
        return self.arc.head

    @property
    def dependent(self) -> int:
        """The arc's."""
        return self.arc.dependent

    @property
    def ends(self) -> list[int]:
        """The words of the row at which it ends."""
        if not self.head:
            return [self.dependent]
        return [self.left] * (self.leaves >= 0) + [self.right] * (self.leaves <= 0)

    @property
    def tagged(self) -> bool:
        """Whether its bar carries a label; one that leaves the row has it beyond the edge."""
        return bool(self.head and not self.leaves and self.arc.tag)


def parts(arcs: Sequence[Arc], first: int, last: int) -> list[Part]:
    """Return what a row of these words shows of the arcs."""
    found = []
    for arc in arcs:
        begins, ends = first <= arc.left <= last, first <= arc.right <= last
        if begins and ends:
            found.append(Part(arc, arc.left, arc.right))
        elif begins:
            found.append(Part(arc, arc.left, last + 1, 1))
        elif ends:
            found.append(Part(arc, first - 1, arc.right, -1))
    return found


class Side:
    """The arcs above (`down` -1) or below (1) the words of a row, with their levels and slots."""

    def __init__(self, arcs: Sequence[Arc], first: int, last: int, down: int) -> None:
        self.parts = parts(arcs, first, last)
        self.down = down
        self.levels = levels(self.parts)
        self.slots = slots(self.parts, self.levels)

    @cached_property
    def _reaches(self) -> list[float]:
        """How far from the words the bars of every level are, from level 1 on."""
        tagged = {level for part, level in zip(self.parts, self.levels, strict=True) if part.tagged}
        reaches = [float(LOWEST)]
        for level in range(1, max(self.levels, default=0)):
            reaches.append(reaches[-1] + (STEP if level in tagged else STEP_OF_BARE))
        return reaches

    def reach(self, level: int) -> float:
        """How far from the words the bars of a level are."""
        return self._reaches[level - 1]

    @property
    def height(self) -> float:
        """From the words to the farthest label."""
        return self.reach(max(self.levels)) + STEP if self.parts else 0

    def widths(self) -> Iterator[tuple[int, float]]:
        """Words, and how wide they must be at least."""
        for number, part in enumerate(self.parts):
            for word in part.ends:
                slot = self.slots[number, word]
                tag = 0 if part.head else 2 * abs(slot.offset) * SLOT + ems(part.arc.tag) * LABEL
                yield word, max(slot.total * SLOT, tag)

    def spans(self) -> Iterator[Span]:
        """How far apart the ends of arcs must be: the corners, and the label between them."""
        for number, part in enumerate(self.parts):
            if part.head and not part.leaves:
                left, right = self.slots[number, part.left], self.slots[number, part.right]
                distance = ems(part.arc.tag) * LABEL + CORNER + (left.offset - right.offset) * SLOT
                yield Span(part.left, part.right, distance)


class Row:
    """The words `first` to `last` with the arcs above and below them; x counts from the row's left edge."""

    def __init__(self, forms: Sequence[str], above: Sequence[Arc], below: Sequence[Arc], first: int, last: int) -> None:
        self.first, self.last = first, last
        self.sides = Side(above, first, last, -1), Side(below, first, last, 1)
        widths = [ems(form) * WORD for form in forms[first - 1 : last]]
        for side in self.sides:
            for word, width in side.widths():
                widths[word - first] = max(widths[word - first], width)
        spans = [Span(left - first + 1, right - first + 1, distance) for side in self.sides
                 for left, right, distance in side.spans()]  # fmt: skip
        self._middles: Float = middles(widths, GAP, spans)
        self.width = float(np.ceil(self._middles[-1] + widths[-1] / 2))

    def stretched(self, width: float) -> None:
        """Take the space of a wider row, shared by all its words."""
        self._middles = self._middles * (width / self.width)
        self.width = width

    def x(self, word: int, slot: Slot = MIDDLE) -> float:
        """Return where a slot of a word is; those of the edges are there."""
        if not self.first <= word <= self.last:
            return -EDGE if word < self.first else self.width + EDGE
        return float(self._middles[word - self.first]) + slot.offset * SLOT

    @property
    def height(self) -> float:
        """Of its arcs."""
        return sum(side.height for side in self.sides)


def rows_of(forms: Sequence[str], above: Sequence[Arc], below: Sequence[Arc], room: float) -> list[Row]:
    """Return the words in several rows of at most `room`, as few as that takes, about equally long."""
    n = len(forms)
    # What the words take beside each other; arcs that leave a row ask for less, so that this is rather too much.
    places = np.array([ems(form) * WORD for form in forms]) + GAP
    wanted = max(2, int(np.ceil(places.sum() / room)))
    # One word may be wider than the room by itself, where half the sentence hangs on it.
    most = min(n, wanted + MOST_MORE_ROWS)
    for count in range(wanted, most + 1):
        rows = []
        for first, last in _shares(places, count):
            rows.append(Row(forms, above, below, first, last))
            if rows[-1].width > room and count < most:
                break
        else:
            break
    widest = max(row.width for row in rows)
    for row in rows[:-1]:
        row.stretched(widest)
    return rows


def _shares(places: Float, count: int) -> list[tuple[int, int]]:
    """The first and the last word of each of so many rows, which share the places about equally."""
    ends = np.cumsum(places)
    breaks = [int(np.searchsorted(ends - places / 2, ends[-1] * row / count)) for row in range(count + 1)]
    return [(first + 1, last) for first, last in pairwise(breaks) if last > first]
