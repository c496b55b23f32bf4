"""How an array as read becomes ``[head, dependent]`` with ROOT first, and back.

Three questions: which axis is the head, where ROOT stands, on which scale the numbers are; `PRESETS` has the answers of
known parsers. A matrix that leaves out ROOT as a dependent is a rectangle and so decides its own orientation.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.raw import Array, numeric

Float = NDArray[np.float64]

CHOICES = {
    "orient": ("head-dep", "dep-head"),
    "root": ("first", "last", "diagonal"),
    "scale": ("weight", "log"),
}

ASSUMPTION = "no --orient or --from given: reading square matrices as head-dep (rows are heads, columns dependents)"

_MEANING = {"head-dep": "head by dependent", "dep-head": "dependent by head"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read an array of scores.

    Attributes:
        orient: ``head-dep`` (rows are heads), ``dep-head``, or None: nobody said.
        root: ``first``, ``last``, or ``diagonal``: (n, n) with the scores of ROOT arcs on the diagonal.
        scale: ``weight`` or ``log``.
        preset: the parser whose habit this is, for messages.
    """

    orient: str | None = None
    root: str = "first"
    scale: str = "weight"
    preset: str = ""

    @property
    def forbidden(self) -> float:
        """The score of an arc that cannot be."""
        return 0.0 if self.scale == "weight" else -np.inf

    def is_assumed(self, shape: tuple[int, ...]) -> bool:
        """Whether the orientation of such a matrix is an assumption, which the user must hear of (`ASSUMPTION`)."""
        return self.orient is None and len(shape) == 2 and shape[0] == shape[1]


_SUPAR = Layout("dep-head", "first", "log")

# What these parsers hold in memory, as people dump it.
PRESETS = {
    name: replace(known, preset=name)
    for name, known in {
        "supar": _SUPAR,
        "diaparser": _SUPAR,
        "hanlp": _SUPAR,
        "supar-probs": Layout("dep-head", "first", "weight"),
        "stanza": Layout("dep-head", "first", "log"),
        "trankit": Layout("dep-head", "first", "log"),
        "udpipe2": Layout("dep-head", "first", "log"),
        "natasha": Layout("dep-head", "first", "log"),
        "spacy": Layout("dep-head", "diagonal", "log"),
        "torch-struct": Layout("head-dep", "diagonal", "log"),
        "synjax": Layout("head-dep", "first", "log"),
        "treesample": Layout("head-dep", "first", "weight"),
    }.items()
}


def layout(
    preset: str | None = None, orient: str | None = None, root: str | None = None, scale: str | None = None
) -> Layout:
    """The layout of a preset (or the default one) with single answers overridden.

    Raises:
        DeptreeError: an unknown preset or answer.
    """
    if preset is not None and preset not in PRESETS:
        near = difflib.get_close_matches(preset, PRESETS, 1)
        remedy = f"Did you mean {near[0]}?" if near else f"Choose one of {', '.join(PRESETS)}"
        raise DeptreeError(f"unknown preset --from {preset}", remedy)
    overrides = {
        name: said for name, said in (("orient", orient), ("root", root), ("scale", scale)) if said is not None
    }
    for name, said in overrides.items():
        if said not in CHOICES[name]:
            raise DeptreeError(f"unknown --{name} {said}", f"Choose one of {', '.join(CHOICES[name])}")
    return replace(PRESETS[preset] if preset else Layout(), **overrides)


def words_in(shape: tuple[int, ...], layout: Layout) -> int:
    """The number of words n of a matrix of this shape.

    Raises:
        DeptreeError: no sentence has scores of this shape under this layout.
    """
    if len(shape) != 2 or abs(shape[0] - shape[1]) > 1:
        remedy = "Give one matrix per sentence: (n+1, n+1), (n, n+1) or (n+1, n), or (n, n) with --root diagonal"
        raise DeptreeError(f"the scores have shape {shape}, which is not that of a sentence", remedy)
    square = shape[0] == shape[1]
    if layout.root == "diagonal" and not square:
        raise DeptreeError(
            f"with ROOT on the diagonal the matrix must be (n, n), but it has shape {shape}",
            "A rectangle has a row or column for ROOT: say --root first or --root last",
        )
    n = min(shape) - (square and layout.root != "diagonal")
    if n < 1:
        raise DeptreeError(
            f"the scores have shape {shape}: a sentence without words",
            "Leave it out or give at least one word besides ROOT",
        )
    return n


def _orientation(shape: tuple[int, int], layout: Layout) -> str:
    if shape[0] == shape[1]:
        return layout.orient or "head-dep"
    own = "dep-head" if shape[0] < shape[1] else "head-dep"
    if layout.orient not in (None, own):
        by_preset = layout.preset and PRESETS[layout.preset].orient == layout.orient
        said = f"--from {layout.preset} reads {layout.orient}" if by_preset else f"--orient {layout.orient}"
        raise DeptreeError(
            f"{said}, but the matrix has shape {shape}, which is {_MEANING[own]}",
            f"Say --orient {own}, or nothing: a rectangle decides its own orientation",
        )
    return own


def to_head_dep(array: ArrayLike, layout: Layout) -> Float:
    """The scores as (n+1, n+1), ``[head, dependent]``, ROOT first; column 0 and the diagonal hold the forbidden score.

    Args:
        array: (n+1, n+1), (n, n+1) or (n+1, n), or (n, n) with ROOT on the diagonal.

    Raises:
        DeptreeError: not numbers, not the shape of a sentence, or a rectangle that contradicts `layout.orient`.
    """
    scores = np.asarray(array)
    if not numeric(scores.dtype):
        raise DeptreeError(
            f"the scores are of type {scores.dtype}, not real numbers", "Save them as float32 or float64"
        )
    n = words_in(scores.shape, layout)
    if _orientation((scores.shape[0], scores.shape[1]), layout) == "dep-head":
        scores = scores.T
    # What becomes NaN or infinite here is judged, with its place, where the sentence is made.
    with np.errstate(invalid="ignore", over="ignore"):
        scores = scores.astype(np.float64)
    matrix = np.full((n + 1, n + 1), layout.forbidden)
    if layout.root == "diagonal":
        matrix[1:, 1:] = scores
        matrix[0, 1:] = scores.diagonal()
    else:
        matrix[:, n + 1 - scores.shape[1] :] = _root_moved(scores, 1) if layout.root == "last" else scores
    return _blanked(matrix, layout.forbidden)


def from_head_dep(matrix: Float, layout: Layout, shape: tuple[int, ...]) -> Float:
    """The inverse of `to_head_dep` for an array that had `shape`; cells that carry no arc are 0.

    Args:
        matrix: (n+1, n+1), ``[head, dependent]``, ROOT first.
    """
    n = words_in(shape, layout)
    dep_head = _orientation((shape[0], shape[1]), layout) == "dep-head"
    scores = _blanked(matrix.copy(), 0.0)
    if layout.root == "diagonal":
        scores[np.arange(1, n + 1), np.arange(1, n + 1)] = scores[0, 1:]
        scores = scores[1:, 1:]
    else:
        dependents = shape[0] if dep_head else shape[1]
        scores = scores[:, n + 1 - dependents :]
        scores = _root_moved(scores, -1) if layout.root == "last" else scores
    return np.ascontiguousarray(scores.T if dep_head else scores)


def _root_moved(scores: Array, step: int) -> Array:
    """ROOT from the last place to the first (step 1) or back (-1), among the dependents too if it is one of them."""
    square = scores.shape[0] == scores.shape[1]
    return np.roll(scores, step, axis=(0, 1) if square else 0)


def _blanked(matrix: Float, value: float) -> Float:
    matrix[:, 0] = value
    np.fill_diagonal(matrix, value)
    return matrix


def cut(scores: Array, n: int, layout: Layout) -> Array:
    """The scores of the first n words of a padded matrix; its rows and columns beyond are padding.

    Raises:
        DeptreeError: the matrix is too small for n words, or ROOT stands behind the padding.
    """
    surplus = words_in(scores.shape, layout) - n
    if surplus == 0:
        return scores
    if surplus < 0 or n < 1:
        raise DeptreeError(
            f"the length is {n}, but the padded matrix has shape {scores.shape}",
            "Lengths count the words, without ROOT",
        )
    if layout.root == "last":
        raise DeptreeError(
            "with ROOT last nobody can tell where it stands in a padded matrix",
            "Save one matrix per sentence, unpadded",
        )
    return scores[: scores.shape[0] - surplus, : scores.shape[1] - surplus]
