"""How often heads of each probability are right, as SVG: a point for each tenth, larger where more words are."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

# The side of the square in pixels, what is left around it, and the lines that divide it.
SIDE, LEFT, ABOVE, RIGHT, BELOW = 320, 56, 40, 24, 48
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

# Pixels: the radius of the smallest point, and what is added for one that has all words.
SMALLEST, LARGER = 2.5, 9.0

_STYLE = "text{font:12px sans-serif;fill:#333}line,polyline{fill:none;stroke:#bbb}.found{stroke:#1f77b4;fill:#1f77b4}"


def calibration_svg(rows: Sequence[Sequence[Any]], title: str) -> str:
    """Return the whole file.

    Args:
        rows: a range of probabilities, words, mean confidence and accuracy (`core/calibration.py`).
    """
    width, height = LEFT + SIDE + RIGHT, ABOVE + SIDE + BELOW
    total = sum(row[1] for row in rows)
    points = [(_x(confidence), _y(accuracy), words / total) for _, words, confidence, accuracy in rows]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    middle = _x(0.5)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'<text x="{middle}" y="{ABOVE - 16}" text-anchor="middle">{escape(title)}</text>',
            *(line for tick in TICKS for line in _tick(tick)),
            f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke-dasharray="4"/>',
            f'<polyline class="found" style="fill:none" points="{path}"/>',
            *(
                f'<circle class="found" cx="{x:.1f}" cy="{y:.1f}" r="{SMALLEST + LARGER * share**0.5:.1f}"/>'
                for x, y, share in points
            ),
            f'<text x="{middle}" y="{height - 8}" text-anchor="middle">probability of the head</text>',
            f'<text transform="translate(14 {_y(0.5)}) rotate(-90)" text-anchor="middle">share of right heads</text>',
            "</svg>",
            "",
        ]
    )


def _tick(at: float) -> list[str]:
    """A number on each axis, with its line across the square."""
    return [
        f'<line x1="{_x(at):.1f}" y1="{_y(0)}" x2="{_x(at):.1f}" y2="{_y(1)}" opacity=".4"/>',
        f'<line x1="{_x(0)}" y1="{_y(at):.1f}" x2="{_x(1)}" y2="{_y(at):.1f}" opacity=".4"/>',
        f'<text x="{_x(at):.1f}" y="{_y(0) + 18}" text-anchor="middle">{at:g}</text>',
        f'<text x="{LEFT - 8}" y="{_y(at) + 4:.1f}" text-anchor="end">{at:g}</text>',
    ]


def _x(probability: float) -> float:
    return LEFT + SIDE * probability


def _y(share: float) -> float:
    return ABOVE + SIDE * (1 - share)
