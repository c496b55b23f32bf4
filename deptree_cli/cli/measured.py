"""What `deptree measure` found in sentences, as rows and as lines, and summed up by the labels of arcs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Float, Int
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.encoders.text import cells, numbers_as_cells
from deptree_cli.io.trees.packed import PackedTrees

# Whose the numbers of a column are: the tree's own, and what chance makes them.
TREES, RANDOM_TREES, PARSER = "trees", "random_trees", "parser"

# The quantity that all trees of a sentence share.
LENGTH = "length"

# The role under which a sentence has the group that its file puts it in.
GROUP = "group"


class Column(NamedTuple):
    """Numbers of sentences.

    Attributes:
        quantity: its name.
        of: `TREES`, or a baseline's name.
        has_sd: whether there are standard deviations within sentences.
        has_error: whether they are from sampled trees, with standard errors.
    """

    quantity: str
    of: str
    has_sd: bool = False
    has_error: bool = False

    @property
    def fields(self) -> Iterator[tuple[str, str]]:
        """What rows of sentences call them: the object they stand in, if any, and their attribute in `Found`."""
        yield "" if self.of == TREES else self.of, "means"
        if self.has_sd:
            yield f"{self.of}_sd", "sds"
        if self.has_error:
            yield f"{self.of}_error", "errors"


@dataclass(frozen=True, eq=False)
class Found:
    """What was found in some sentences.

    Attributes:
        trees: theirs.
        columns: what numbers there are of; the same for all sentences of a run.
        means, sds, errors: (sentences, columns).
    """

    trees: PackedTrees
    columns: Sequence[Column]
    means: Float
    sds: Float
    errors: Float

    def each(self) -> list[Measured]:
        """What was found in each sentence."""
        return [Measured(self, number) for number in range(len(self.means))]

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each sentence: its numbers, and those of baselines in objects of their own."""
        fields = [(outer, name, _known(values)) for outer, name, values in self._fields()]
        rows: list[Row] = []
        for number, first in enumerate(zip(*self._first.values(), strict=True)):
            row: dict[str, Any] = dict(zip(self._first, first, strict=True))
            for outer, inner, values in fields:
                if outer:
                    row.setdefault(outer, {})[inner] = values[number]
                else:
                    row[inner] = values[number]
            rows.append(row)
        return rows

    @cached_property
    def lines(self) -> list[bytes]:
        """The rows as lines of TSV, a column after another, which is several times as fast as a cell after another."""
        columns = [cells(name, values) for name, values in self._first.items()]
        columns += [numbers_as_cells(values) for _, _, values in self._fields()]
        return [b"\t".join(each) + b"\n" for each in zip(*columns, strict=True)]

    @cached_property
    def _first(self) -> dict[str, list[Any]]:
        """The fields that rows begin with, and the value of each sentence."""
        read = self.trees.read
        groups = [each.companions[GROUP] for each in read if GROUP in each.companions]
        named = {"sent_id": [each.sent_id for each in read], GROUP: groups, LENGTH: self.trees.lengths.tolist()}
        return {name: values for name, values in named.items() if values}

    def _fields(self) -> Iterator[tuple[str, str, Array]]:
        """The fields behind those: in which object, under which name, and the value of each sentence."""
        for at, column in sorted(enumerate(self.columns), key=lambda each: each[1].of != TREES):
            for outer, attribute in column.fields:
                values = getattr(self, attribute)[:, at]
                if column.quantity == LENGTH:
                    continue
                whole = not outer and NUMBERS.get(column.quantity).whole
                yield outer, column.quantity, values.astype(np.int64) if whole else values


def _known(values: Any) -> list[Any]:
    found: list[Any] = values.tolist()
    return [None if value != value else value for value in found] if values.dtype.kind == "f" else found


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """What was found in a sentence.

    Attributes:
        of: what was found in several.
        number: its own among them.
    """

    of: Found
    number: int

    def rows(self) -> list[Row]:
        """Its row."""
        return [self.of.rows[self.number]]

    def to_tsv(self) -> bytes:
        """The same as a line."""
        return self.of.lines[self.number]

    @property
    def counted(self) -> Measured:
        """Itself: what means are of."""
        return self


class ArcSums(NamedTuple):
    """Sums over the arcs of a label in a sentence: of each column, and how many arcs there are."""

    label: str
    sums: Float
    arcs: int


def by_label(measured: Measured, columns: Sequence[int]) -> Iterator[ArcSums]:
    """Sum up the quantities of arcs of a sentence by label: those that are means over arcs, and under random order.

    In random order all arcs of a tree are alike.

    Args:
        columns: the numbers of those that arcs of a label have.
    """
    found, number = measured.of, measured.number
    trees = found.trees
    start, end = trees.starts[number : number + 2].tolist()
    heads: Int = trees.heads[start:end]
    labels = (trees.labels or [])[number]
    arcs = np.flatnonzero(heads > 0)
    names, group = np.unique([labels[word] for word in arcs.tolist()], return_inverse=True)
    counts = np.bincount(group, minlength=len(names))
    values = [_arc_values(found.columns[at], heads[arcs], arcs + 1, found.means[number, at]) for at in columns]
    sums = np.array([np.bincount(group, each, len(names)) for each in values]).T
    for name, own, count in zip(names.tolist(), sums, counts.tolist(), strict=True):
        yield ArcSums(name, own, count)


def _arc_values(column: Column, heads: Int, words: Int, mean: float) -> Float:
    quantity = NUMBERS.get(column.quantity)
    if column.of == TREES:
        return np.asarray(quantity.value(heads, words), dtype=np.float64)
    return np.full(len(heads), mean)
