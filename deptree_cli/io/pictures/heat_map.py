"""The marginals of a sentence as a heat map, with the extra `deptree-cli[plot]`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.io.pictures.arcs import ROOT
from deptree_cli.io.pictures.plots import pyplot_for, save

Float = NDArray[np.float64]

# Up to so many words there is room for numbers; less than the least is not worth one.
MOST_WITH_NUMBERS = 20
LEAST_NUMBER = 0.005

# Inches, of a cell and around the map.
CELL, AROUND = 0.42, 1.6

# No larger than this, which is 3,900 pixels; cells and fonts of a longer sentence shrink.
LARGEST = 39.0
POINTS_OF_CELL = 0.75 * 72

# Tried in this order for every character; those after the first where they are installed.
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "Noto Sans Devanagari")


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
    pyplot = pyplot_for(path)
    from matplotlib import font_manager

    known = set(font_manager.get_font_names())
    with pyplot.rc_context({"font.family": [font for font in FONTS if font in known]}), warnings.catch_warnings():
        # A character that no font has is drawn as a box; that is seen, and not said besides.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        cell = min(CELL, (LARGEST - AROUND - 0.5) / (len(forms) + 1))
        side = cell * (len(forms) + 1) + AROUND
        figure, axes = pyplot.subplots(figsize=(side + 0.5, side), layout="constrained")
        _draw(figure, axes, marginals[:, 1:].T, forms, min(10.0, POINTS_OF_CELL * cell))
        axes.set_title(title, parse_math=False)
        for dependent, head in enumerate(tree):
            axes.add_patch(
                pyplot.Rectangle((head - 0.5, dependent - 0.5), 1, 1, fill=False, edgecolor="C1", linewidth=1.5)
            )
        save(figure, path)


def _draw(figure: Any, axes: Any, probabilities: Float, forms: Sequence[str], font: float) -> None:
    """Cells (n, n+1), the words beside them and, in those of a short sentence, numbers."""
    image = axes.imshow(probabilities, cmap="Blues", vmin=0, vmax=1)
    # A dollar sign in a form is no mathematics.
    axes.set_xticks(range(len(forms) + 1), [ROOT, *forms], rotation=90, parse_math=False, fontsize=font)
    axes.set_yticks(range(len(forms)), forms, parse_math=False, fontsize=font)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set(xlabel="head", ylabel="dependent")
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label="probability", fraction=0.04)
    if len(forms) > MOST_WITH_NUMBERS:
        return
    for (dependent, head), probability in np.ndenumerate(probabilities):
        if probability >= LEAST_NUMBER:
            ink = "white" if probability > 0.5 else "black"
            text = f"{probability:.2f}".removeprefix("0")
            axes.text(head, dependent, text, ha="center", va="center", color=ink, fontsize=8)
