"""What `deptree measure` finds in sentences: quantities of their trees, and what each comes to by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.cli.work import Work
from deptree_cli.core.chance import RandomTrees, moments
from deptree_cli.core.dtypes import Float, Int
from deptree_cli.core.kinds import ARCS, Baseline, OfTree, OverArcs
from deptree_cli.core.measures.register import RANDOM_ORDER
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.packed import PackedTrees, Packing
from deptree_cli.kernels.budget import foresee

# How many steps of Python a word costs, for `foresee`: it is an element of a dozen loops.
STEPS = 150

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
        fields = [*self._fields()]
        lengths = self.trees.lengths.tolist()
        rows: list[Row] = []
        for number, read in enumerate(self.trees.read):
            row: dict[str, Any] = {"sent_id": read.sent_id}
            if GROUP in read.companions:
                row[GROUP] = read.companions[GROUP]
            row[LENGTH] = lengths[number]
            for outer, inner, values in fields:
                if outer:
                    row.setdefault(outer, {})[inner] = values[number]
                else:
                    row[inner] = values[number]
            rows.append(row)
        return rows

    def _fields(self) -> Iterator[tuple[str, str, list[Any]]]:
        """The fields of rows: in which object, under which name, and the value of each sentence."""
        for at, column in sorted(enumerate(self.columns), key=lambda each: each[1].of != TREES):
            for outer, attribute in column.fields:
                values = getattr(self, attribute)[:, at]
                if column.quantity == LENGTH:
                    continue
                whole = not outer and NUMBERS.get(column.quantity).whole
                yield outer, column.quantity, _known(values.astype(np.int64) if whole else values)


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

    @property
    def counted(self) -> Measured:
        """Itself: what means are of."""
        return self


@dataclass(frozen=True)
class Measure(Work[Measured]):
    """Measures trees.

    Attributes:
        names: of quantities.
        random: all trees of the space.
        size: how many trees of the parser's are drawn for what is no sum over arcs; None: none.
        scored: whether the parser's scores are read too; then what is prepared are `Scored`.
        reduced: whether words are left out or joined, so that the parser's trees have to be, too.
    """

    names: tuple[str, ...]
    random: RandomTrees
    size: int | None
    scored: bool
    reduced: bool

    @property
    def trees(self) -> int:
        """How many trees are drawn of an item."""
        return self.size or 0 if self.scored else 0

    @property
    def in_batches(self) -> bool:
        """Whether many sentences are measured at once."""
        return not self.scored

    @cached_property
    def _quantities(self) -> list[OfTree]:
        return [NUMBERS.get(name) for name in self.names]

    @cached_property
    def columns(self) -> list[Column]:
        """What numbers there will be, of each quantity its own first."""
        return [column for quantity in self._quantities for column in self._columns_of(quantity)]

    def _columns_of(self, quantity: OfTree) -> Iterator[Column]:
        name = quantity.name
        yield Column(name, TREES)
        for of, baseline in quantity.baselines.items():
            yield Column(name, of, baseline.variance is not None)
        if name == LENGTH:
            return
        exact = isinstance(quantity, OverArcs) and (self.random.space.single_root or not quantity.over)
        sampled = self.size is not None
        if exact or sampled:
            yield Column(name, RANDOM_TREES, sampled, not exact)
        if self.scored and ((exact and not self.reduced) or sampled):
            yield Column(name, PARSER, True, not exact or self.reduced)

    def batch(self, trees: PackedTrees, _: Any) -> list[Measured]:
        """The work on many sentences."""
        return self._found(trees).each()

    def one(self, prepared: Any, rng: np.random.Generator | None) -> Measured:
        """The work on one sentence."""
        if not self.scored:
            return self._found(prepared).each()[0]
        trees = prepared.trees
        reduction = trees.reductions[0] if trees.reductions else None
        parser = moments(prepared.sentence.distribution, self._quantities, self.size, rng, reduction)
        return self._found(trees, np.array([parser])).each()[0]

    def _found(self, trees: PackedTrees, parser: Float | None = None) -> Found:
        """What is found in some trees; parser: (sentences, quantities, 3)."""
        foresee(STEPS * len(trees.heads))
        of_length = {n: self.random.of(n) for n in set(trees.lengths.tolist())}
        random = np.stack([of_length[n] for n in trees.lengths.tolist()])
        own: Float = np.empty(0)
        columns = []
        for column in self.columns:
            at = self.names.index(column.quantity)
            quantity = self._quantities[at]
            if column.of == TREES:
                own = np.asarray(quantity.of_trees(trees.heads, trees.starts), dtype=np.float64)
                columns.append(np.stack([own, *[np.full(len(own), np.nan)] * 2]))
            elif column.of in quantity.baselines:
                columns.append(_of_baseline(quantity.baselines[column.of], trees))
            else:
                found = random if column.of == RANDOM_TREES or parser is None else parser
                columns.append(np.where(np.isnan(own), np.nan, found[:, at].T))
        means, sds, errors = np.stack(columns, axis=2)
        return Found(trees, self.columns, means, sds, errors)


def _of_baseline(baseline: Baseline, trees: PackedTrees) -> Float:
    """The mean of each sentence, its standard deviation and its error, (3, sentences)."""
    mean = np.asarray(baseline.mean(trees.heads, trees.starts), dtype=np.float64)
    unknown = np.full(len(mean), np.nan)
    if baseline.variance is None:
        return np.stack([mean, unknown, unknown])
    return np.stack([mean, np.sqrt(np.maximum(baseline.variance(trees.heads, trees.starts), 0.0)), unknown])


class Scored(NamedTuple):
    """A sentence with its distribution and its tree."""

    sentence: ScoredSentence
    trees: PackedTrees


@dataclass(frozen=True)
class ScoredPacking:
    """How a sentence with scores becomes both; it travels to worker processes."""

    how: Interpretation
    packing: Packing

    def __call__(self, read: Sentence) -> Scored:
        """The two of a sentence."""
        trees = self.packing(read)
        return Scored(self.how(read), trees)


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


def is_of_arcs(quantity: OfTree) -> bool:
    """Whether a quantity is a mean over arcs, which each label's arcs have too."""
    return isinstance(quantity, OverArcs) and quantity.over == ARCS


def of_labels(column: Column) -> bool:
    """Whether arcs of a label have numbers of a column."""
    return column.of in (TREES, RANDOM_ORDER)
