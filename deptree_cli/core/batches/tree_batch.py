"""Many sentences at once: the questions that a `TreeDistribution` answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from deptree_cli.core.batches.asking import Sentences, kernels_for
from deptree_cli.core.batches.blocks import (
    LogPartitions,
    RaggedTrees,
    Rows,
    alike,
    chosen,
    laid_out,
    like,
    of_sentence,
    shifted,
    starts_of,
)
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Array, Float, Heads, Int, Integers, read_only
from deptree_cli.core.samplers import is_few
from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.core.streams import SentenceStreams
from deptree_cli.kernels.batches.packed import Matrices, Packed
from deptree_cli.kernels.batches.trees import tree_log_probs


class TreeBatch(Sentences):
    """The distributions over the trees of many sentences.

    Kernels answer for all sentences whose weights float64 holds, block by block; for any other its own
    `TreeDistribution` does, which also says what is wrong with a sentence that has no tree.

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

    Raises:
        DeptreeError: no such precision; or, from every question, a sentence has invalid scores or no tree: it is named.
    """

    def over(self, space: TreeSpace) -> TreeBatch:
        """The same scores over the trees of another space; itself if it is the same."""
        return self if space == self.space else replace(self, space=space)

    def log_partitions(self, *, raises: bool = True) -> Float:
        """The log-partition functions, (B,) float64: natural logarithms of sums over trees. O(n^3) a sentence.

        Args:
            raises: false: that of a sentence without a tree is -inf, that of one whose scores are none NaN.
        """
        return self.log_partition_parts(raises).total

    def log_partition_parts(self, raises: bool = True) -> LogPartitions:
        """The same, what offsets of scores amount to apart."""
        return self.sums[0] if "sums" in self.__dict__ else self._sum_up(None, raises)

    def log_partitions_and_marginals(self, *, raises: bool = True) -> tuple[Float, Array]:
        """The log-partition functions and their gradient, the marginals of arcs, laid out as the scores, in their type.

        Marginals of forbidden arcs, of column 0 and of padding are 0.

        Args:
            raises: as for `log_partitions`; the marginals are then 0 or NaN.
        """
        marginals = np.zeros(self.log_scores.shape, self.log_scores.dtype)
        return self._sum_up(like(self.scores, marginals), raises).total, marginals

    def covariances(self, values: Array, *, raises: bool = True) -> Array:
        """Cov(1[arc in tree], sum of the tree's values) of every arc, laid out as the scores, in their type.

        It is the derivative of the marginals in the direction of the values, which are laid out as the scores are and
        count on possible arcs only: an infinite one or NaN there gives NaN at all of its sentence. O(n^3) a sentence.

        Args:
            raises: false: of a sentence without a tree all are 0, of one whose scores are none NaN.
        """
        found = np.zeros(self.log_scores.shape, self.log_scores.dtype)
        given, out = like(self.scores, values), like(self.scores, found)

        def question(kernels: Any, packed: Packed, log_z: Float, rows: Rows) -> None:
            kernels.covariances(packed, log_z, chosen(given, rows), chosen(out, rows))

        def alone(b: int, distribution: TreeDistribution) -> None:
            direction = np.where(distribution.support, self.own(given, b), 0.0).astype(np.float64)
            self.own(out, b)[:] = distribution.factorisation.arc_covariance(direction)

        self.ask(question, alone, raises=raises, out=out)
        return found

    def sample(self, size: int, streams: SentenceStreams) -> tuple[RaggedTrees, LogPartitions]:
        """Independent trees of each sentence, as the sampler `auto` draws them, and the log-partition functions."""
        trees = RaggedTrees.empty(self.lengths, size)
        few = np.array([is_few(n, size) for n in self.lengths.tolist()], dtype=np.bool_)

        def question(kernels: Any, packed: Packed, log_z: Float, rows: Rows) -> None:
            kernels.sample(packed, log_z, streams.states[rows], size, trees.heads, trees.starts[rows])

        def alone(b: int, distribution: TreeDistribution) -> None:
            trees.of(b)[:] = distribution.sample(size, streams.of(b))

        return trees, self.ask(question, alone, rows=None if few.all() else np.flatnonzero(few))

    def argmax(self) -> RaggedTrees:
        """The most probable tree of each sentence."""
        own = [self.own(self.scores, b).ravel() for b in range(len(self.lengths))]
        flat = self.log_scores if self.log_scores.ndim == 1 else np.concatenate([np.empty(0), *own])
        return self._best(flat, TreeDistribution.argmax)

    def mbr(self) -> RaggedTrees:
        """The tree with the highest expected attachment score of each sentence."""
        return self._best(np.where(self._shifted > -np.inf, self.marginals, -np.inf), TreeDistribution.mbr)

    def _best(self, scores: Float, alone: Callable[[TreeDistribution], Heads]) -> RaggedTrees:
        """The tree of the largest sum of scores of each sentence, (n+1, n+1) one after another."""
        trees, in_range = RaggedTrees.empty(self.lengths, 1), np.zeros(len(self.lengths), dtype=np.bool_)
        if kernels := kernels_for(self.space):
            by_row = trees.heads, trees.starts, in_range
            given = laid_out(scores, self.lengths), self.lengths
            kernels.best_trees(*given, -MASK, self.space.single_root, *by_row)
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
        """See `sums`; read-only."""
        return self.sums[1]

    @cached_property
    def entropies(self) -> Float:
        """Shannon's entropy of each sentence, (B,), in nats."""
        log_z, marginals = self.sums
        values = np.where(marginals > 0, self._shifted, 0.0)
        ends = ((self.lengths + 1) ** 2).cumsum().tolist()
        means = [np.vdot(marginals[at:end], values[at:end]) for at, end in pairwise([0, *ends])]
        found: Float = np.maximum(log_z.shifted - means, 0.0)
        for b in np.flatnonzero(~log_z.in_range).tolist():
            found[b] = self.alone(b).entropy()
        return found

    def tree_log_probs(self, trees: RaggedTrees, log_z: LogPartitions) -> Float:
        """The log-probabilities of K trees of each sentence, (B, K)."""
        found = np.empty((len(self.lengths), trees.size))
        log_weights = laid_out(self._shifted, self.lengths)
        tree_log_probs(log_weights, self.lengths, log_z.shifted, trees.heads, trees.starts, found)
        for b in np.flatnonzero(~log_z.in_range).tolist():
            found[b] = self.alone(b).tree_log_probs(trees.of(b))
        return np.minimum(found, 0.0, out=found)

    def log_probs(self, rows: Int, heads: Integers, log_z: LogPartitions) -> Float:
        """The log-probabilities of trees (k, n), each of the sentence of rows (k,): (k,), -inf of no tree."""
        found, sound = np.full(len(rows), -np.inf), self.space.contains(heads)
        which, trees = rows[sound], heads[sound].astype(np.int32)
        if not len(which):
            return found
        of_sound, given = np.empty((len(which), 1)), chosen(laid_out(self._shifted, self.lengths), which)
        starts = np.arange(0, trees.size, trees.shape[1])
        tree_log_probs(given, self.lengths[which], log_z.shifted[which], trees.ravel(), starts, of_sound)
        for at in np.flatnonzero(~log_z.in_range[which]).tolist():
            of_sound[at] = self.alone(int(which[at])).tree_log_probs(trees[at][None])
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
        rows = starts_of((self.lengths + 1) ** 2).repeat(self.lengths) + trees.heads * (self.lengths + 1).repeat(
            self.lengths
        )
        return self.marginals[rows + words]

    def matrices(self, values: Float) -> list[Float]:
        """Numbers of arcs that stand one after another, as a matrix (n+1, n+1) of each sentence."""
        laid = laid_out(values, self.lengths)
        return [of_sentence(laid, b) for b in range(len(self.lengths))]

    @cached_property
    def _shifted(self) -> Float:
        """The shifted log-scores of each sentence, (n+1, n+1), one after another."""
        found: Float = shifted(self.scores, self.lengths, self.space)[0].weights
        return found

    def _sum_up(self, out: Matrices | None, raises: bool = True) -> LogPartitions:
        """Log Z; fills zeros with marginals, unless there are none."""

        def question(kernels: Any, packed: Packed, log_z: Float, rows: Rows) -> None:
            kernels.sums(packed, log_z, None if out is None else chosen(out, rows))

        def alone(b: int, distribution: TreeDistribution) -> None:
            if out is not None:
                self.own(out, b)[:] = distribution.marginals()

        return self.ask(question, alone, self.precision, raises=raises, out=out)
