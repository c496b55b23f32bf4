"""How an array as read becomes ``[head, dependent]`` with ROOT first, and back.

Three questions: which axis is the head, where ROOT stands, on which scale the numbers are; `PRESETS` has the answers of
known parsers. A matrix that leaves out ROOT as a dependent is a rectangle and so decides its own orientation. An
axis of labels may stand behind the two, or in front of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.errors import DeptreeError, OutOfStep, did_you_mean
from deptree_cli.core.register import Register
from deptree_cli.io.scores.arrays import RawScores, numeric

# The answers to each question; the first is assumed where nobody gives one.
CHOICES = {"orient": ("head-dep", "dep-head"), "root": ("first", "last", "diagonal"), "scale": ("weight", "log")}

# What each answer answers.
QUESTIONS = {answer: name for name, answers in CHOICES.items() for answer in answers}


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read an array of scores, as far as somebody said: an answer that is None is assumed.

    `orient`: ``head-dep`` (rows are heads) or ``dep-head``. `root`: ``first``, ``last``, or ``diagonal``: (n, n) with
    the scores of ROOT arcs on the diagonal. `scale`: ``weight`` or ``log``. `name`: of the preset, if it is one's.
    `labels`: where their axis stands, ``last`` or ``first``. `rectangle`: a matrix to be written leaves out ROOT as a
    dependent; one that is read says so itself.
    """

    orient: str | None = None
    root: str | None = None
    scale: str | None = None
    name: str = ""
    labels: str | None = None
    rectangle: bool = False

    def merged(self, over: Layout) -> Layout:
        """Return this layout with all that `over` says in the place of its own."""
        names = (*CHOICES, "name", "labels", "rectangle")
        return replace(self, **{name: said for name in names if (said := getattr(over, name))})

    def contradictions(self, other: Layout) -> Iterator[tuple[str, str]]:
        """The answers of both to the same questions, where they differ."""
        both = ((getattr(self, name), getattr(other, name)) for name in CHOICES)
        return ((one, two) for one, two in both if one and two and one != two)

    @property
    def complete(self) -> Layout:
        """This layout with what is assumed of ROOT and the scale; the shape of a matrix may tell its orientation."""
        return replace(self, root=self.root or CHOICES["root"][0], scale=self.scale or CHOICES["scale"][0])

    def assumed(self, square: bool = True) -> tuple[str, ...]:
        """Return the questions that nobody answered; a matrix that is not square gives its orientation."""
        return tuple(name for name in CHOICES if getattr(self, name) is None and (square or name != "orient"))

    @property
    def labelled(self) -> Layout:
        return replace(self, labels=self.labels or "last")

    def of_arcs(self, labels: bool, label_scores: bool) -> Layout:
        """The layout of the scores: with an axis of labels where there are labels but no scores of their own."""
        if label_scores and not labels:
            raise DeptreeError("--label-scores needs the names of the labels", "Add --labels FILE")
        if self.labels and not labels:
            raise DeptreeError(f"--from {self.name} has an axis of labels", "Name them with --labels FILE")
        return replace(self, labels=None) if label_scores else self.labelled if labels else self

    @property
    def reading(self) -> tuple[str | None, ...]:
        return self.orient, self.root, self.scale, self.labels

    @property
    def dimensions(self) -> int:
        return 2 if self.labels is None else 3

    def arcs(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape if self.labels is None else shape[1:] if self.labels == "first" else shape[:-1]

    def is_square(self, shape: tuple[int, ...]) -> bool:
        rows, columns = self.arcs(shape)
        return rows == columns

    def shape(self, n: int, labels: tuple[int, ...] = ()) -> tuple[int, ...]:
        arcs = (n, n) if self.root == "diagonal" else (n + 1, n + 1)
        if self.rectangle and self.root != "diagonal":
            arcs = (n, n + 1) if self.orient == "dep-head" else (n + 1, n)
        return (*labels, *arcs) if self.labels == "first" else (*arcs, *labels)

    @property
    def forbidden(self) -> float:
        return -np.inf if self.scale == "log" else 0.0


def words_in(shape: tuple[int, ...], layout: Layout) -> int:
    rows, columns = layout.arcs(shape) if len(shape) == layout.dimensions else (0, 2)
    n = min(rows, columns) - (rows == columns and layout.root != "diagonal")
    if abs(rows - columns) <= 1 <= n and (layout.root != "diagonal" or rows == columns):
        return n
    found = f"the scores have shape {shape}"
    if len(shape) == 2 < layout.dimensions:
        remedy = "Give the scores of labels with --label-scores FILE, or leave out --labels"
        raise DeptreeError(f"{found}: no axis of labels", remedy)
    if len(shape) == 3 > layout.dimensions:
        remedy = "Name them with --labels FILE (their axis is the last), or give one matrix per sentence"
        raise DeptreeError(f"{found}: is one of the axes labels?", remedy)
    if abs(rows - columns) > 1:
        remedy = "Give one matrix per sentence: (n+1, n+1), (n, n+1) or (n+1, n), or (n, n) with --from diagonal"
        raise DeptreeError(f"{found}, which is not that of a sentence", remedy)
    if layout.root == "diagonal" and rows != columns:
        problem = f"with ROOT on the diagonal the matrix must be (n, n), but it has shape {shape}"
        raise DeptreeError(problem, "A rectangle has a row or column for ROOT: say first or last in --from")
    raise DeptreeError(f"{found}: a sentence without words", "Leave it out or give at least one word besides ROOT")


def orientation(rows: int, columns: int, layout: Layout) -> str:
    """The orientation of a matrix of this shape: its own where it is a rectangle, else the layout's."""
    if rows == columns:
        return layout.orient or CHOICES["orient"][0]
    own = "dep-head" if rows < columns else "head-dep"
    if layout.orient not in (None, own):
        problem = f"the layout is {layout.orient}, but the matrix has shape {(rows, columns)}, which is {own}"
        raise DeptreeError(problem, f"Pass {own} in --from, or no orientation: the shape decides it")
    return own


def to_head_dep(array: ArrayLike, layout: Layout) -> Float:
    """The scores as (n+1, n+1[, L]), ``[head, dependent]``, ROOT first; column 0 and the diagonal hold the forbidden
    score.

    Args:
        array: (n+1, n+1), (n, n+1) or (n+1, n), or (n, n) with ROOT on the diagonal, with or without an axis of L
            labels, as the layout says.
    """
    scores = np.asarray(array)
    if not numeric(scores.dtype):
        problem = f"the scores are of type {scores.dtype}, not real numbers"
        raise DeptreeError(problem, "Save them as float32 or float64")
    n = words_in(scores.shape, layout)
    scores = np.moveaxis(scores, 0, -1) if layout.labels == "first" else scores
    if orientation(scores.shape[0], scores.shape[1], layout) == "dep-head":
        scores = scores.swapaxes(0, 1)
    # What becomes NaN or infinite here is judged, with its place, where the sentence is made.
    with np.errstate(invalid="ignore", over="ignore"):
        scores = scores.astype(np.float64)
    matrix = np.full((n + 1, n + 1, *scores.shape[2:]), layout.forbidden)
    if layout.root == "diagonal":
        matrix[1:, 1:], matrix[0, 1:] = scores, scores[np.arange(n), np.arange(n)]
    else:
        matrix[:, n + 1 - scores.shape[1] :] = _root_moved(scores, 1) if layout.root == "last" else scores
    return _blanked(matrix, layout.forbidden)


def from_head_dep(matrix: Float, layout: Layout, shape: tuple[int, ...], blank: float = 0.0) -> Float:
    """The inverse of `to_head_dep` for an array of that shape; cells that carry no arc are `blank`."""
    n = words_in(shape, layout)
    rows, columns = layout.arcs(shape)
    dep_head = orientation(rows, columns, layout) == "dep-head"
    scores = _blanked(matrix.copy(), blank)
    if layout.root == "diagonal":
        scores[np.arange(1, n + 1), np.arange(1, n + 1)] = scores[0, 1:]
        scores = scores[1:, 1:]
    else:
        scores = scores[:, n + 1 - (rows if dep_head else columns) :]
        scores = _root_moved(scores, -1) if layout.root == "last" else scores
    scores = scores.swapaxes(0, 1) if dep_head else scores
    return np.ascontiguousarray(np.moveaxis(scores, -1, 0) if layout.labels == "first" and matrix.ndim == 3 else scores)


def layout_fields(layout: Layout, shape: tuple[int, ...]) -> dict[str, str]:
    """How `from_head_dep` lays out a matrix of that shape: fields for whoever reads it."""
    rows, columns = layout.arcs(shape)
    return {"orient": orientation(rows, columns, layout), "root": layout.root or CHOICES["root"][0]}


def _root_moved(scores: Array, step: int) -> Array:
    """ROOT from the last place to the first (step 1) or back (-1), among the dependents too if it is one of them."""
    return np.roll(scores, step, axis=(0, 1) if scores.shape[0] == scores.shape[1] else 0)


def _blanked(matrix: Float, value: float) -> Float:
    own = np.arange(len(matrix))
    matrix[:, 0] = matrix[own, own] = value
    return matrix


def cut(scores: Array, n: int, layout: Layout) -> Array:
    """The scores of the first n words of a padded matrix; its rows and columns beyond are padding."""
    surplus = words_in(scores.shape, layout) - n
    if surplus == 0:
        return scores
    if surplus < 0 or n < 1:
        problem = f"the length is {n}, but the padded matrix has shape {scores.shape}"
        raise (OutOfStep if surplus < 0 else DeptreeError)(problem, "Lengths count the words, without ROOT")
    if layout.root == "last":
        problem = "with ROOT last, its position in a padded matrix is unknown"
        raise DeptreeError(problem, "Save one matrix per sentence, unpadded")
    rows, columns = layout.arcs(scores.shape)
    kept = slice(rows - surplus), slice(columns - surplus)
    return scores[:, *kept] if layout.labels == "first" else scores[kept]


def at_length(raw: RawScores, layout: Layout) -> tuple[Array, int]:
    """The scores, cut where a file of lengths says so, and how many words they are of."""
    scores = raw.scores if raw.length is None else cut(raw.scores, raw.length, layout)
    return scores, words_in(scores.shape, layout)


_KNOWN = {
    ("supar", "diaparser", "hanlp"): Layout("dep-head", "first", "log"),
    ("supar-probs",): Layout("dep-head", "first", "weight", rectangle=True),
    ("stanza", "trankit"): Layout("dep-head", "first", "log"),
    ("udpipe2", "natasha"): Layout("dep-head", "first", "log", rectangle=True),
    ("allennlp",): Layout("head-dep", "first", "weight", labels="first"),
    ("spacy",): Layout("dep-head", "diagonal", "log"),
    ("torch-struct",): Layout("head-dep", "diagonal", "log"),
    ("synjax",): Layout("head-dep", "first", "log"),
    ("treesample",): Layout("head-dep", "first", "weight"),
}
PRESETS: Register[Layout] = Register(
    "layout", (replace(known, name=name) for names, known in _KNOWN.items() for name in names), "deptree.presets"
)


def layout(text: str | None = None) -> Layout:
    """The layout that a text tells: a preset's name, answers such as ``dep-head,log``, or both: ``supar,weight``."""
    words = text.split(",") if text else []
    preset = PRESETS.get(words.pop(0), QUESTIONS) if words and words[0] not in QUESTIONS else Layout()
    said = {QUESTIONS.get(word, ""): word for word in words}
    if "" in said or len(said) < len(words):
        remedy = did_you_mean(said.get("", ""), QUESTIONS, "Name a parser, or answers such as dep-head,first,log")
        raise DeptreeError(f"{text!r} is not a layout", remedy)
    return preset.merged(Layout(said.get("orient"), said.get("root"), said.get("scale")))


def complete(context: object, parameter: object, incomplete: str) -> list[str]:
    """The presets and answers that go on so: click's `shell_complete`."""
    before, comma, last = incomplete.rpartition(",")
    names = QUESTIONS if comma else (*PRESETS.names, *QUESTIONS)
    return [before + comma + each for each in names if each.startswith(last)]


def text_of(read: Layout) -> str:
    """The text that gives this layout again: the preset's name, and the answers that are not the preset's."""
    usual = PRESETS.get(read.name) if read.name else Layout()
    answers = [getattr(read, name) for name in CHOICES if getattr(read, name) != getattr(usual, name)]
    return ",".join(filter(None, [read.name, *answers]))
