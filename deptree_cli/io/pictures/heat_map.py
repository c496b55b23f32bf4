"""Probabilities as a heat map, of a sentence's arcs or any other, with the extra `deptree-cli[plot]`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.io.pictures.arcs import ROOT
from deptree_cli.io.pictures.forms import cells, ems, fitted
from deptree_cli.io.pictures.plots import pyplot_for, save

# Up to so many rows and columns there is room for numbers; less than the least is not worth one.
MOST_WITH_NUMBERS = 21
LEAST_NUMBER = 0.005

# Inches: of a cell, of what is beside the map and its words, and of what is above.
CELL, BESIDE, ABOVE = 0.42, 1.5, 0.9

# No larger than this, which is 3,900 pixels; cells and fonts of a longer sentence shrink.
LARGEST = 39.0
POINTS, POINTS_OF_CELL = 10.0, 0.75 * 72

# Columns of a terminal that the longest words take; what is longer is cut.
LONGEST = 40

# Tried in this order for every character; those after the first where they are installed.
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "Noto Sans Devanagari")


@dataclass(frozen=True, eq=False)
class HeatMap:
    """A matrix of probabilities to be drawn.

    Attributes:
        title: what stands above it.
        probabilities: (rows, columns).
        rows, columns: what stands beside and above each, as it can be shown.
        axes: what rows and what columns are.
        framed: the cells (row, column) that get a frame.
    """

    title: str
    probabilities: Float
    rows: Sequence[str]
    columns: Sequence[str]
    axes: tuple[str, str]
    framed: Iterable[tuple[int, int]]

    @property
    def _around(self) -> tuple[float, float]:
        """The width and height of what is no cell, in inches."""
        beside, above = (max(map(ems, map(_cut, words))) * POINTS / 72 for words in (self.rows, self.columns))
        return BESIDE + beside, ABOVE + above

    @property
    def cell(self) -> float:
        """The side of a cell in inches."""
        rows, columns = self.probabilities.shape
        width, height = self._around
        return min(CELL, (LARGEST - width) / columns, (LARGEST - height) / rows)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        rows, columns = self.probabilities.shape
        width, height = self._around
        return self.cell * columns + width, self.cell * rows + height

    def write(self, path: str) -> None:
        """Draw it into a file, whose suffix decides the format.

        Raises:
            DeptreeError: matplotlib is missing, or the file cannot be written.
        """
        pyplot = pyplot_for(path)
        from matplotlib import font_manager

        known = set(font_manager.get_font_names())
        with pyplot.rc_context({"font.family": [font for font in FONTS if font in known]}), warnings.catch_warnings():
            # A character that no font has is drawn as a box; that is seen, and not said besides.
            warnings.filterwarnings("ignore", "Glyph .* missing from")
            figure, axes = pyplot.subplots(figsize=self.size, layout="constrained")
            self._draw(figure, axes)
            for row, column in self.framed:
                corner = column - 0.5, row - 0.5
                axes.add_patch(pyplot.Rectangle(corner, 1, 1, fill=False, edgecolor="C1", linewidth=1.5, clip_on=False))
            save(figure, path)

    def _draw(self, figure: Any, axes: Any) -> None:
        """Cells with the words beside them and, in those of a short sentence, numbers."""
        font = min(POINTS, POINTS_OF_CELL * self.cell)
        rows, columns = (list(map(_cut, words)) for words in (self.rows, self.columns))
        image = axes.imshow(self.probabilities, cmap="Blues", vmin=0, vmax=1)
        # A dollar sign in a form is no mathematics.
        axes.set_title(self.title, parse_math=False)
        axes.set_xticks(range(len(columns)), columns, rotation=90, parse_math=False, fontsize=font)
        axes.set_yticks(range(len(rows)), rows, parse_math=False, fontsize=font)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set(xlabel=self.axes[1], ylabel=self.axes[0])
        axes.spines[:].set_visible(False)
        figure.colorbar(image, ax=axes, label="probability", fraction=0.04)
        if max(self.probabilities.shape) <= MOST_WITH_NUMBERS:
            self._number(axes)

    def _number(self, axes: Any) -> None:
        for (row, column), probability in np.ndenumerate(self.probabilities):
            if probability >= LEAST_NUMBER:
                ink = "white" if probability > 0.5 else "black"
                text = f"{probability:.2f}".removeprefix("0")
                axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=8)


def _cut(word: str) -> str:
    return fitted(word, min(LONGEST, cells(word)))


def draw_heat_map(marginals: Float, forms: Sequence[str], tree: Sequence[int], title: str, path: str) -> None:
    """Rows are dependents, columns heads with ROOT first; the tree's arcs are framed.

    Args:
        marginals: (n+1, n+1), ``[head, dependent]``.
        forms: n words as they can be shown.
        tree: n heads, 0 = ROOT.
        path: its suffix decides the format.

    Raises:
        DeptreeError: matplotlib is missing, or the file cannot be written.
    """
    axes = "dependent", "head"
    HeatMap(title, marginals[:, 1:].T, forms, [ROOT, *forms], axes, enumerate(tree)).write(path)
