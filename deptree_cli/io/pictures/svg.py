"""A picture as SVG: the tree's arcs above the words, the others below, each as opaque as it is probable.

The drawing has a page of its own, so that it can be read on any background; where the viewer prefers dark, page and ink
change together. Sizes are in pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from deptree_cli.io.pictures.arcs import OTHER, TREE, Arc, Picture
from deptree_cli.io.pictures.forms import ems, is_right_to_left, shown_form
from deptree_cli.io.pictures.geometry import Float, Slot, Span, levels, middles, slots

WORD, LABEL = 16, 11  # font sizes
LINE = 22  # of words
GAP, SLOT, MARGIN = 20, 8, 16
STEP, STEP_OF_BARE = 22, 13  # from level to level, with and without labels
CLEAR = 2  # between a word and its arcs
LOWEST = 8  # what an arc of level 1 is above that, besides its step
CORNER = 9
TIP_LENGTH, TIP_HALF = 7, 3.2
MIDDLE = Slot(0, 1)

_DARK = "@media (prefers-color-scheme:dark){{{}}}"
_FONTS = '"Noto Sans","Segoe UI","Helvetica Neue",Arial,"DejaVu Sans","Noto Sans CJK SC","Noto Sans Arabic",sans-serif'


def _colours(page: str, ink: str, tree: str, other: str) -> str:
    fills = {"page": page, "word": ink, "tree": tree, "other": other}
    return "".join(f".deptree .{name}{{fill:{fill};color:{fill}}}" for name, fill in fills.items())


STYLE = "\n".join(
    [
        f".deptree{{font-family:{_FONTS};text-anchor:middle}}",
        f".deptree .word{{font-size:{WORD}px}}",
        f".deptree .label{{font-size:{LABEL}px}}",
        ".deptree .line{fill:none;stroke:currentColor;stroke-width:1.5}",
        ".deptree .thread{fill:none;stroke:currentColor;stroke-width:.5;opacity:.5}",
        _colours("#fff", "#1f2328", "#0b5cad", "#c2410c"),
        _DARK.format(_colours("#15191f", "#e6edf3", "#6cb6ff", "#ff9b57")),
    ]
)


def to_svg(picture: Picture, signature: str = "") -> str:
    """The whole file; with the signature as metadata."""
    above, below = Side.of(picture.of_kind(TREE), -1), Side.of(picture.of_kind(OTHER), 1)
    row = Row.of(picture.forms, [above, below])
    top = MARGIN + above.height
    bottom = top + CLEAR + LINE
    height = bottom + below.height + MARGIN
    drawn = [*above.drawn(picture, row, top), *below.drawn(picture, row, bottom)]
    words = row.drawn(picture.forms, top + CLEAR + WORD)
    return "\n".join([*_opening(picture, row.width, height, signature), *drawn, *words, "</svg>", ""])


def _opening(picture: Picture, width: float, height: float, signature: str) -> Iterator[str]:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="deptree" {size} role="img">'
    yield f"<title>{_text(picture.name)}</title>"
    yield f"<desc>{_text(' '.join(picture.forms))} ({_text(picture.caption)})</desc>"
    if signature:
        yield f"<metadata>{_text(signature)}</metadata>"
    yield f"<style>\n{STYLE}\n</style>"
    yield f'<rect class="page" width="{width:.0f}" height="{height:.0f}" rx="8"/>'


def _text(text: str) -> str:
    return escape(shown_form(text), quote=False)


@dataclass(frozen=True)
class Row:
    """Where the words stand: their middles, from the right where most of them are written from right to left."""

    middles: Float
    width: float
    mirrored: bool

    @classmethod
    def of(cls, forms: Sequence[str], sides: Sequence[Side]) -> Row:
        """Words wide enough for their forms and for the arcs that end there, and far enough apart for labels."""
        widths = [ems(form) * WORD for form in forms]
        for side in sides:
            for word, width in side.widths():
                widths[word - 1] = max(widths[word - 1], width)
        xs = middles(widths, GAP, [span for side in sides for span in side.spans()]) + MARGIN
        mirrored = 2 * sum(map(is_right_to_left, forms)) > len(forms)
        return cls(xs, float(np.ceil(xs[-1] + widths[-1] / 2 + MARGIN)), mirrored)

    def x(self, word: int, slot: Slot = MIDDLE) -> float:
        """Of a slot of a word."""
        x = float(self.middles[word - 1]) + slot.offset * SLOT
        return self.width - x if self.mirrored else x

    def drawn(self, forms: Sequence[str], y: float) -> Iterator[str]:
        """The words."""
        for number, form in enumerate(forms, 1):
            direction = ' direction="rtl"' if is_right_to_left(form) else ""
            place = f'x="{self.x(number):.1f}" y="{y:.1f}"'
            yield f'<text class="word" {place}{direction} data-word="{number}">{_text(form)}</text>'


@dataclass(frozen=True)
class Side:
    """The arcs above (`down` -1) or below (1) the words, their levels and slots; y grows downwards."""

    arcs: Sequence[Arc]
    levels: Sequence[int]
    slots: Mapping[tuple[int, int], Slot]
    down: int

    @classmethod
    def of(cls, arcs: Sequence[Arc], down: int) -> Side:
        """Laid out."""
        heights = levels(arcs)
        return cls(arcs, heights, slots(arcs, heights), down)

    @property
    def height(self) -> float:
        """From the words to the farthest label."""
        return self._reach(max(self.levels)) + LINE if self.arcs else 0

    def _reach(self, level: int) -> float:
        """How far from the words the bars of a level are."""
        step = STEP if any(arc.head and arc.tag for arc in self.arcs) else STEP_OF_BARE
        return LOWEST + step * level

    def widths(self) -> Iterator[tuple[int, float]]:
        """Words, and how wide they must be at least."""
        for (number, word), slot in self.slots.items():
            arc = self.arcs[number]
            tag = 0 if arc.head else 2 * abs(slot.offset) * SLOT + ems(arc.tag) * LABEL
            yield word, max(slot.total * SLOT, tag)

    def spans(self) -> Iterator[Span]:
        """How far apart the ends of arcs must be: the corners, and the label between them."""
        for number, arc in enumerate(self.arcs):
            if arc.head:
                left, right = self.slots[number, arc.left], self.slots[number, arc.right]
                distance = ems(arc.tag) * LABEL + CORNER + (left.offset - right.offset) * SLOT
                yield Span(arc.left, arc.right, distance)

    def drawn(self, picture: Picture, row: Row, edge: float) -> Iterator[str]:
        """The arcs, the farthest and then the faintest first; their ends at y = edge."""
        order = sorted(range(len(self.arcs)), key=lambda number: (-self.levels[number], self.arcs[number].weight))
        for number in order:
            arc = self.arcs[number]
            bar = edge + self.down * self._reach(self.levels[number])
            x = row.x(arc.dependent, self.slots[number, arc.dependent])
            start = row.x(arc.head, self.slots[number, arc.head]) if arc.head else x
            yield _drawn(arc, picture.note(arc), _line(start, x, edge, bar, self.down), _tip(x, edge, self.down))
            if arc.tag:
                yield _label_drawn(arc, (start + x) / 2, bar + (LABEL + 1 if self.down > 0 else -4))


def _drawn(arc: Arc, note: str, line: str, tip: str) -> str:
    """One arc with its tooltip: as opaque as it is probable, with a thread along it for those that one hardly sees."""
    data = f'data-head="{arc.head}" data-dependent="{arc.dependent}"'
    paths = (
        f'<path class="thread" d="{line}"/><path class="line" opacity="{arc.weight:.4g}" d="{line}"/>'
        f'<path class="tip" opacity="{_legible(arc)}" d="{tip}"/>'
    )
    return f'<g class="arc {arc.kind}" {data}><title>{_text(note)}</title>{paths}</g>'


def _label_drawn(arc: Arc, x: float, y: float) -> str:
    """A label on a piece of page, lest lines run through it."""
    width, height = ems(arc.tag) * LABEL, LABEL + 1
    place = f'x="{x - width / 2:.1f}" y="{y - height + 2:.1f}" width="{width:.1f}" height="{height}"'
    label = f'class="label {arc.kind}" x="{x:.1f}" y="{y:.1f}" opacity="{_legible(arc)}"'
    return f'<rect class="page" {place}/><text {label}>{_text(arc.tag)}</text>'


def _legible(arc: Arc) -> str:
    """The opacity of what must be seen with any probability."""
    return f"{0.5 + 0.5 * arc.weight:.2g}"


def _line(start: float, x: float, edge: float, bar: float, down: int) -> str:
    end = edge + down * TIP_LENGTH / 2
    if start == x:
        return f"M{x:.1f} {bar:.1f}V{end:.1f}"
    side = 1 if start < x else -1
    corner = min(CORNER, abs(x - start) / 2)
    before, behind, under = start + side * corner, x - side * corner, bar - down * corner
    rise = f"M{start:.1f} {edge:.1f}V{under:.1f}Q{start:.1f} {bar:.1f} {before:.1f} {bar:.1f}"
    return f"{rise}H{behind:.1f}Q{x:.1f} {bar:.1f} {x:.1f} {under:.1f}V{end:.1f}"


def _tip(x: float, edge: float, down: int) -> str:
    return f"M{x:.1f} {edge:.1f}l{-TIP_HALF:g} {down * TIP_LENGTH:g}h{2 * TIP_HALF:g}z"
