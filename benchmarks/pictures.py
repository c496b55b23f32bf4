"""Figures as SVG beside this file, where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.timing import QUICK


def draw(name: str, paint: Callable[[Any], Any]) -> None:
    """Write a picture whose panels `paint` makes from pyplot; it returns the figure. A smoke test writes none."""
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    with pyplot.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9, "lines.markersize": 4}):
        figure = paint(pyplot)
        if not QUICK:
            figure.savefig(Path(__file__).with_name(f"{name}.svg"), metadata={"Date": None})
