"""The distributions of many sentences at once: what `TreeDistribution` answers for each, without an object for each.

Sentences of plain scores only: every arc possible, and no score so large that float64 lacks the digits of a difference.
What a sentence's numbers leave float64 for, its own `TreeDistribution` answers; `sound` says so. Where it is set,
answers are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Int
from deptree_cli.core.numbers import REAL, SAFE_LOG
from deptree_cli.core.samplers.auto import few_steps
from deptree_cli.core.spaces.eisner import is_in_range
from deptree_cli.kernels.batches import eisner, layout, ragged

# Scores between this and its negative are plain: sums of a few have all digits that count.
PLAIN = 2500.0


def starts_of(sizes: Int) -> Int:
    """Where each of some stretches begins, (B,), if they stand one after another."""
    return np.cumsum(sizes) - sizes


@dataclass(frozen=True, eq=False)
class RaggedTrees:
    """K trees of each sentence.

    Attributes:
        heads: int32, those of all trees one after another.
        lengths: (B,), of the sentences.
        size: K.
    """

    heads: Heads
    lengths: Int
    size: int

    def __iter__(self) -> Iterator[Heads]:
        """The trees of each sentence, (K, n)."""
        ends = np.cumsum(self.lengths * self.size).tolist()
        for n, end in zip(self.lengths.tolist(), ends, strict=True):
            yield self.heads[end - n * self.size : end].reshape(self.size, n)


@dataclass(frozen=True, eq=False)
class TreeBatch:
    """Distributions over the non-projective trees of sentences.

    Attributes:
        log_scores: float64; (n+1, n+1) of each sentence, ``[head, dependent]``, one after another; ``-inf`` in column 0
            and on the diagonal.
        lengths: (B,), how many words each has.
        single_root: whether trees have one ROOT arc, or one or more.
        sound: (B,), unset once a sentence's own distribution has to answer.
    """

    log_scores: Float
    lengths: Int
    single_root: bool
    sound: Bool

    @classmethod
    def of(cls, log_scores: Float, lengths: Int, single_root: bool) -> TreeBatch:
        """The distributions by such scores, which become 0 where they are not plain: these are not sound."""
        found = cls(log_scores, lengths, single_root, np.empty(len(lengths), dtype=np.bool_))
        layout.keep_plain(log_scores, lengths, found.offsets, PLAIN, found.sound)
        return found

    def over(self, single_root: bool) -> TreeBatch:
        """The same with one ROOT arc, or one or more; what is not sound in one is so in neither."""
        return self if single_root == self.single_root else self._other

    @cached_property
    def _other(self) -> TreeBatch:
        return TreeBatch(self.log_scores, self.lengths, not self.single_root, self.sound)

    @cached_property
    def offsets(self) -> Int:
        """Where each sentence's matrix begins."""
        return starts_of((self.lengths + 1) ** 2)

    @cached_property
    def _places(self) -> Int:
        return starts_of(self.lengths + 1)

    @cached_property
    def _words(self) -> Int:
        return starts_of(self.lengths)

    @cached_property
    def _shifted(self) -> tuple[Float, Int, Float]:
        """Scores as `shift` makes them, the word to eliminate last, (B,), and the constants, (B,)."""
        last, constants = np.empty(len(self.lengths), dtype=np.int64), np.empty(len(self.lengths))
        to_be_filled = np.empty_like(self.log_scores), last, constants
        ragged.shift(self.log_scores, self.lengths, self.offsets, np.inf, self.single_root, *to_be_filled)
        return to_be_filled

    @cached_property
    def _weights(self) -> Float:
        return REAL.exp(self._shifted[0])

    @cached_property
    def _factors(self) -> tuple[Float, Float, Float]:
        """Factors, pivots and log Z of the shifted scores, (B,)."""
        factors, pivots = np.empty_like(self.log_scores), np.empty(int((self.lengths + 1).sum()))
        log_z, depth = np.empty((2, len(self.lengths)))
        by_node = self.lengths, self.offsets, self._places, self._shifted[1], self.single_root
        ragged.factorise(self._weights, *by_node, factors, pivots, log_z, depth)
        self.sound[depth < SAFE_LOG] = False
        return factors, pivots, log_z

    @property
    def _swept(self) -> tuple[object, ...]:
        """What kernels take that go on from factors."""
        factors, pivots, _ = self._factors
        return self._shifted[1], self.single_root, factors, pivots

    @cached_property
    def log_partitions(self) -> Float:
        """log Z of each sentence's shifted scores, and what it lost by the shift, (B, 2)."""
        return np.stack((self._factors[2], self._shifted[2]), axis=1)

    @cached_property
    def projective_log_partitions(self) -> Float:
        """log Z over projective trees, likewise."""
        log_z = np.empty(len(self.lengths))
        eisner.log_partitions(self._weights, self.lengths, self.offsets, self.single_root, log_z)
        self.sound[~is_in_range(log_z, self.lengths)] = False
        return np.stack((log_z, self._shifted[2]), axis=1)

    @cached_property
    def marginals(self) -> Float:
        """P(head -> dependent), laid out as the scores are."""
        found = np.empty_like(self.log_scores)
        ragged.marginals(self._weights, self.lengths, self.offsets, self._places, *self._swept, found, self.sound)
        return found

    @cached_property
    def entropies(self) -> list[float]:
        """Shannon's entropy of each sentence, in nats."""
        values = np.where(self.marginals > 0, self._shifted[0], 0.0)
        stretches = zip(self.offsets.tolist(), (self.offsets + (self.lengths + 1) ** 2).tolist(), strict=True)
        expected = np.array([np.vdot(self.marginals[start:end], values[start:end]) for start, end in stretches])
        entropies: list[float] = np.where(self.lengths == 1, 0.0, np.maximum(self._factors[2] - expected, 0.0)).tolist()
        return entropies

    def argmax(self) -> RaggedTrees:
        """The most probable tree of each sentence."""
        heads = np.empty(int(self.lengths.sum()), dtype=np.int32)
        ragged.best_trees(self.log_scores, self.lengths, self.offsets, self._words, self.single_root, heads)
        return RaggedTrees(heads, self.lengths, 1)

    def mbr(self) -> RaggedTrees:
        """The tree of the largest expected attachment score of each sentence."""
        heads, usable = np.empty(int(self.lengths.sum()), dtype=np.int32), np.isfinite(self.log_scores)
        expected = np.where(usable, self.marginals, -np.inf)
        ragged.best_trees(expected, self.lengths, self.offsets, self._words, self.single_root, heads)
        return RaggedTrees(heads, self.lengths, 1)

    def matrices(self, values: Float) -> list[Float]:
        """What is laid out as the scores are, as a matrix of each sentence."""
        sizes = (self.lengths + 1).tolist()
        return [values[at : at + n * n].reshape(n, n) for at, n in zip(self.offsets.tolist(), sizes, strict=True)]

    def probs_of(self, trees: RaggedTrees) -> Float:
        """The probability of each word's head, laid out as the heads are, of one tree of each sentence."""
        nodes = self.lengths + 1
        words = np.arange(len(trees.heads)) - self._words.repeat(self.lengths) + 1
        arcs = self.offsets.repeat(self.lengths) + trees.heads * nodes.repeat(self.lengths) + words
        return self.marginals[arcs]

    def sample(self, size: int, states: np.ndarray) -> RaggedTrees:
        """Few independent trees of each sentence, as the sampler `auto` draws them.

        Args:
            states: (B, 4) uint64, what `kernel_state` gives of each sentence's stream.
        """
        heads = np.zeros(size * int(self.lengths.sum()), dtype=np.int32)
        by_node = self.lengths, self.offsets, self._places, self._words
        steps = np.array([few_steps(n, self.single_root) for n in self.lengths.tolist()]).T
        ragged.walk(self._weights, *by_node, *self._swept, states, *steps.copy(), heads, self.sound)
        return RaggedTrees(heads, self.lengths, size)

    def tree_log_probs(self, trees: RaggedTrees) -> Float:
        """The log-probabilities of trees, (B, K)."""
        found, by_node = np.empty((len(self.lengths), trees.size)), (self.lengths, self.offsets, self._words)
        ragged.tree_log_probs(self._shifted[0], *by_node, self._factors[2], trees.heads, found)
        return np.minimum(found, 0.0, out=found)
