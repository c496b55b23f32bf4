"""Log-scores of many sentences of several lengths, laid out for kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import MASK, Array, Bool, Float, Heads, Int
from deptree_cli.core.errors import DeptreeError, did_you_mean, one_of
from deptree_cli.core.factorisation import LogPartitions
from deptree_cli.kernels.packed import Matrices, find_plain, shift_sentences

# What sums are computed in. Elimination never subtracts, so that float32 keeps marginals within 5e-6.
PRECISIONS = ("float64", "float32")

# Scores between this and its negative are plain: parsers write larger ones as masks only.
PLAIN = 2500.0


def require_precision(name: str) -> None:
    if name not in PRECISIONS:
        raise DeptreeError(f"unknown precision {name!r}", did_you_mean(name, PRECISIONS, one_of(PRECISIONS)))


def starts_of(sizes: Int) -> Int:
    """Where each of some stretches begins, (B,), if they stand one after another."""
    return sizes.cumsum() - sizes


def only_plain(log_scores: Float, lengths: Int) -> tuple[Bool, Float]:
    """Which sentences have plain scores only, (B,), and these: of (n+1, n+1) each, one after another.

    Plain are numbers that forbid no arc and are not masks. Sentences of such have a tree, and no digit of what is found
    of them depends on whether it is found in a batch.
    """
    plain = np.empty(len(lengths), dtype=np.bool_)
    find_plain(log_scores, lengths, starts_of((lengths + 1) ** 2), PLAIN, plain)
    return plain, log_scores if plain.all() else log_scores[plain.repeat((lengths + 1) ** 2)]


def laid_out(values: Array, lengths: Int) -> Matrices:
    """The matrices of sentences in an array: padded, (B, N, N), or one after another, (n+1, n+1) each."""
    if values.ndim == 1:
        return Matrices(values, starts_of((lengths + 1) ** 2), lengths + 1)
    return Matrices(values.reshape(-1), *_padded(len(lengths), values.shape[-1]))


@lru_cache(64)  # the next step of training is laid out alike
def _padded(count: int, size: int) -> tuple[Int, Int]:
    return np.arange(0, count * size**2, size**2), np.full(count, size)


def of_sentence(matrices: Matrices, b: int) -> Array:
    start, size = int(matrices.starts[b]), int(matrices.sizes[b])
    found: Array = matrices.values[start : start + size**2].reshape(size, size)
    return found


def pack_shifted(
    scores: tuple[Any, ...],
    lengths: Int,
    single_root: bool,
    size: int,
    found: LogPartitions,
    dtype: type[np.floating] = np.float64,
    short: int = 0,
) -> tuple[Any, ...]:
    """The shifted log-scores of sentences, a plain tuple of `Packed`; fills in what log Z of each loses by the shift.

    size: as many numbers as there are, or more. Those whose rows have at most `short` bytes go side by side.
    """
    weights, (starts, final_words) = np.empty(size, dtype), np.empty((2, len(lengths)), dtype=np.int64)
    rest = starts, lengths, final_words, single_root, short // weights.itemsize, found.in_range
    end = shift_sentences(scores, MASK, (weights, *rest), found.constants)
    return weights[:end], *rest


@dataclass(frozen=True, eq=False)
class OfOneLength:
    """The rows of a batch (b,) whose sentences have n words: what is known of these fits into one array.

    `arcs` and `words` are where that of each begins in what is of arcs, and of words, one sentence after another.
    """

    rows: Int
    n: int
    arcs: Int
    words: Int

    def of_arcs(self, values: Array) -> Array:
        nodes = self.n + 1
        found: Array = values[self.arcs[:, None] + np.arange(nodes**2)].reshape(-1, nodes, nodes)
        return found

    def of_words(self, values: Array) -> Array:
        found: Array = values[self.words[:, None] + np.arange(self.n)]
        return found


def alike(lengths: Int) -> list[OfOneLength]:
    arcs, words = starts_of((lengths + 1) ** 2), starts_of(lengths)
    every = [(np.flatnonzero(lengths == n), n) for n in np.unique(lengths).tolist()]
    return [OfOneLength(rows, n, arcs[rows], words[rows]) for rows, n in every]


@dataclass(frozen=True, eq=False)
class RaggedTrees:
    """K trees of each sentence, the heads of all one after another."""

    heads: Heads
    lengths: Int
    size: int

    @classmethod
    def empty(cls, lengths: Int, size: int) -> RaggedTrees:
        return cls(np.empty(size * int(lengths.sum()), dtype=np.int32), lengths, size)

    @cached_property
    def starts(self) -> Int:
        return starts_of(self.lengths * self.size)

    def of(self, b: int) -> Heads:
        n, start = int(self.lengths[b]), int(self.starts[b])
        return self.heads[start : start + n * self.size].reshape(self.size, n)

    def __iter__(self) -> Iterator[Heads]:
        return map(self.of, range(len(self.lengths)))
