"""Lines on a grid of characters, drawn with Unicode's box drawing."""

from __future__ import annotations

from collections import defaultdict

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
        """A line from one row to another, joined to what ends there."""
        self._joints[top, column] |= DOWN
        self._joints[bottom, column] |= UP
        for row in range(top + 1, bottom):
            self._uprights[row, column] = DASHED[UP | DOWN] if dashed else JOINTS[UP | DOWN]

    def write(self, row: int, column: int, text: str) -> None:
        """Narrow characters over whatever is drawn there."""
        self._written.update({(row, column + place): char for place, char in enumerate(text)})

    def row(self, number: int, width: int) -> str:
        """The first columns of a row."""
        return "".join(self._char((number, column)) for column in range(width))

    def _char(self, cell: Cell) -> str:
        drawn = self._written.get(cell) or self._uprights.get(cell)
        if drawn:
            return drawn
        joint = self._joints.get(cell, 0)
        return JOINTS[joint] if cell in self._solid else DASHED.get(joint, JOINTS[joint])
