"""The page that the rows of a picture stand on: as wide as it must be to be not much higher than wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from deptree_cli.io.pictures.arcs import OTHER, TREE, Picture
from deptree_cli.io.pictures.forms import among_others, ems, is_right_to_left
from deptree_cli.io.pictures.rows import EDGE, LABEL, WORD, Part, Row, rows_of

MARGIN = 16
CLEAR = 2  # between a word and its arcs
LINE, LINE_OF_NUMBERED = WORD + 6, WORD + 17  # of words, and of words with their numbers below
BETWEEN_ROWS = 14
NOTE = LABEL + 9  # what the note on hidden arcs takes below everything
BESIDE = 5  # between an edge and the name that stands beyond it

# A sentence up to so wide is one row; rows of a longer one are tried from narrow to wide until the page fits a screen.
ONE_ROW = 1500
ROOMS = (1100, 1400, 1700, 2000, 2400, 2800, 3200, 3500)
PORTRAIT = 1.1

# The sides of a page are shown no larger. More other arcs than so many a word are no longer a matter of rows, though:
# whoever wants to see these gets them in one row, whatever it takes.
LARGEST = 3900
MOST_IN_ROWS = 12

# A longer form is cut where it names the other end of an arc.
LONGEST_NAME = 14


@dataclass(frozen=True)
class Page:
    """Rows with their places.

    Attributes:
        tops: where the arcs above each row's words end.
        width, height: of the drawing.
        shown: by what the drawing is scaled.
        indent: from the left edge of the page to that of the rows.
        mirrored: whether x counts from the right, where most of the words are written from right to left.
    """

    rows: Sequence[Row]
    tops: Sequence[float]
    width: float
    height: float
    shown: float
    indent: float
    mirrored: bool

    @property
    def numbered(self) -> bool:
        """Whether words show their numbers: where arcs go on in other rows, they are found by these."""
        return len(self.rows) > 1

    @property
    def line(self) -> int:
        """The height of a line of words."""
        return LINE_OF_NUMBERED if self.numbered else LINE

    def x(self, x: float) -> float:
        """Return where a place of a row is on the page."""
        return self.width - self.indent - x if self.mirrored else self.indent + x


def laid_out(picture: Picture) -> Page:
    """Return the page of a picture."""
    above, below = picture.of_kind(TREE), picture.of_kind(OTHER)
    whole = Row(picture.forms, above, below, 1, len(picture.forms))
    mirrored = 2 * sum(map(is_right_to_left, picture.forms)) > len(picture.forms)
    if whole.width <= ONE_ROW:
        return _page(picture, [whole], mirrored)
    if len(below) > MOST_IN_ROWS * len(picture.forms):
        return _page(picture, [whole], mirrored, any_size=True)
    for room in ROOMS:
        page = _page(picture, rows_of(picture.forms, above, below, room), mirrored)
        if page.height <= PORTRAIT * page.width:
            break
    return page


def _page(picture: Picture, rows: Sequence[Row], mirrored: bool, any_size: bool = False) -> Page:
    line = LINE_OF_NUMBERED if len(rows) > 1 else LINE
    heights = [row.height + 2 * CLEAR + line + BETWEEN_ROWS for row in rows]
    starts = accumulate(heights[:-1], initial=float(MARGIN))
    tops = [start + row.sides[0].height for start, row in zip(starts, rows, strict=True)]
    height = sum(heights) - BETWEEN_ROWS + 2 * MARGIN + NOTE * bool(picture.hidden_note)
    before, behind = (max(_names(picture, rows, leaves), default=0.0) for leaves in (-1, 1))
    width = MARGIN + before + max(row.width for row in rows) + behind + MARGIN
    width = max(width, ems(picture.hidden_note) * LABEL + 2 * MARGIN)
    shown = 1.0 if any_size else min(1.0, LARGEST / max(width, height))
    return Page(rows, tops, float(round(width)), float(round(height)), shown, MARGIN + before, mirrored)


def _names(picture: Picture, rows: Sequence[Row], leaves: int) -> Iterator[float]:
    """How wide the names beyond the edges of one side are."""
    for row in rows:
        for side in row.sides:
            yield from (
                ems(beyond(picture, part)) * LABEL + BESIDE + EDGE for part in side.parts if part.leaves == leaves
            )


def beyond(picture: Picture, part: Part) -> str:
    """Return what stands where an arc leaves its row: the word that it goes on to, and its label."""
    number = part.arc.left if part.leaves < 0 else part.arc.right
    form = picture.word(number)
    short = among_others(form if len(form) <= LONGEST_NAME else f"{form[: LONGEST_NAME - 1]}…")
    name = short if form == str(number) else f"{number} {short}"
    return " · ".join(filter(None, [name, part.arc.tag]))
