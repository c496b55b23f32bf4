"""Distributions of many sentences at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import pairwise
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.core.blocks import (
    RaggedTrees,
    alike,
    laid_out,
    of_sentence,
    pack_shifted,
    require_precision,
    starts_of,
)
from deptree_cli.core.dtypes import MASK, Array, Float, Heads, Int, Integers, read_only
from deptree_cli.core.errors import DeptreeError, located, name_in_batch
from deptree_cli.core.factorisation import (
    EVERY,
    LogPartitions,
    Question,
    Rows,
    Swept,
    chosen,
    covariances_into,
    samples_into,
    sums_into,
)
from deptree_cli.core.spaces import Elimination, TreeSpace
from deptree_cli.core.streams import SentenceStreams
from deptree_cli.kernels import questions
from deptree_cli.kernels.packed import Matrices, tree_log_probs
from deptree_cli.kernels.questions import SHORT

if TYPE_CHECKING:
    from deptree_cli.core.distribution import TreeDistribution

# How sentences are spread over threads.

# Numbers of a block of sentences that are worked on one after another: they stay in a core's cache. Of short sentences
# a block has whole groups, as many as go side by side (`kernels/questions.py`): 8 in float64, 16 in float32.
BLOCK = 1 << 18
GROUP = 16

# From how much work on a thread more pays, which takes a twentieth of a millisecond to wake: sums of costs, which are
# (n + 8)^3 a sentence. 10^6 of these take 0.15 ms.
COST = 1e6

Action = Callable[[int, int], object]


def spread(action: Action, lengths: Int, threads: int) -> None:
    """Call action(first, stop) for blocks of sentences that cover a batch, on up to `threads` threads.

    Every thread takes neighbouring sentences of about the same cost, n^3 each; what is computed does not depend on how
    they are shared out.
    """
    costs, run = (lengths + 8.0) ** 3, partial(_in_blocks, action, lengths)
    first, *others = _shares(costs, min(threads, 1 + int(costs.sum() / COST))) or [(0, 0)]
    waiting = [_pool(threads - 1, os.getpid()).submit(run, *share) for share in others]
    try:
        run(*first)
    finally:
        wait(waiting)
    for each in waiting:
        each.result()


def _shares(costs: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return neighbouring stretches of about equal cost, none of them empty."""
    ends = np.searchsorted(np.cumsum(costs), costs.sum() * np.arange(1, count) / count, side="right")
    return [(first, stop) for first, stop in pairwise([0, *ends.tolist(), len(costs)]) if first < stop]


def _in_blocks(action: Action, lengths: Int, first: int, stop: int) -> None:
    size = max(1, BLOCK // int(lengths[first:stop].max(initial=0) + 1) ** 2)
    size = size // GROUP * GROUP or size
    for start in range(first, stop, size):
        action(start, min(start + size, stop))


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads beside the one that asks; those of a process do not survive a fork, hence its number."""
    return ThreadPoolExecutor(threads, thread_name_prefix="deptree")


# Many sentences at once: the questions that a `TreeDistribution` answers.


@cache
def _no_memory(swept: type[Swept], dtype: Any) -> tuple[Any, Any]:
    return swept.memory(partial(np.empty, dtype=dtype), 0)


@dataclass(frozen=True, eq=False)
class TreeBatch:
    """The distributions over the trees of many sentences.

    Args:
        log_scores: float32 or float64, ``[head, dependent]``, never written to: padded, (B, N, N), or (n+1, n+1) of
            each sentence one after another. Column 0, the diagonal and what goes beyond a sentence's nodes are ignored.
        lengths: (B,), how many words each sentence has.
        space: of their trees.
        precision: "float64" or "float32", in which non-projective trees are summed: marginals are then within 1e-13 or
            5e-6 of the truth. Sentences that leave float32's range are computed in float64, and so are those of more
            than 100 words, and covariances.
        threads: on how many threads kernels work.
        side_by_side: whether short sentences are summed side by side, in half the time. Marginals then differ by
            rounding from those of each sentence's own distribution; else, where every arc is possible, not at all.
        raises: false: a sentence without a distribution is not an error. Its log Z is -inf if it has no tree, NaN if it
            has no scores; its marginals and covariances are 0 or NaN.

    Raises:
        DeptreeError: no such precision; or, from every question, a sentence has invalid scores or no tree: it is named.
    """

    log_scores: Array
    lengths: Int
    space: TreeSpace
    precision: str = "float64"
    threads: int = 1
    side_by_side: bool = True
    raises: bool = True

    def __post_init__(self) -> None:
        require_precision(self.precision)

    @cached_property
    def scores(self) -> Matrices:
        return laid_out(self.log_scores, self.lengths)

    def own(self, matrices: Matrices, b: int) -> Array:
        """A sentence's matrix, (n+1, n+1)."""
        nodes = int(self.lengths[b]) + 1
        return of_sentence(matrices, b)[:nodes, :nodes]

    def like_scores(self, values: Array) -> Matrices:
        """The matrices of an array that is laid out as the scores are."""
        return Matrices(values.reshape(-1), self.scores.starts, self.scores.sizes)

    def alone(self, b: int) -> TreeDistribution:
        if b not in self._distributions:
            from deptree_cli.core.distribution import TreeDistribution  # few batches have such sentences

            name = name_in_batch(b)
            with located(sent_id=name):
                self._distributions[b] = TreeDistribution(self.own(self.scores, b), space=self.space, id=name)
        return self._distributions[b]

    @cached_property
    def _distributions(self) -> dict[int, TreeDistribution]:
        return {}

    def ask(
        self,
        question: Question,
        fill_alone: Callable[[int, TreeDistribution], object],
        precision: str = "float64",
        rows: Int | None = None,
        out: Matrices | None = None,
    ) -> LogPartitions:
        """Put a question about each sentence; return log Z, and for which of them kernels sufficed that take many.

        Kernels answer in float32 if that is asked for, then in float64. Each sentence that is left is asked by itself:
        one whose weights leave the range of numbers or whose last word cannot reach all others, and all of a space
        without kernels.

        Args:
            fill_alone: fills in the answer of one sentence by its own distribution.
            rows: about which sentences kernels may be asked together; None: about all.
            out: the matrices that the question fills, if it does.
        """
        size, swept = len(self.lengths), self.space.swept
        found = LogPartitions.unknown(size)
        in_float32 = precision == "float32" and swept is Elimination
        for dtype in (np.float32, np.float64)[not in_float32 :] if swept is not None else ():
            if rows is None and self._is_short:
                self._fill(found, question, dtype, EVERY)
            else:
                rows = np.arange(size) if rows is None else rows
                spread(partial(self._fill, found, question, dtype, rows), self.lengths[rows], self.threads)
            if found.in_range.all():
                return found
            rows = np.flatnonzero(~found.in_range) if rows is None else rows[~found.in_range[rows]]
        for b in np.flatnonzero(~found.in_range).tolist():
            try:
                alone = self.alone(b)
                own = alone.factorisation
            except DeptreeError:
                if self.raises:
                    raise
                found.shifted[b], found.constants[b] = self._missing(b, out), 0.0
            else:
                found.shifted[b], found.constants[b] = own.shifted_log_z, own.shifted.constant
                fill_alone(b, alone)
        return found

    @property
    def _is_short(self) -> bool:
        """Whether this thread asks about all at once, as of a short step of training: known in no time."""
        work = len(self.lengths) * (self.log_scores.shape[-1] + 7.0) ** 3
        return 0 < self.log_scores.size <= BLOCK and (self.threads == 1 or work <= COST)

    def _fill(
        self, found: LogPartitions, question: Question, dtype: Any, rows: Rows, first: int = 0, stop: int | None = None
    ) -> None:
        """Fill in what kernels find of some sentences, or of a block of these, in numbers of one type."""
        rows = rows if isinstance(rows, slice) else rows[first:stop]
        memory, lengths = _no_memory(self.space.swept, dtype), self.lengths[rows]
        short = SHORT if self.side_by_side and memory[1] is not None else 0
        size = self.log_scores.size if rows is EVERY else int(((lengths + 1) ** 2).sum())
        own = found if rows is EVERY else LogPartitions.unknown(len(lengths))
        packed = pack_shifted(chosen(self.scores, rows), lengths, self.space.single_root, size, own, dtype, short)
        np.exp(packed[0], out=packed[0])
        question((*memory, packed, own.shifted, False), rows)
        if own is not found:
            for target, values in zip(found, own, strict=True):
                target[rows] = values

    def _missing(self, b: int, out: Matrices | None) -> float:
        """What stands for log Z of a sentence that has no distribution; fills in what stands for its results."""
        given = np.where(np.eye(int(self.lengths[b]) + 1, dtype=bool), -np.inf, self.own(self.scores, b))
        given[:, 0] = -np.inf
        has_no_tree = bool((given <= MASK).all()) and not self.space.is_feasible(given > -MASK)
        if out is not None:
            self.own(out, b)[:] = 0.0 if has_no_tree else np.nan
        return -np.inf if has_no_tree else np.nan

    def over(self, space: TreeSpace) -> TreeBatch:
        return self if space == self.space else replace(self, space=space)

    def log_partitions(self) -> Float:
        """The log-partition functions, (B,) float64: natural logarithms of sums over trees. O(n^3) a sentence."""
        return self.log_partition_parts().total

    def log_partition_parts(self) -> LogPartitions:
        return self.sums[0] if "sums" in self.__dict__ else self._sum_up(None)

    def log_partitions_and_marginals(self) -> tuple[Float, Array]:
        """The log-partition functions and their gradient, the marginals of arcs, laid out as the scores, in their type.

        Marginals of forbidden arcs, of column 0 and of padding are 0.
        """
        marginals = np.zeros(self.log_scores.shape, self.log_scores.dtype)
        return self._sum_up(self.like_scores(marginals)).total, marginals

    def covariances(self, values: Array) -> Array:
        """Cov(1[arc in tree], sum of the tree's values) of every arc, laid out as the scores, in their type.

        It is the derivative of the marginals in the direction of the values, which are laid out as the scores are and
        count on possible arcs only: an infinite one or NaN there gives NaN at all of its sentence. O(n^3) a sentence.
        """
        found = np.zeros(self.log_scores.shape, self.log_scores.dtype)
        given, out = self.like_scores(values), self.like_scores(found)

        def fill_alone(b: int, alone: TreeDistribution) -> None:
            self.own(out, b)[:] = alone.factorisation.arc_covariance(self.own(given, b))

        self.ask(covariances_into(given, out), fill_alone, out=out)
        return found

    def sample(self, size: int, streams: SentenceStreams) -> tuple[RaggedTrees, LogPartitions]:
        """Independent trees of each sentence, as the sampler `auto` draws them, and the log-partition functions."""
        from deptree_cli.core.samplers import WORDS

        trees = RaggedTrees.empty(self.lengths, size)
        few, question = self.lengths * size < WORDS, samples_into(trees.heads, trees.starts, size, streams.states)

        def fill_alone(b: int, alone: TreeDistribution) -> None:
            trees.of(b)[:] = alone.sample(size, streams.of(b))

        return trees, self.ask(question, fill_alone, rows=None if few.all() else np.flatnonzero(few))

    def argmax(self) -> RaggedTrees:
        flat = self.log_scores
        if flat.ndim > 1:
            own = [self.own(self.scores, b).ravel() for b in range(len(self.lengths))]
            flat = np.concatenate([np.empty(0), *own])
        return self._best(flat, methodcaller("argmax"))

    def mbr(self) -> RaggedTrees:
        log_z, marginals = self.sums
        return self._best(np.where(self._log_weights(log_z) > -np.inf, marginals, -np.inf), methodcaller("mbr"))

    def _best(self, scores: Float, alone: Callable[[TreeDistribution], Heads]) -> RaggedTrees:
        """The tree of the largest sum of scores of each sentence, (n+1, n+1) one after another."""
        trees, in_range = RaggedTrees.empty(self.lengths, 1), np.zeros(len(self.lengths), dtype=np.bool_)
        if swept := self.space.swept:
            given = tuple(laid_out(scores, self.lengths)), self.lengths, -MASK, self.space.single_root
            questions.best_trees(*swept.memory(np.empty, 0), *given, trees.heads, trees.starts, in_range)
        for b in np.flatnonzero(~in_range).tolist():
            trees.of(b)[:] = alone(self.alone(b))
        return trees

    @cached_property
    def sums(self) -> tuple[LogPartitions, Float]:
        """The log-partition functions and P(head -> dependent), (n+1, n+1) of each sentence one after another."""
        marginals = np.zeros(int(((self.lengths + 1) ** 2).sum()))
        return self._sum_up(laid_out(marginals, self.lengths)), read_only(marginals)

    @property
    def marginals(self) -> Float:
        return self.sums[1]

    @cached_property
    def entropies(self) -> Float:
        log_z, marginals = self.sums
        values = np.where(marginals > 0, self._log_weights(log_z), 0.0)
        means = [np.vdot(*both) for both in zip(self.matrices(marginals), self.matrices(values), strict=True)]
        found: Float = np.maximum(log_z.shifted - means, 0.0)
        return found

    def tree_log_probs(self, trees: RaggedTrees, log_z: LogPartitions) -> Float:
        """The log-probabilities of K trees of each sentence, (B, K)."""
        found = np.empty((len(self.lengths), trees.size))
        log_weights = tuple(laid_out(self._log_weights(log_z), self.lengths))
        tree_log_probs(log_weights, self.lengths, log_z.shifted, trees.heads, trees.starts, found)
        return np.minimum(found, 0.0, out=found)

    def log_probs(self, rows: Int, heads: Integers, log_z: LogPartitions) -> Float:
        """The log-probabilities of trees (k, n), each of the sentence of rows (k,): (k,), -inf of no tree."""
        found, sound = np.full(len(rows), -np.inf), self.space.contains(heads)
        which, trees = rows[sound], heads[sound].astype(np.int32)
        if not len(which):
            return found
        of_sound, given = np.empty((len(which), 1)), chosen(laid_out(self._log_weights(log_z), self.lengths), which)
        starts = np.arange(0, trees.size, trees.shape[1])
        tree_log_probs(given, self.lengths[which], log_z.shifted[which], trees.ravel(), starts, of_sound)
        found[sound] = np.minimum(of_sound[:, 0], 0.0)
        return found

    def log_probs_of(self, trees: Sequence[Heads], log_z: LogPartitions) -> list[Float]:
        """The log-probabilities of trees of each sentence, (k, n) -> (k,) as of `log_probs`."""
        found: list[Any] = [None] * len(trees)
        for some in alike(self.lengths):
            heads, rows = [trees[row] for row in some.rows.tolist()], some.rows
            counts = np.array([len(each) for each in heads])
            log_probs, ends = self.log_probs(rows.repeat(counts), np.concatenate(heads), log_z), counts.cumsum()
            for row, start, end in zip(rows.tolist(), (ends - counts).tolist(), ends.tolist(), strict=True):
                found[row] = log_probs[start:end]
        return found

    def probs_of(self, trees: RaggedTrees) -> Float:
        """The probability of each word's head, laid out as the heads are, of one tree of each sentence."""
        words = np.arange(len(trees.heads)) - trees.starts.repeat(self.lengths) + 1
        rows = trees.heads * (self.lengths + 1).repeat(self.lengths)
        return self.marginals[starts_of((self.lengths + 1) ** 2).repeat(self.lengths) + rows + words]

    def matrices(self, values: Float) -> list[Float]:
        """Numbers of arcs that stand one after another, as a matrix (n+1, n+1) of each sentence."""
        return list(map(partial(of_sentence, laid_out(values, self.lengths)), range(len(self.lengths))))

    def _log_weights(self, log_z: LogPartitions) -> Float:
        """The shifted log-scores that log Z is of, (n+1, n+1) of each sentence, one after another."""
        found = self._shifted if log_z.in_range.all() else self._shifted.copy()
        for b in np.flatnonzero(~log_z.in_range).tolist():
            of_sentence(laid_out(found, self.lengths), b)[:] = self.alone(b).factorisation.shifted.log_weights
        return found

    @cached_property
    def _shifted(self) -> Float:
        how = self.space.single_root, self.log_scores.size, LogPartitions.unknown(len(self.lengths))
        log_weights: Float = pack_shifted(tuple(self.scores), self.lengths, *how)[0]
        return log_weights

    def _sum_up(self, out: Matrices | None) -> LogPartitions:
        """Log Z; fills zeros with marginals, unless there are none."""

        def fill_alone(b: int, alone: TreeDistribution) -> None:
            if out is not None:
                self.own(out, b)[:] = alone.marginals()

        return self.ask(sums_into(out), fill_alone, self.precision, out=out)
