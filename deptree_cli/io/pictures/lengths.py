"""A quantity of trees against the length of sentences, as SVG: the trees, other orders of their words, random trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from deptree_cli.core.dtypes import Float, Int

# The drawing area in pixels, and what is left around it.
WIDTH, HEIGHT, LEFT, ABOVE, RIGHT, BELOW = 480, 320, 60, 40, 200, 48

# The radius of the smallest point, and what is added for a length that most sentences have.
SMALLEST, LARGER = 1.8, 4.0

# How many standard deviations a band reaches to each side, and about how many ticks an axis has.
REACH, TICKS = 1.96, 6

# A mean of fewer sentences is noise: such lengths are left out.
FEWEST = 5

# What the legend calls a band.
BAND = "95 % of sentences"

# Colours by order of baselines: told apart also without red and green (Okabe and Ito).
COLOURS = ("#d55e00", "#e69f00", "#009e73", "#56b4e9", "#cc79a7", "#7f7f7f", "#8c6d31")
OWN = "#0072b2"

_STYLE = "text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}.line{fill:none;stroke-width:1.6}"


@dataclass(frozen=True, eq=False)
class Curve:
    """A line of the picture.

    Attributes:
        name: in the legend.
        lengths: of sentences, in ascending order.
        means: at each of them.
        sds: of a single sentence there; NaN where there is none.
        counts: how many sentences.
    """

    name: str
    lengths: Int
    means: Float
    sds: Float
    counts: Int

    @property
    def has_band(self) -> bool:
        """Whether it is known how far sentences are apart."""
        return not np.isnan(self.sds).all()

    @classmethod
    def of(cls, name: str, lengths: Int, values: Float, known: Float, sds: Float) -> Curve:
        """The means by length of numbers of sentences, of those that are known; of seldom lengths if all are seldom."""
        there = known > 0
        frequent = np.flatnonzero(np.bincount(lengths[there]) >= FEWEST)
        there &= np.isin(lengths, frequent) if len(frequent) > 1 else there
        found, group = np.unique(lengths[there], return_inverse=True)
        counts = np.bincount(group, minlength=len(found))
        mean = np.bincount(group, values[there], len(found)) / np.maximum(counts, 1)
        variance = np.bincount(group, sds[there] ** 2, len(found)) / np.maximum(counts, 1)
        return cls(name, found, mean, np.sqrt(variance), counts)


def lengths_svg(curves: Sequence[Curve], title: str, quantity: str) -> str:
    """Return the whole file; the first curve is that of the trees, and bands are where 95 % of single sentences are."""
    axes = _Axes.of(curves)
    width, height = LEFT + WIDTH + RIGHT, ABOVE + HEIGHT + BELOW
    colours = (OWN, *COLOURS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="{ABOVE - 16}">{escape(title)}</text>',
        *axes.grid(),
    ]
    for curve, colour in reversed([*zip(curves, colours, strict=False)]):
        lines += axes.drawn(curve, colour, points=curve is curves[0])
    for at, (curve, colour) in enumerate(zip(curves, colours, strict=False)):
        y = ABOVE + 8 + 20 * at
        lines.append(f'<rect x="{LEFT + WIDTH + 16}" y="{y - 5}" width="16" height="4" fill="{colour}"/>')
        lines.append(f'<text x="{LEFT + WIDTH + 38}" y="{y}">{escape(curve.name)}</text>')
    bands = [colour for curve, colour in zip(curves, colours, strict=False) if curve.has_band]
    if bands:
        y = ABOVE + 8 + 20 * len(curves)
        lines.append(
            f'<rect x="{LEFT + WIDTH + 16}" y="{y - 9}" width="16" height="10" fill="{bands[0]}" opacity=".18"/>'
        )
        lines.append(f'<text x="{LEFT + WIDTH + 38}" y="{y}">{BAND}</text>')
    upright = f"translate(16 {ABOVE + HEIGHT / 2}) rotate(-90)"
    lines += [
        f'<text x="{LEFT + WIDTH / 2}" y="{height - 10}" text-anchor="middle">words in the sentence</text>',
        f'<text transform="{upright}" text-anchor="middle">{escape(quantity)}</text>',
        "</svg>",
        "",
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class _Axes:
    """Where numbers are in the picture: `x` and `y` are the ticks, whose ends are those of the drawing area."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    @classmethod
    def of(cls, curves: Sequence[Curve]) -> _Axes:
        """Those that show all curves and bands."""
        longest = max(int(curve.lengths.max(initial=1)) for curve in curves)
        tops = [curve.means + REACH * np.nan_to_num(curve.sds) for curve in curves]
        bottoms = [curve.means - REACH * np.nan_to_num(curve.sds) for curve in curves]
        highest = max(float(each.max(initial=0.0)) for each in tops)
        lowest = min(float(each.min(initial=0.0)) for each in bottoms)
        return cls(_ticks(0, longest), _ticks(min(lowest, 0.0), highest))

    def at(self, length: float, value: float) -> tuple[float, float]:
        """The place of a number."""
        x = LEFT + WIDTH * (length - self.x[0]) / (self.x[-1] - self.x[0])
        return x, ABOVE + HEIGHT * (1 - (value - self.y[0]) / (self.y[-1] - self.y[0]))

    def grid(self) -> list[str]:
        """Lines and numbers."""
        (left, bottom), (right, top) = self.at(self.x[0], self.y[0]), self.at(self.x[-1], self.y[-1])
        lines = []
        for tick in self.x:
            x, _ = self.at(tick, 0)
            lines.append(f'<line class="grid" x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}"/>')
            lines.append(f'<text x="{x:.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{tick:g}</text>')
        for tick in self.y:
            _, y = self.at(0, tick)
            lines.append(f'<line class="grid" x1="{left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>')
            lines.append(f'<text x="{left - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
        return lines

    def drawn(self, curve: Curve, colour: str, points: bool) -> list[str]:
        """A curve with its band, and with a point for each length if asked for."""
        places = [self.at(*each) for each in zip(curve.lengths.tolist(), curve.means.tolist(), strict=True)]
        lines = []
        if curve.has_band:
            reach = REACH * np.nan_to_num(curve.sds)
            ends = [(curve.means + reach).tolist(), (curve.means - reach).tolist()]
            over, under = ([self.at(*each) for each in zip(curve.lengths.tolist(), end, strict=True)] for end in ends)
            lines.append(f'<polygon points="{_path([*over, *reversed(under)])}" fill="{colour}" opacity=".18"/>')
        lines.append(f'<polyline class="line" stroke="{colour}" points="{_path(places)}"/>')
        if points:
            most = max(int(curve.counts.max(initial=1)), 1)
            sizes = [SMALLEST + LARGER * (count / most) ** 0.5 for count in curve.counts.tolist()]
            lines += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="{colour}"/>'
                for (x, y), size in zip(places, sizes, strict=True)
            ]
        return lines


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers from one that is not above `low` to one that is not below `high`."""
    span = max(high - low, 1e-9)
    power = 10.0 ** np.floor(np.log10(span / TICKS))
    step = next(each * power for each in (1, 2, 5, 10) if span / (each * power) <= TICKS)
    first, last = int(np.floor(low / step)), int(np.ceil(high / step))
    return tuple(float(f"{number * step:.10g}") for number in range(first, max(last, first + 1) + 1))
