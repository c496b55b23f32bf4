"""How an array as read becomes ``[head, dependent]`` with ROOT first, and back.

Three questions: which axis is the head, where ROOT stands, on which scale the numbers are; `presets.py` has the answers
of known parsers. A matrix that leaves out ROOT as a dependent is a rectangle and so decides its own orientation. An
axis of labels may stand behind the two, or in front of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.scores.raw import numeric

CHOICES = {
    "orient": ("head-dep", "dep-head"),
    "root": ("first", "last", "diagonal"),
    "scale": ("weight", "log"),
}

_MEANING = {"head-dep": "head by dependent", "dep-head": "dependent by head"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read an array of scores.

    Attributes:
        orient: ``head-dep`` (rows are heads), ``dep-head``, or None: nobody said.
        root: ``first``, ``last``, or ``diagonal``: (n, n) with the scores of ROOT arcs on the diagonal.
        scale: ``weight`` or ``log``.
        name: of the preset, the parser whose habit this is; empty where it is none's.
        labels: where an axis of labels stands, ``last`` or ``first``, None if there is none.
        rectangle: whether a matrix to be written leaves out ROOT as a dependent; one that is read says so itself.
        given: the answers that somebody gave one by one, by name; without a preset, the others are assumed.
    """

    orient: str | None = None
    root: str = "first"
    scale: str = "weight"
    name: str = ""
    labels: str | None = None
    rectangle: bool = False
    given: tuple[str, ...] = field(default=(), compare=False)

    @property
    def dimensions(self) -> int:
        """Of one sentence's array."""
        return 2 if self.labels is None else 3

    def arcs(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape without the axis of labels."""
        return shape if self.labels is None else shape[1:] if self.labels == "first" else shape[:-1]

    def shape(self, n: int, labels: tuple[int, ...] = ()) -> tuple[int, ...]:
        """That of a sentence of n words, as it is written; labels: (L,) or nothing."""
        size = n if self.root == "diagonal" else n + 1
        arcs = (size, size)
        if self.rectangle and self.root != "diagonal":
            arcs = (n, n + 1) if self.orient == "dep-head" else (n + 1, n)
        return (*labels, *arcs) if self.labels == "first" else (*arcs, *labels)

    @property
    def forbidden(self) -> float:
        """The score of an arc that cannot be."""
        return 0.0 if self.scale == "weight" else -np.inf

    def assumed(self, square: bool = True) -> tuple[str, ...]:
        """Return the names of the answers that nobody gave; a matrix that is not square gives its orientation."""
        needed = [name for name in CHOICES if square or name != "orient"]
        return () if self.name else tuple(name for name in needed if name not in self.given)

    def is_square(self, shape: tuple[int, ...]) -> bool:
        """Whether a matrix of this shape leaves its orientation open."""
        rows, columns = self.arcs(shape)
        return rows == columns

    @property
    def reading(self) -> tuple[object, ...]:
        """What decides how a matrix is read."""
        return self.orient, self.root, self.scale, self.labels, self.assumed()

    def option(self, name: str) -> str:
        """Return what the user passed that gives this answer."""
        return f"--from {self.name}" if self.name and name not in self.given else f"--{name} {getattr(self, name)}"

    def contradicts(self, other: Layout) -> str:
        """Return the name of an answer that both give, and not alike; empty if there is none."""
        for name in CHOICES:
            one, two = (getattr(each, name) if each.name or name in each.given else None for each in (self, other))
            if one and two and one != two:
                return name
        return ""

    def merged(self, over: Layout) -> Layout:
        """Return this layout, which a file says of itself, with what it leaves open as the options `over` have it.

        Raises:
            DeptreeError: they contradict each other.
        """
        if name := self.contradicts(over):
            option, answer = over.option(name), f"--{name} {getattr(over, name)}"
            passed = f"{option} was passed" if option == answer else f"{option} reads {answer}"
            problem = f"the file says --{name} {getattr(self, name)} of itself, but {passed}"
            raise DeptreeError(problem, f"Remove {option}: what the file says of itself is used without options")
        return replace(self, orient=self.orient or over.orient, labels=self.labels or over.labels)


def words_in(shape: tuple[int, ...], layout: Layout) -> int:
    """The number of words n of an array of this shape.

    Raises:
        DeptreeError: no sentence has scores of this shape under this layout.
    """
    if len(shape) != layout.dimensions:
        raise _wrong_dimensions(shape)
    rows, columns = layout.arcs(shape)
    if abs(rows - columns) > 1:
        raise _no_sentence(shape)
    square = rows == columns
    if layout.root == "diagonal" and not square:
        raise DeptreeError(
            f"with ROOT on the diagonal the matrix must be (n, n), but it has shape {shape}",
            "A rectangle has a row or column for ROOT: pass --root first or --root last",
        )
    n = min(rows, columns) - (square and layout.root != "diagonal")
    if n < 1:
        raise DeptreeError(
            f"the scores have shape {shape}: a sentence without words",
            "Leave it out or give at least one word besides ROOT",
        )
    return n


def _wrong_dimensions(shape: tuple[int, ...]) -> DeptreeError:
    if len(shape) == 2:
        problem = f"the scores have shape {shape}: no axis of labels"
        return DeptreeError(problem, "Give the scores of labels with --label-scores FILE, or leave out --labels")
    if len(shape) == 3:
        problem = f"the scores have shape {shape}: is one of the axes labels?"
        remedy = "Name them with --labels FILE (their axis is the last), or give one matrix per sentence"
        return DeptreeError(problem, remedy)
    return _no_sentence(shape)


def _no_sentence(shape: tuple[int, ...]) -> DeptreeError:
    return DeptreeError(
        f"the scores have shape {shape}, which is not that of a sentence",
        "Give one matrix per sentence: (n+1, n+1), (n, n+1) or (n+1, n), or (n, n) with --root diagonal",
    )


def orientation(rows: int, columns: int, layout: Layout) -> str:
    """The orientation of a matrix of this shape: its own where it is a rectangle, else the layout's.

    Raises:
        DeptreeError: the two contradict each other.
    """
    if rows == columns:
        return layout.orient or "head-dep"
    own = "dep-head" if rows < columns else "head-dep"
    if layout.orient not in (None, own):
        option = layout.option("orient")
        reads = "" if option.startswith("--orient") else f" reads {layout.orient}"
        raise DeptreeError(
            f"{option}{reads}, but the matrix has shape {(rows, columns)}, which is {_MEANING[own]}",
            f"Say --orient {own}, or nothing: a rectangle decides its own orientation",
        )
    return own


def to_head_dep(array: ArrayLike, layout: Layout) -> Float:
    """The scores as (n+1, n+1[, L]), ``[head, dependent]``, ROOT first; column 0 and the diagonal hold the forbidden
    score.

    Args:
        array: (n+1, n+1), (n, n+1) or (n+1, n), or (n, n) with ROOT on the diagonal, with or without an axis of L
            labels, as the layout says.

    Raises:
        DeptreeError: not numbers, not the shape of a sentence, or a rectangle that contradicts `layout.orient`.
    """
    scores = np.asarray(array)
    if not numeric(scores.dtype):
        raise DeptreeError(
            f"the scores are of type {scores.dtype}, not real numbers", "Save them as float32 or float64"
        )
    n = words_in(scores.shape, layout)
    scores = np.moveaxis(scores, 0, -1) if layout.labels == "first" else scores
    if orientation(scores.shape[0], scores.shape[1], layout) == "dep-head":
        scores = scores.swapaxes(0, 1)
    # What becomes NaN or infinite here is judged, with its place, where the sentence is made.
    with np.errstate(invalid="ignore", over="ignore"):
        scores = scores.astype(np.float64)
    matrix = np.full((n + 1, n + 1, *scores.shape[2:]), layout.forbidden)
    if layout.root == "diagonal":
        own = np.arange(n)
        matrix[1:, 1:] = scores
        matrix[0, 1:] = scores[own, own]
    else:
        matrix[:, n + 1 - scores.shape[1] :] = _root_moved(scores, 1) if layout.root == "last" else scores
    return _blanked(matrix, layout.forbidden)


def from_head_dep(matrix: Float, layout: Layout, shape: tuple[int, ...], blank: float = 0.0) -> Float:
    """The inverse of `to_head_dep` for an array of that shape; cells that carry no arc are `blank`.

    Args:
        matrix: (n+1, n+1[, L]), ``[head, dependent]``, ROOT first; without labels also where the array had some.
    """
    n = words_in(shape, layout)
    rows, columns = layout.arcs(shape)
    dep_head = orientation(rows, columns, layout) == "dep-head"
    scores = _blanked(matrix.copy(), blank)
    if layout.root == "diagonal":
        scores[np.arange(1, n + 1), np.arange(1, n + 1)] = scores[0, 1:]
        scores = scores[1:, 1:]
    else:
        dependents = rows if dep_head else columns
        scores = scores[:, n + 1 - dependents :]
        scores = _root_moved(scores, -1) if layout.root == "last" else scores
    scores = scores.swapaxes(0, 1) if dep_head else scores
    return np.ascontiguousarray(np.moveaxis(scores, -1, 0) if layout.labels == "first" and matrix.ndim == 3 else scores)


def layout_fields(layout: Layout, shape: tuple[int, ...]) -> dict[str, str]:
    """How `from_head_dep` lays out a matrix of that shape: fields for whoever reads it."""
    rows, columns = layout.arcs(shape)
    return {"orient": orientation(rows, columns, layout), "root": layout.root}


def _root_moved(scores: Array, step: int) -> Array:
    """ROOT from the last place to the first (step 1) or back (-1), among the dependents too if it is one of them."""
    square = scores.shape[0] == scores.shape[1]
    return np.roll(scores, step, axis=(0, 1) if square else 0)


def _blanked(matrix: Float, value: float) -> Float:
    own = np.arange(len(matrix))
    matrix[:, 0] = matrix[own, own] = value
    return matrix


def cut(scores: Array, n: int, layout: Layout) -> Array:
    """The scores of the first n words of a padded matrix; its rows and columns beyond are padding.

    Raises:
        OutOfStep: the matrix is too small for n words.
        DeptreeError: n is 0, or ROOT stands behind the padding.
    """
    surplus = words_in(scores.shape, layout) - n
    if surplus == 0:
        return scores
    if surplus < 0 or n < 1:
        problem = f"the length is {n}, but the padded matrix has shape {scores.shape}"
        raise (OutOfStep if surplus < 0 else DeptreeError)(problem, "Lengths count the words, without ROOT")
    if layout.root == "last":
        raise DeptreeError(
            "with ROOT last nobody can tell where it stands in a padded matrix",
            "Save one matrix per sentence, unpadded",
        )
    rows, columns = layout.arcs(scores.shape)
    kept = slice(rows - surplus), slice(columns - surplus)
    return scores[:, *kept] if layout.labels == "first" else scores[kept]
