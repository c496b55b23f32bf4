"""What `deptree measure` finds in sentences: quantities of their trees, and what each comes to by chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.cli.measured import LENGTH, PARSER, RANDOM_TREES, TREES, Column, Found, Measured
from deptree_cli.cli.work import Work
from deptree_cli.core.chance import RandomTrees, moments
from deptree_cli.core.dtypes import Float
from deptree_cli.core.kinds import ARCS, Baseline, OfTree, OverArcs, words_of
from deptree_cli.core.measures.register import RANDOM_ORDER
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.packed import PackedTrees, Packing
from deptree_cli.kernels.budget import foresee

# How many steps of Python a word costs, for `foresee`, and each word that an arc passes: elements of a dozen loops.
STEPS, PASSED = 150, 2


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
        foresee(STEPS * len(trees.heads) + PASSED * float(np.abs(trees.heads - words_of(trees.starts)).sum()))
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


def is_of_arcs(quantity: OfTree) -> bool:
    """Whether a quantity is a mean over arcs, which each label's arcs have too."""
    return isinstance(quantity, OverArcs) and quantity.over == ARCS


def of_labels(column: Column) -> bool:
    """Whether arcs of a label have numbers of a column."""
    return column.of in (TREES, RANDOM_ORDER)
