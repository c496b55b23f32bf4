"""A picture as SVG or as TikZ: the tree's arcs above the words, the others below, as opaque as they are probable.

Long sentences go on in further rows of an SVG. An arc between two rows is drawn in both: from its one end to the edge
of the row, and from the edge of the other row to its other end; rows in between do not see it. The drawing has a page
of its own, so that it can be read on any background; where the viewer prefers dark, page and ink change together. Sizes
are in pixels; y grows downwards. TikZ is an environment of the LaTeX package tikz-dependency, to be input in papers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from deptree_cli.io.pictures.arcs import (
    OTHER,
    Arc,
    Picture,
    Side,
    Unit,
    among_others,
    ems,
    is_right_to_left,
    shown_form,
)

WORD, LABEL = 16, 11  # font sizes
GAP, SLOT = 20, 8
STEP, STEP_OF_BARE = 22, 13  # from a level with labels to the next, and from one without
LOWEST = 24  # how far from the words the arcs of level 1 are
CORNER = 9
EDGE = 12.0  # how far beyond its words a row ends for arcs that leave it
MOST_MORE_ROWS = 4  # than words and gaps alone would need


class Part(NamedTuple):
    """What is drawn of an arc in a row: all, or one end of it, then up to a word before the first or behind the last.

    `leaves`: -1 where it goes on beyond the left edge, 1 beyond the right one, 0 where the row holds both ends.
    """

    arc: Arc
    head: int
    dependent: int
    tag: str
    left: int
    right: int
    leaves: int

    @property
    def ends(self) -> list[int]:
        both = [self.left] * (self.leaves >= 0) + [self.right] * (self.leaves <= 0)
        return both if self.head else [self.dependent]


UNIT = Unit(lambda text: ems(text) * LABEL, SLOT, GAP, (CORNER, CORNER))


class RowSide(Side):
    """The arcs above (`down` -1) or below (1) the words of a row; `reaches`: how far from these bars of a level are."""

    def __init__(self, arcs: Sequence[Arc], first: int, last: int, down: int) -> None:
        parts = []
        for arc in arcs:
            begins, ends = first <= arc.left <= last, first <= arc.right <= last
            if begins or ends:
                left, right = arc.left if begins else first - 1, arc.right if ends else last + 1
                parts.append(Part(arc, arc.head, arc.dependent, arc.tag, left, right, begins - ends))
        super().__init__(parts, UNIT)
        self.down = down
        bars = [(part, level) for part, level in zip(self.arcs, self.levels, strict=True) if part.head]
        tagged = {level for part, level in bars if part.tag and not part.leaves}
        steps = (STEP if level in tagged else STEP_OF_BARE for level in range(1, max(self.levels, default=0)))
        self.reaches = [*accumulate(steps, initial=float(LOWEST))]
        self.height = self.reaches[-1] + STEP if self.arcs else 0


class Row:
    """The words `first` to `last` with the arcs above and below them; x counts from the row's left edge."""

    def __init__(self, forms: Sequence[str], above: Sequence[Arc], below: Sequence[Arc], first: int, last: int) -> None:
        self.first, self.last = first, last
        self.sides = RowSide(above, first, last, -1), RowSide(below, first, last, 1)
        sizes = [ems(form) * WORD for form in forms[first - 1 : last]]
        self.middles, widths = Side.middles(sizes, self.sides, first, labelled=True)
        self.width = float(np.ceil(self.middles[-1] + widths[-1] / 2))
        self.height = sum(side.height for side in self.sides)

    def x(self, word: int, offset: float = 0) -> float:
        """Return where a slot of a word is, by its offset; words beyond an edge are there."""
        if not self.first <= word <= self.last:
            return -EDGE if word < self.first else self.width + EDGE
        return float(self.middles[word - self.first]) + offset * SLOT


def rows_of(forms: Sequence[str], above: Sequence[Arc], below: Sequence[Arc], room: float) -> list[Row]:
    """Return the words in several rows of at most `room`, as few as that takes, about equally long."""
    # What the words take beside each other; arcs that leave a row ask for less, so that this is rather too much.
    places = np.array([ems(form) * WORD for form in forms]) + GAP
    wanted = min(len(forms), max(2, int(np.ceil(places.sum() / room))))
    # One word may be wider than the room by itself, where half the sentence hangs on it.
    most = min(len(forms), wanted + MOST_MORE_ROWS)
    for count in range(wanted, most + 1):
        ends = np.cumsum(places)
        breaks = [int(np.searchsorted(ends - places / 2, ends[-1] * row / count)) for row in range(count + 1)]
        rows = []
        for first, last in pairwise(breaks):
            if last > first:
                rows.append(Row(forms, above, below, first + 1, last))
                if rows[-1].width > room and count < most:
                    break
        else:
            break
    widest = max(row.width for row in rows)
    for row in rows[:-1]:
        row.middles, row.width = row.middles * (widest / row.width), widest
    return rows


MARGIN = 16
CLEAR = 2  # between a word and its arcs
LINE, LINE_OF_NUMBERED = WORD + 6, WORD + 17  # of words, and of words with their numbers below
BETWEEN_ROWS = 14
NOTE = LABEL + 9  # what the note takes below everything
BESIDE = 5  # between an edge and the name that stands beyond it

# A sentence up to so wide is one row; rows of a longer one are tried from narrow to wide until the page fits a screen.
ONE_ROW = 1500
ROOMS = (1100, 1400, 1700, 2000, 2400, 2800, 3200, 3500)
PORTRAIT = 1.1

# The sides of a page are shown no larger. More other arcs than this many a word are no longer a matter of rows, though:
# whoever wants to see these gets them in one row, whatever it takes.
LARGEST = 3900
MOST_IN_ROWS = 12

# A longer form is cut where it names the other end of an arc.
LONGEST_NAME = 14


class Page:
    """Rows with their places: `tops` is where the arcs above each row's words end.

    `line` is what a line of words takes: these show their numbers where there are several rows, as arcs that go on in
    other rows are found by them. `indent` is from the left edge of the page to that of the rows. `shown` is by what the
    drawing is scaled. `mirrored`: x counts from the right, for words written from right to left.
    """

    def __init__(self, picture: Picture, rows: Sequence[Row], any_size: bool = False) -> None:
        self.rows, self.line = rows, LINE_OF_NUMBERED if len(rows) > 1 else LINE
        heights = [row.height + 2 * CLEAR + self.line + BETWEEN_ROWS for row in rows]
        starts = accumulate(heights[:-1], initial=float(MARGIN))
        self.tops = [start + row.sides[0].height for start, row in zip(starts, rows, strict=True)]
        height = sum(heights) - BETWEEN_ROWS + 2 * MARGIN + NOTE * bool(picture.note_below)
        left = [part for row in rows for side in row.sides for part in side.arcs if part.leaves]
        names = [(part.leaves, ems(beyond(picture, part)) * LABEL + BESIDE + EDGE) for part in left]
        before, behind = (max((size for at, size in names if at == leaves), default=0.0) for leaves in (-1, 1))
        width = MARGIN + before + max(row.width for row in rows) + behind + MARGIN
        width = max(width, ems(picture.note_below) * LABEL + 2 * MARGIN)
        self.width, self.height, self.indent = float(round(width)), float(round(height)), MARGIN + before
        self.shown = 1.0 if any_size else min(1.0, LARGEST / max(width, height))
        self.mirrored = 2 * sum(map(is_right_to_left, picture.forms)) > len(picture.forms)

    def x(self, x: float) -> float:
        return self.width - self.indent - x if self.mirrored else self.indent + x


def laid_out(picture: Picture) -> Page:
    above, below = picture.sides
    whole = Row(picture.forms, above, below, 1, len(picture.forms))
    if whole.width <= ONE_ROW or len(below) > MOST_IN_ROWS * len(picture.forms):
        return Page(picture, [whole], any_size=whole.width > ONE_ROW)
    for room in ROOMS:
        page = Page(picture, rows_of(picture.forms, above, below, room))
        if page.height <= PORTRAIT * page.width:
            break
    return page


def beyond(picture: Picture, part: Part) -> str:
    """Return what stands where an arc leaves its row: the word that it goes on to, and its label."""
    number = part.arc.left if part.leaves < 0 else part.arc.right
    form = picture.word(number)
    short = among_others(form if len(form) <= LONGEST_NAME else f"{form[: LONGEST_NAME - 1]}…")
    name = short if form == str(number) else f"{number} {short}"
    return " · ".join(filter(None, [name, part.arc.tag]))


NUMBER = 9  # the font size of the numbers below words
TIP_LENGTH, TIP_HALF = 7, 3.2

_FONTS = '"Noto Sans","Segoe UI","Helvetica Neue",Arial,"DejaVu Sans","Noto Sans CJK SC","Noto Sans Arabic",sans-serif'


def _colours(page: str, ink: str, tree: str, other: str, faint: str) -> str:
    fills = {"page": page, "word": ink, "tree": tree, "other": other, "faint": faint}
    return "".join(f".deptree .{name}{{fill:{fill};color:{fill}}}" for name, fill in fills.items())


STYLE = "\n".join(
    [
        f".deptree{{font-family:{_FONTS};text-anchor:middle}}",
        f".deptree .word{{font-size:{WORD}px}}",
        f".deptree .label,.deptree .note{{font-size:{LABEL}px}}",
        f".deptree .number{{font-size:{NUMBER}px}}",
        ".deptree .start{text-anchor:start}",
        ".deptree .end{text-anchor:end}",
        ".deptree .line{fill:none;stroke:currentColor;stroke-width:1.5}",
        ".deptree .thread{fill:none;stroke:currentColor;stroke-width:.5;opacity:.5}",
        _colours("#fff", "#1f2328", "#0b5cad", "#c2410c", "#59636e"),
        f"@media (prefers-color-scheme:dark){{{_colours('#15191f', '#e6edf3', '#6cb6ff', '#ff9b57', '#9198a1')}}}",
    ]
)


def to_svg(picture: Picture, signature: str = "") -> str:
    pages = [laid_out(each) for each in picture.all]
    width, height = max(page.width for page in pages), sum(page.height for page in pages)
    shown = min(page.shown for page in pages)
    size = f'width="{width * shown:.0f}" height="{height * shown:.0f}"'
    view = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    caption = "; ".join(filter(None, (each.full_caption for each in picture.all)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="deptree" {size} {view} role="img">',
        f"<title>{_text(picture.name)}</title>",
        f"<desc>{_text(' '.join(picture.forms))}{f' ({_text(caption)})' if caption else ''}</desc>",
        *([f"<metadata>{_text(signature)}</metadata>"] if signature else []),
        f"<style>\n{STYLE}\n</style>",
        f'<rect class="page" width="{width:.0f}" height="{height:.0f}" rx="8"/>',
    ]
    tops = accumulate((page.height for page in pages[:-1]), initial=0.0)
    for each, page, top in zip(picture.all, pages, tops, strict=True):
        body = _drawing(each, page)
        lines += [f'<g transform="translate(0 {top:.0f})">', *body, "</g>"] if picture.further else body
    return "\n".join([*lines, "</svg>", ""])


def _drawing(picture: Picture, page: Page) -> Iterator[str]:
    arcs, labels, words = dict[Arc, _Paths](), list[str](), list[str]()
    for row, top in zip(page.rows, page.tops, strict=True):
        for side, edge in zip(row.sides, (top, top + CLEAR + page.line), strict=True):
            labels += _side(picture, page, row, side, edge, arcs)
        words += _words(picture, page, row, top + CLEAR + WORD)
    for arc, drawn in sorted(arcs.items(), key=lambda each: each[1].depth):
        data = f'data-head="{arc.head}" data-dependent="{arc.dependent}"'
        dashes = ' stroke-dasharray="5 3"' * arc.differs
        paths = (
            f'<path class="thread" d="{drawn.line}"/><path class="line" opacity="{arc.weight:.4g}" d="{drawn.line}"/>'
            f'<path class="tip" opacity="{_legible(arc)}" d="{drawn.tip}"/>'
        )
        yield f'<g class="arc {picture.look(arc)}" {data}{dashes}><title>{_text(picture.note(arc))}</title>{paths}</g>'
    yield from labels + words
    if picture.note_below:
        place = f'x="{MARGIN}" y="{page.height - MARGIN / 2:.0f}"'
        yield f'<text class="note faint start" {place}>{_text(picture.note_below)}</text>'


def _text(text: str) -> str:
    return escape(shown_form(text), quote=False)


@dataclass
class _Paths:
    """An arc, one element though its parts stand in two rows; high and light ones are drawn first."""

    depth: tuple[int, float]
    line: str = ""
    tip: str = ""


def _words(picture: Picture, page: Page, row: Row, y: float) -> Iterator[str]:
    for number in range(row.first, row.last + 1):
        form, x = picture.forms[number - 1], page.x(row.x(number))
        direction = ' direction="rtl"' if is_right_to_left(form) else ""
        yield f'<text class="word" x="{x:.1f}" y="{y:.1f}"{direction} data-word="{number}">{_text(form)}</text>'
        if len(page.rows) > 1:
            yield f'<text class="number faint" x="{x:.1f}" y="{y + NUMBER + 3:.1f}">{number}</text>'


def _side(picture: Picture, page: Page, row: Row, side: RowSide, edge: float, arcs: dict[Arc, _Paths]) -> Iterator[str]:
    """Yield the labels, and add to the arcs what of them stands on this side; there words end at y = edge."""
    for number, (part, level) in enumerate(zip(side.arcs, side.levels, strict=True)):
        arc, bar = part.arc, edge + side.down * side.reaches[level - 1]
        offsets = {word: side.slots[number, word].offset for word in part.ends}
        xs = {word: page.x(row.x(word, offsets.get(word, 0))) for word in (part.left, part.right)}
        drawn = arcs.setdefault(arc, _Paths((-level, arc.weight)))
        drawn.line += _line(part, xs, edge, bar, side.down)
        if part.dependent in part.ends:
            tip = f"l{-TIP_HALF:g} {side.down * TIP_LENGTH:g}h{2 * TIP_HALF:g}z"
            drawn.tip = f"M{xs[part.dependent]:.1f} {edge:.1f}{tip}"
        if part.leaves:  # beyond the edge: which word the arc goes on to, and its label
            rightwards = (part.leaves > 0) != page.mirrored
            x = xs[part.right if part.leaves > 0 else part.left] + (BESIDE if rightwards else -BESIDE)
            anchor = "start" if rightwards else "end"
            label = f'class="label {picture.look(arc)} {anchor}" x="{x:.1f}" y="{bar + LABEL / 3:.1f}"'
            yield f'<text {label} opacity="{_legible(arc)}">{_text(beyond(picture, part))}</text>'
        elif arc.tag:
            x, y = (xs[part.left] + xs[part.right]) / 2, bar + (LABEL + 1 if side.down > 0 else -4)
            width, height = ems(arc.tag) * LABEL, LABEL + 1
            place = f'x="{x - width / 2:.1f}" y="{y - height + 2:.1f}" width="{width:.1f}" height="{height}"'
            label = f'class="label {picture.look(arc)}" x="{x:.1f}" y="{y:.1f}" opacity="{_legible(arc)}"'
            yield f'<rect class="page" {place}/><text {label}>{_text(arc.tag)}</text>'


def _legible(arc: Arc) -> str:
    return f"{0.5 + 0.5 * arc.weight:.2g}"


def _line(part: Part, xs: dict[int, float], edge: float, bar: float, down: int) -> str:
    """From the head to the dependent; or from whichever of them is in the row to the edge."""
    near = part.ends[0] if part.leaves else part.head or part.dependent
    far = part.left + part.right - near
    start, x = xs[near], xs[far]
    end = edge + down * TIP_LENGTH / 2
    if near == far:
        return f"M{x:.1f} {bar:.1f}V{end:.1f}"
    side = 1 if start < x else -1
    corner = min(CORNER, abs(x - start) / 2)
    before, behind, under = start + side * corner, x - side * corner, bar - down * corner
    foot = end if part.leaves and near == part.dependent else edge
    rise = f"M{start:.1f} {foot:.1f}V{under:.1f}Q{start:.1f} {bar:.1f} {before:.1f} {bar:.1f}"
    if part.leaves:
        return f"{rise}H{x:.1f}"
    return f"{rise}H{behind:.1f}Q{x:.1f} {bar:.1f} {x:.1f} {under:.1f}V{end:.1f}"


_ESCAPES = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{character: f"{{{character}}}" for character in "[]"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"},
    }
)


def to_tikz(picture: Picture, signature: str = "") -> str:
    r"""Return the environment; its preamble needs ``\usepackage{tikz-dependency}``, and fontenc T1 for quotes.

    Further pictures are environments of their own.
    """
    lines = list[str]()
    for each in picture.all:
        words = r" \& ".join(map(escaped, each.forms))
        lines += [
            *(f"% {shown_form(line)}" for line in (each.name, each.full_caption, signature) if line),
            r"% In the preamble: \usepackage[T1]{fontenc} \usepackage{tikz-dependency}",
            r"\begin{dependency}",
            r"\begin{deptext}[column sep=1em]",
            rf"{words} \\",
            r"\end{deptext}",
            *(_arc(each, arc) for side in each.sides for arc in side),
            *(_title(title, *edges) for title, edges in zip(each.titles, _EDGES, strict=False) if title),
            r"\end{dependency}",
            "",
        ]
    return "\n".join(lines)


# Of the title of a tree and of the drawing, where they touch: above and below.
_EDGES = ("south", "north"), ("north", "south")


def _title(title: str, own: str, edge: str) -> str:
    place = f"[anchor={own} west, font=\\scriptsize] at (current bounding box.{edge} west)"
    return rf"\node{place} {{{escaped(title)}}};"


def escaped(text: str) -> str:
    r"""The text as TeX shows it; no character is a command.

    >>> print(escaped("50 % & a_b"))
    50 \% \& a\_b
    """
    return shown_form(text).translate(_ESCAPES)


def _arc(picture: Picture, arc: Arc) -> str:
    style = f"opacity={arc.weight:.3f}" if not picture.titles else "dashed, orange!80!black" if arc.differs else ""
    options = ["edge below"] * (arc.kind == OTHER) + [f"edge style={{{style}}}"] * bool(style)
    tag = f"{{{escaped(arc.tag)}}}" if arc.tag else "{}"
    shown = f"[{', '.join(options)}]" * bool(options)
    if not arc.head:
        return rf"\deproot{shown}{{{arc.dependent}}}{tag}"
    return rf"\depedge{shown}{{{arc.head}}}{{{arc.dependent}}}{tag}"
