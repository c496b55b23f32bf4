"""How many sentences are asked something: kernels answer for blocks, a sentence's own distribution where those do not.

A sentence whose weights leave float32's range, where that is asked for, is asked about in float64. One that leaves
that too, or whose last word cannot reach all others, or which is of a space without kernels for batches, is worked out
as any other sentence of the house is, in wide numbers if need be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.batches.blocks import (
    PRECISIONS,
    Block,
    LogPartitions,
    Matrices,
    joined,
    laid_out,
    require_precision,
)
from deptree_cli.core.batches.threads import spread
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array, Int
from deptree_cli.core.errors import DeptreeError, in_batch, name_in_batch
from deptree_cli.core.spaces import TreeSpace, by_space
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective
from deptree_cli.kernels.batches import eisner, elimination
from deptree_cli.kernels.batches.lanes import SHORT
from deptree_cli.kernels.batches.packed import matrix

# The kernels that answer for the trees of a space.
KERNELS: dict[type[TreeSpace], Any] = {NonProjective: elimination, Projective: eisner}

# What the kernels of a space are asked about a block: they fill its log Z, and rows of results.
Question = Callable[[Any, Block], None]
# What a sentence's own distribution is asked instead: it fills one row of results.
Alone = Callable[[int, TreeDistribution], None]
# What is done about a sentence that has no distribution, instead of raising why; its log Z.
Missing = Callable[[int], float]


def kernels_for(space: TreeSpace) -> Any:
    """The kernels for batches of a tree space, None if it has none."""
    return by_space(KERNELS, space)


@dataclass(frozen=True, eq=False)
class Sentences:
    """The scores of many sentences, and how they are asked about: see `TreeBatch`."""

    log_scores: Array
    lengths: Int
    space: TreeSpace
    precision: str = "float64"
    threads: int = 1
    side_by_side: bool = True

    def __post_init__(self) -> None:
        require_precision(self.precision)

    @cached_property
    def scores(self) -> Matrices:
        """The log-scores, which nobody writes to."""
        return laid_out(self.log_scores, self.lengths)

    def own(self, matrices: Matrices, b: int) -> Array:
        """A sentence's matrix, (n+1, n+1)."""
        nodes = int(self.lengths[b]) + 1
        found: Array = matrix(matrices, b, nodes - 1)[:nodes, :nodes]
        return found

    def alone(self, b: int) -> TreeDistribution:
        """A sentence's own distribution."""
        if b not in self._distributions:
            name = name_in_batch(b)
            with in_batch(name):
                self._distributions[b] = TreeDistribution(self.own(self.scores, b), space=self.space, id=name)
        return self._distributions[b]

    @cached_property
    def _distributions(self) -> dict[int, TreeDistribution]:
        return {}

    def ask(
        self,
        question: Question,
        alone: Alone,
        precision: str = "float64",
        rows: Int | None = None,
        missing: Missing | None = None,
    ) -> LogPartitions:
        """Put a question to kernels about some sentences, all if `rows` is None, and to each other one itself."""
        found = self._by_kernels(question, precision, rows)
        if found.in_range.all():
            return found
        for b in np.flatnonzero(~found.in_range).tolist():
            try:
                distribution = self.alone(b)
            except DeptreeError:
                if missing is None:
                    raise
                found.shifted[b], found.constants[b] = missing(b), 0.0
            else:
                factorisation = distribution.factorisation
                found.shifted[b], found.constants[b] = factorisation.shifted_log_z, factorisation.shifted.constant
                alone(b, distribution)
        return found

    def _by_kernels(self, question: Question, precision: str, rows: Int | None) -> LogPartitions:
        """What kernels find of log Z, in float64 where float32 did not suffice."""
        kernels, size = kernels_for(self.space), len(self.lengths if rows is None else rows)
        if kernels is None or size == 0:
            return LogPartitions.unknown(len(self.lengths))
        dtype = PRECISIONS[precision] if kernels is elimination else np.float64
        found = self._in_blocks(question, kernels, dtype, rows)
        if rows is not None:
            return LogPartitions.unknown(len(self.lengths)).updated(rows, found)
        if dtype is np.float64 or found.in_range.all():
            return found
        left = np.flatnonzero(~found.in_range)
        return found.updated(left, self._in_blocks(question, kernels, np.float64, left))

    def _in_blocks(self, question: Question, kernels: Any, dtype: type[np.floating], rows: Int | None) -> LogPartitions:
        """What kernels find of log Z in numbers of one type."""

        def answer(first: int, stop: int) -> LogPartitions:
            which = slice(first, stop) if rows is None else rows[first:stop]
            short = SHORT if self.side_by_side else 0
            block = Block.of_log_scores(self.scores, self.lengths, which, self.space, dtype, short)
            np.exp(block.packed.weights, out=block.packed.weights)
            question(kernels, block)
            return block.found

        return joined(spread(answer, self.lengths if rows is None else self.lengths[rows], self.threads))
