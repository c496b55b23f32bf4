"""Blocks of a batch: the weights of some sentences as kernels take them, and what these find of log Z."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Float, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean, one_of
from deptree_cli.core.scores import MASK
from deptree_cli.kernels.batches.layout import find_plain
from deptree_cli.kernels.batches.packed import Packed, Padded, Ragged, shift_sentences

# What sums are computed in. Elimination never subtracts, so that float32 keeps marginals to about 1e-6.
PRECISIONS: dict[str, type[np.floating]] = {"float64": np.float64, "float32": np.float32}

Matrices = Padded | Ragged

# Which sentences of a batch: a stretch, or their numbers.
Rows = slice | Int

# Scores between this and its negative are plain: parsers write larger ones as masks only.
PLAIN = 2500.0


def require_precision(name: str) -> None:
    """Raise a DeptreeError unless sums are computed in a precision of this name."""
    if name not in PRECISIONS:
        raise DeptreeError(f"unknown precision {name!r}", did_you_mean(name, PRECISIONS, one_of(PRECISIONS)))


def starts_of(sizes: Int) -> Int:
    """Where each of some stretches begins, (B,), if they stand one after another."""
    return sizes.cumsum() - sizes


def only_plain(log_scores: Float, lengths: Int) -> tuple[Bool, Float]:
    """Which sentences have plain scores only, (B,), and these: of (n+1, n+1) each, one after another.

    Plain are numbers that forbid no arc and are no masks. Sentences of such have a tree, and no digit of what is found
    of them depends on whether it is found in a batch.
    """
    plain = np.empty(len(lengths), dtype=np.bool_)
    find_plain(log_scores, lengths, starts_of((lengths + 1) ** 2), PLAIN, plain)
    return plain, log_scores if plain.all() else log_scores[plain.repeat((lengths + 1) ** 2)]


def laid_out(values: Array, lengths: Int) -> Matrices:
    """The matrices of sentences in an array: padded, (B, N, N), or one after another, (n+1, n+1) each."""
    if values.ndim == 1:
        return Ragged(values, starts_of((lengths + 1) ** 2))
    return Padded(values, np.arange(len(lengths)))


def with_values(matrices: Matrices, values: Array) -> Matrices:
    """Other matrices that are laid out alike."""
    return type(matrices)(values, matrices.starts)


def chosen(matrices: Matrices, rows: Rows) -> Matrices:
    """The matrices of some of the sentences."""
    return type(matrices)(matrices.values, matrices.starts[rows])


class LogPartitions(NamedTuple):
    """The log-partition functions of some sentences.

    Attributes:
        shifted: (B,), those of the shifted scores (`core/spaces/shifted.py`).
        constants: (B,), what these have lost.
        in_range: (B,), whether the numbers of kernels for batches sufficed.
    """

    shifted: Float
    constants: Float
    in_range: Bool

    @property
    def total(self) -> Float:
        """Those of the scores, (B,)."""
        return self.shifted + self.constants

    def log_ratios(self, other: LogPartitions) -> Float:
        """log Z less that of the same scores over other trees, (B,): offsets cost no digits."""
        return (self.shifted - other.shifted) + (self.constants - other.constants)

    @classmethod
    def unknown(cls, size: int) -> LogPartitions:
        """Those of sentences that nobody has worked on."""
        return cls(np.empty(size), np.empty(size), np.zeros(size, dtype=np.bool_))

    def updated(self, rows: Int, found: LogPartitions) -> LogPartitions:
        """The same with those of some sentences filled in."""
        for own, given in zip(self, found, strict=True):
            own[rows] = given
        return self


def joined(parts: Sequence[LogPartitions]) -> LogPartitions:
    """Those of some sentences and of others behind them."""
    return parts[0] if len(parts) == 1 else LogPartitions(*map(np.concatenate, zip(*parts, strict=True)))


class Block(NamedTuple):
    """Sentences of a batch that kernels work on one after another, in as much memory as a cache holds.

    Attributes:
        rows: which of the batch they are.
        packed: their weights, or shifted log-scores.
        log_z: (b,), log Z of the shifted scores; kernels fill it.
        constants: (b,), what the shift has taken off log Z.
    """

    rows: Rows
    packed: Packed
    log_z: Float
    constants: Float

    @classmethod
    def of_log_scores(
        cls,
        scores: Matrices,
        lengths: Int,
        rows: Rows,
        single_root: bool,
        dtype: type[np.floating] = np.float64,
        short: int = 0,
    ) -> Block:
        """The shifted log-scores of sentences; those whose rows have at most `short` bytes go side by side."""
        given, own = chosen(scores, rows), lengths[rows]
        sizes, size = (own + 1) ** 2, len(own)
        ends = sizes.cumsum()
        weights, last, in_range = np.empty(ends[-1], dtype), np.empty(size, np.int64), np.empty(size, np.bool_)
        log_z, constants = np.empty((2, size))
        packed = Packed(weights, ends - sizes, own, last, single_root, short // weights.itemsize, in_range)
        shift_sentences(given, MASK, packed, constants)
        return cls(rows, packed, log_z, constants)

    def of(self, matrices: Matrices) -> Matrices:
        """Those of the block's sentences among the matrices of all."""
        return chosen(matrices, self.rows)

    @property
    def found(self) -> LogPartitions:
        """What kernels have found of log Z."""
        return LogPartitions(self.log_z, self.constants, self.packed.in_range)
