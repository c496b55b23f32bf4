"""How many sentences are asked something: kernels answer for blocks on threads, their own distribution for the others.

Where float32 is asked for, a sentence that is long, or whose weights leave its range, is asked about in float64. One
that leaves that too, or whose last word cannot reach all others, or which is of a space without kernels for batches, is
worked out as any other sentence of the house is, in wide numbers if need be.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np

from deptree_cli.core.batches.blocks import (
    EVERY,
    LogPartitions,
    Rows,
    chosen,
    laid_out,
    of_sentence,
    require_precision,
    shifted,
)
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array, Float, Int
from deptree_cli.core.errors import DeptreeError, in_batch, name_in_batch
from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces import TreeSpace, by_space
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective
from deptree_cli.kernels.batches import eisner, elimination
from deptree_cli.kernels.batches.lanes import SHORT
from deptree_cli.kernels.batches.packed import Matrices, Packed

# Numbers of a block of sentences that are worked on one after another: they stay in a core's cache. Of short sentences
# a block has whole groups, as many as go side by side (`kernels/batches/lanes.py`): 8 in float64, 16 in float32.
BLOCK = 1 << 18
GROUP = 16

# Up to so many words sums in float32 keep marginals within 5e-6; of 200 words some were 9e-6 off.
LONG = 100

# From how much work on a thread more pays, which takes a twentieth of a millisecond to wake: sums of costs, which are
# (n + 8)^3 a sentence. 10^6 of these take 0.15 ms.
COST = 1e6

Result = TypeVar("Result")
Action = Callable[[int, int], Result]


def spread(action: Action[Result], lengths: Int, threads: int) -> list[Result]:
    """What action(first, stop) returns for blocks of sentences that cover a batch, on up to `threads` threads.

    Every thread takes neighbouring sentences of about the same cost, n^3 each; what is computed does not depend on how
    they are shared out.
    """
    if min(len(lengths), threads) <= 1:
        return _in_blocks(action, lengths, 0, len(lengths))
    costs = (lengths + 8.0) ** 3
    shares = _shares(costs, min(threads, len(lengths), 1 + int(costs.sum() / COST)))
    waiting = [
        _pool(threads - 1, os.getpid()).submit(partial(_in_blocks, action, lengths, *share)) for share in shares[1:]
    ]
    try:
        first = _in_blocks(action, lengths, *shares[0])
    finally:
        wait(waiting)
    return [*first, *chain.from_iterable(future.result() for future in waiting)]


def _shares(costs: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return neighbouring stretches of about equal cost, none of them empty."""
    if count == 1:
        return [(0, len(costs))]
    ends = np.searchsorted(np.cumsum(costs), costs.sum() * np.arange(1, count) / count, side="right")
    borders = [0, *ends.tolist(), len(costs)]
    return [(first, stop) for first, stop in pairwise(borders) if first < stop]


def _in_blocks(action: Action[Result], lengths: Int, first: int, stop: int) -> list[Result]:
    if first == stop:
        return []
    size = max(1, BLOCK // int(lengths[first:stop].max() + 1) ** 2)
    size = size // GROUP * GROUP or size
    return [action(start, min(start + size, stop)) for start in range(first, stop, size)]


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads beside the one that asks; those of a process do not survive a fork, hence its number."""
    return ThreadPoolExecutor(threads, thread_name_prefix="deptree")


# The kernels that answer for the trees of a space.
KERNELS: dict[type[TreeSpace], Any] = {NonProjective: elimination, Projective: eisner}


# What the kernels of a space are asked about some sentences, which are given by weights and numbers: they fill log Z of
# these, and rows of results.
Question = Callable[[Any, Packed, Float, Rows], None]
# What a sentence's own distribution is asked instead: it fills one row of results.
Alone = Callable[[int, TreeDistribution], None]


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
        return of_sentence(matrices, b)[:nodes, :nodes]

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
        raises: bool = True,
        out: Matrices | None = None,
    ) -> LogPartitions:
        """Put a question to kernels about some sentences, all if `rows` is None, and to each other one itself.

        Args:
            raises: false: a sentence without a distribution is no error. Its log Z is -inf if it has no tree, NaN if
                its scores are none; and its matrix of `out` is 0 or NaN.
        """
        found = self._by_kernels(question, precision, rows)
        if found.in_range.all():
            return found
        for b in np.flatnonzero(~found.in_range).tolist():
            try:
                distribution = self.alone(b)
            except DeptreeError:
                if raises:
                    raise
                found.shifted[b], found.constants[b] = self._missing(b, out), 0.0
            else:
                factorisation = distribution.factorisation
                found.shifted[b], found.constants[b] = factorisation.shifted_log_z, factorisation.shifted.constant
                alone(b, distribution)
        return found

    def _by_kernels(self, question: Question, precision: str, rows: Int | None) -> LogPartitions:
        """What kernels find of log Z, in float64 where float32 did not suffice."""
        kernels, size = kernels_for(self.space), len(self.lengths)
        in_float32 = precision == "float32" and kernels is elimination
        if rows is None and kernels is not None and self._is_one_block():
            found = self._in_block(question, kernels, np.float32 if in_float32 else np.float64, EVERY)
            if not in_float32:
                return found
        else:
            found = LogPartitions(np.empty(size), np.empty(size), np.zeros(size, dtype=np.bool_))
            if kernels is None:
                return found
            if in_float32:
                self._in_blocks(question, kernels, np.float32, self._not_long(rows), found)
        if in_float32:
            if found.in_range.all():
                return found
            rows = np.flatnonzero(~found.in_range) if rows is None else rows[~found.in_range[rows]]
        self._in_blocks(question, kernels, np.float64, rows, found)
        return found

    def _is_one_block(self) -> bool:
        """Whether this thread may ask about all sentences at once, as of a short step of training: quickly known."""
        size = self.log_scores.shape[-1] if self.log_scores.ndim == 3 else 0
        return self.threads == 1 and 1 < size <= LONG + 1 and 0 < self.log_scores.size <= BLOCK

    def _in_block(self, question: Question, kernels: Any, dtype: type[np.floating], which: Rows) -> LogPartitions:
        """What kernels find of some sentences in numbers of one type."""
        packed, constants = shifted(
            chosen(self.scores, which), self.lengths[which], self.space, dtype, SHORT if self.side_by_side else 0
        )
        np.exp(packed.weights, out=packed.weights)
        log_z = np.empty(len(constants))
        question(kernels, packed, log_z, which)
        return LogPartitions(log_z, constants, packed.in_range)

    def _not_long(self, rows: Int | None) -> Int | None:
        if self.log_scores.shape[-1] <= LONG + 1 or self.lengths.max() <= LONG:
            return rows
        every = np.arange(len(self.lengths)) if rows is None else rows
        return every[self.lengths[every] <= LONG]

    def _in_blocks(
        self, question: Question, kernels: Any, dtype: type[np.floating], rows: Int | None, found: LogPartitions
    ) -> None:
        """Fill in what kernels find in numbers of one type."""

        def answer(first: int, stop: int) -> None:
            which = slice(first, stop) if rows is None else rows[first:stop]
            for target, values in zip(found, self._in_block(question, kernels, dtype, which), strict=True):
                target[which] = values

        spread(answer, self.lengths if rows is None else self.lengths[rows], self.threads)

    def _missing(self, b: int, out: Matrices | None) -> float:
        """What stands for log Z of a sentence that has no distribution; fills in what stands for its results."""
        given = np.where(np.eye(int(self.lengths[b]) + 1, dtype=bool), -np.inf, self.own(self.scores, b))
        given[:, 0] = -np.inf
        has_no_tree = bool((given <= MASK).all()) and not self.space.is_feasible(given > -MASK)
        if out is not None:
            self.own(out, b)[:] = 0.0 if has_no_tree else np.nan
        return -np.inf if has_no_tree else np.nan
