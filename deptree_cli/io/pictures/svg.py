"""A picture as SVG: the tree's arcs above the words, the others below, each as opaque as it is probable.

Long sentences go on in further rows. The drawing has a page of its own, so that it can be read on any background; where
the viewer prefers dark, page and ink change together. Sizes are in pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from deptree_cli.io.pictures.arcs import Arc, Picture
from deptree_cli.io.pictures.forms import ems, is_right_to_left, shown_form
from deptree_cli.io.pictures.page import BESIDE, CLEAR, MARGIN, Page, beyond, laid_out
from deptree_cli.io.pictures.rows import CORNER, LABEL, MIDDLE, WORD, Part, Row, Side

NUMBER = 9  # the font size of the numbers below words
TIP_LENGTH, TIP_HALF = 7, 3.2

_DARK = "@media (prefers-color-scheme:dark){{{}}}"
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
        _DARK.format(_colours("#15191f", "#e6edf3", "#6cb6ff", "#ff9b57", "#9198a1")),
    ]
)


def to_svg(picture: Picture, signature: str = "") -> str:
    """The whole file; with the signature as metadata."""
    page = laid_out(picture)
    drawing = _Drawing(picture, page)
    for row, top in zip(page.rows, page.tops, strict=True):
        drawing.add(row, top)
    return "\n".join([*_opening(picture, page, signature), *drawing.lines(), *_note(picture, page), "</svg>", ""])


def _opening(picture: Picture, page: Page, signature: str) -> Iterator[str]:
    size = f'width="{page.width * page.shown:.0f}" height="{page.height * page.shown:.0f}"'
    view = f'viewBox="0 0 {page.width:.0f} {page.height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="deptree" {size} {view} role="img">'
    yield f"<title>{_text(picture.name)}</title>"
    yield f"<desc>{_text(' '.join(picture.forms))} ({_text(picture.full_caption)})</desc>"
    if signature:
        yield f"<metadata>{_text(signature)}</metadata>"
    yield f"<style>\n{STYLE}\n</style>"
    yield f'<rect class="page" width="{page.width:.0f}" height="{page.height:.0f}" rx="8"/>'


def _note(picture: Picture, page: Page) -> Iterator[str]:
    if picture.hidden_note:
        place = f'x="{MARGIN}" y="{page.height - MARGIN / 2:.0f}"'
        yield f'<text class="note faint start" {place}>{_text(picture.hidden_note)}</text>'


def _text(text: str) -> str:
    return escape(shown_form(text), quote=False)


class _Drawing:
    """What is drawn, collected row by row: an arc is one element, though its parts stand in two rows."""

    def __init__(self, picture: Picture, page: Page) -> None:
        self._picture = picture
        self._page = page
        self._depths: dict[Arc, tuple[int, float]] = {}
        self._paths: dict[Arc, str] = {}
        self._tips: dict[Arc, str] = {}
        self._labels: list[str] = []
        self._words: list[str] = []

    def add(self, row: Row, top: float) -> None:
        """Draw a row whose words have their arcs above them end at y = top."""
        above, below = row.sides
        self._add_side(row, above, top)
        self._add_side(row, below, top + CLEAR + self._page.line)
        for number in range(row.first, row.last + 1):
            form = self._picture.forms[number - 1]
            x, y = self._page.x(row.x(number)), top + CLEAR + WORD
            direction = ' direction="rtl"' if is_right_to_left(form) else ""
            place = f'x="{x:.1f}" y="{y:.1f}"{direction}'
            self._words.append(f'<text class="word" {place} data-word="{number}">{_text(form)}</text>')
            if self._page.numbered:
                place = f'x="{x:.1f}" y="{y + NUMBER + 3:.1f}"'
                self._words.append(f'<text class="number faint" {place}>{number}</text>')

    def lines(self) -> Iterator[str]:
        """The arcs, the farthest and then the faintest first, and what is written."""
        for arc in sorted(self._paths, key=self._depths.__getitem__):
            yield _arc_drawn(arc, self._picture.note(arc), self._paths[arc], self._tips[arc])
        yield from self._labels
        yield from self._words

    def _add_side(self, row: Row, side: Side, edge: float) -> None:
        for number, (part, level) in enumerate(zip(side.parts, side.levels, strict=True)):
            arc, bar = part.arc, edge + side.down * side.reach(level)
            slots = {word: side.slots[number, word] for word in part.ends}
            xs = {word: self._page.x(row.x(word, slots.get(word, MIDDLE))) for word in (part.left, part.right)}
            self._depths.setdefault(arc, (-level, arc.weight))
            self._paths[arc] = self._paths.get(arc, "") + _line(part, xs, edge, bar, side.down)
            if part.dependent in part.ends:
                self._tips[arc] = _tip(xs[part.dependent], edge, side.down)
            if part.leaves:
                self._labels.append(_name_drawn(part, self._picture, xs, bar, self._page.mirrored))
            elif arc.tag:
                middle = (xs[part.left] + xs[part.right]) / 2
                self._labels.append(_label_drawn(arc, middle, bar + (LABEL + 1 if side.down > 0 else -4)))


def _arc_drawn(arc: Arc, note: str, line: str, tip: str) -> str:
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


def _name_drawn(part: Part, picture: Picture, xs: dict[int, float], bar: float, mirrored: bool) -> str:
    """Beyond the edge: which word the arc goes on to, and its label."""
    rightwards = (part.leaves > 0) != mirrored
    x = xs[part.right if part.leaves > 0 else part.left] + (BESIDE if rightwards else -BESIDE)
    anchor = "start" if rightwards else "end"
    label = f'class="label {part.arc.kind} {anchor}" x="{x:.1f}" y="{bar + LABEL / 3:.1f}"'
    return f'<text {label} opacity="{_legible(part.arc)}">{_text(beyond(picture, part))}</text>'


def _legible(arc: Arc) -> str:
    """The opacity of what must be seen with any probability."""
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


def _tip(x: float, edge: float, down: int) -> str:
    return f"M{x:.1f} {edge:.1f}l{-TIP_HALF:g} {down * TIP_LENGTH:g}h{2 * TIP_HALF:g}z"
