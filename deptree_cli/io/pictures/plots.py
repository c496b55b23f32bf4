"""Pictures, with the extra `deptree-cli[plot]`; the suffix of the file decides the format."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import PurePath
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import Output

# From where to where the axes of a calibration go.
FRAME = (-0.05, 1.05)

# What keeps the time of drawing out of a file.
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def check_plot(path: str) -> None:
    """Raise before any work is done where a picture cannot be drawn."""
    pyplot = pyplot_for(path)
    fmt = _format_of(path)
    known = pyplot.figure().canvas.get_supported_filetypes()
    pyplot.close()
    if fmt not in known:
        raise DeptreeError(f"no picture can be drawn as {fmt!r}", "Choose .svg, .png or .pdf", place=path)


def _format_of(path: str) -> str:
    return PurePath(path).suffix.lower().removeprefix(".")


def plot_calibration(rows: Sequence[Sequence[Any]], title: str, path: str) -> None:
    """Accuracy over confidence (`core/calibration.py`), the size of a point by its share of words."""
    pyplot = pyplot_for(path)
    words, confidence, accuracy = zip(*(row[1:] for row in rows), strict=True)
    figure, axes = pyplot.subplots(figsize=(4.5, 4.5), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=1)
    axes.plot(confidence, accuracy, color="C0", linewidth=1, zorder=2)
    axes.scatter(confidence, accuracy, s=[20 + 300 * count / sum(words) for count in words], zorder=3)
    # Points at 0 and 1 are whole, within the frame.
    axes.set(title=title, xlabel="probability of the head", ylabel="share of right heads", xlim=FRAME, ylim=FRAME)
    axes.set_aspect("equal")
    save(figure, path)


def save(figure: Any, path: str) -> None:
    """Write a figure and let it go; without its date, so that the same picture is the same bytes.

    Raises:
        DeptreeError: the file cannot be written.
    """
    fmt = _format_of(path)
    drawn = BytesIO()
    pyplot = pyplot_for(path)
    try:
        with pyplot.rc_context({"svg.hashsalt": "deptree"}):
            figure.savefig(drawn, format=fmt, metadata=_UNDATED.get(fmt))
    finally:
        pyplot.close(figure)
    with Output(path) as out:
        out.write(drawn.getvalue())


def pyplot_for(path: str) -> Any:
    """Matplotlib's pyplot, drawing into files; `path` is for the message where it is missing."""
    try:
        import matplotlib
    except ImportError:
        raise DeptreeError("matplotlib is not installed", "pip install 'deptree-cli[plot]'", place=path) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot
