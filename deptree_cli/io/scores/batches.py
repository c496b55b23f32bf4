"""Records that are worked on together: those of plain scores, of arcs alone, over trees that have kernels for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from deptree_cli.core.blocks import only_plain, starts_of
from deptree_cli.core.dtypes import Bool, Float, Int
from deptree_cli.core.tree_batch import TreeBatch
from deptree_cli.io.scores.arrays import numeric
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.sentence import Sentence
from deptree_cli.kernels.packed import DIAGONAL, FIRST, LAST, lay_out

if TYPE_CHECKING:
    from deptree_cli.core.spaces import TreeSpace

# Longer sentences take no less time in a batch than alone, and more memory: it has a copy of their scores.
LONGEST = 300

ROOTS = {"first": FIRST, "last": LAST, "diagonal": DIAGONAL}


@dataclass(frozen=True, eq=False)
class RaggedLayout:
    """How the matrices of some records are laid out: `shapes` (B, 2); `dep_head` (B,), whether rows are dependents."""

    shapes: Int
    dep_head: Bool
    root: int
    lengths: Int

    @classmethod
    def of(cls, shapes: Int, layout: Layout) -> RaggedLayout:
        rows, columns = shapes.T
        square = rows == columns
        lengths = np.minimum(rows, columns) - (square & (layout.root != "diagonal"))
        dep_head = np.where(square, layout.orient == "dep-head", rows < columns)
        return cls(shapes, dep_head, ROOTS[layout.root or "first"], lengths)

    def only(self, chosen: Bool) -> RaggedLayout:
        return RaggedLayout(self.shapes[chosen], self.dep_head[chosen], self.root, self.lengths[chosen])

    def fields(self) -> list[dict[str, str]]:
        """The `layout_fields` of each."""
        root = next(name for name, number in ROOTS.items() if number == self.root)
        return [{"orient": "dep-head" if each else "head-dep", "root": root} for each in self.dep_head.tolist()]

    def to_head_dep(self, values: Float, forbidden: float) -> Float:
        """Matrices as they were read, one after another, as ``[head, dependent]``."""
        found = np.full(int(((self.lengths + 1) ** 2).sum()), forbidden)
        self._lay_out(values, found, False)
        return found

    def from_head_dep(self, found: Float) -> list[Float]:
        """The inverse, for numbers of arcs; other cells are 0."""
        values = np.zeros(int(self.shapes.prod(axis=1).sum()))
        starts = self._lay_out(found, values, True)
        each = np.split(values, starts[1:])
        return [one.reshape(shape) for one, shape in zip(each, self.shapes.tolist(), strict=True)]

    def _lay_out(self, given: Float, found: Float, back: bool) -> Int:
        """Where each matrix as read begins; with `back` from where each begins that is ``[head, dependent]``."""
        starts, offsets = starts_of(self.shapes.prod(axis=1)), starts_of((self.lengths + 1) ** 2)
        lay_out(given, found, self.shapes, starts, self.dep_head, self.root, self.lengths, offsets, back)
        return starts


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Records with their distributions; `places`: the number of each among those that there were."""

    places: list[int]
    records: list[Sentence]
    layout: RaggedLayout
    trees: TreeBatch


def batch_of(records: Sequence[Sentence], layout: Layout, space: TreeSpace, temperature: float) -> ScoredBatch | None:
    """Return the records that can be worked on together; None where there are none."""
    places = [place for place, record in enumerate(records) if _fits(record, layout)]
    if not places or space.swept is None:
        return None
    scores = [records[place].scores for place in places]
    values = np.concatenate([each.ravel() for each in scores], dtype=np.float64, casting="unsafe")
    ragged = RaggedLayout.of(np.array([each.shape for each in scores]), layout)
    found = ragged.to_head_dep(values, layout.forbidden)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if layout.scale != "log":
            np.log(found, out=found)
        np.divide(found, temperature, out=found)
    plain, log_scores = only_plain(found, ragged.lengths)
    if not plain.any():
        return None
    places, ragged = list(compress(places, plain)), ragged.only(plain)
    trees = TreeBatch(log_scores, ragged.lengths, space, side_by_side=False)
    return ScoredBatch(places, [records[place] for place in places], ragged, trees)


def _fits(record: Sentence, layout: Layout) -> bool:
    """Whether it has nothing but numbers of arcs, in the orientation of the layout, and is not long."""
    rows, columns = record.scores.shape
    if min(rows, columns) > LONGEST or record.labels is not None or not numeric(record.scores.dtype):
        return False
    return rows == columns or layout.orient in (None, "dep-head" if rows < columns else "head-dep")
