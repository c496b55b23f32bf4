"""Pictures of calibration: every point is whole, also where heads are certain and always right."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.io.pictures import plots


def test_no_point_is_cut_by_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """All words in one of the corners, which makes its point as large as it can be."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'deptree-cli[plot]'")
    drawn = []
    monkeypatch.setattr(plots, "save", lambda figure, path: drawn.append(figure))
    plots.plot_calibration([["0.0 to 0.1", 0, 0.0, 0.0], ["0.9 to 1.0", 1000, 1.0, 1.0]], "", "x.png")
    (figure,) = drawn
    figure.canvas.draw()
    (axes,) = figure.axes
    (points,) = axes.collections
    frame = axes.get_window_extent()
    for place, area in zip(axes.transData.transform(points.get_offsets()), points.get_sizes(), strict=True):
        radius = np.sqrt(area) / 2 * figure.dpi / 72
        assert np.all(place - radius >= frame.min)
        assert np.all(place + radius <= frame.max)
