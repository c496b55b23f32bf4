"""The weights of a batch's sentences, packed without padding: what the kernels of batches take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Float, Int
from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.kernels.batches.packing import shift_sentences


@dataclass(frozen=True)
class Batch:
    """Padded log-scores of sentences over one tree space.

    Attributes:
        log_scores: float32 or float64, (B, N, N), ``[head, dependent]``; column 0, the diagonal and what goes beyond a
            sentence's nodes are ignored.
        lengths: (B,), how many words each sentence has, 1 to N - 1.
    """

    log_scores: Array
    lengths: Int
    space: TreeSpace

    def part(self, first: int, stop: int) -> Batch:
        """Return the sentences first..stop-1."""
        return Batch(self.log_scores[first:stop], self.lengths[first:stop], self.space)


@dataclass(frozen=True)
class Packed:
    """Weights of a batch as `kernels/batches/packing.py` lays them out; those of a sentence are at most 1.

    Attributes:
        weights: one sentence after another.
        offsets: (B,), where each begins.
        last: (B,), the word that elimination takes last.
        constants: (B,), what each log Z has lost.
        sound: (B,), whether the sentence's numbers are fit for float64; kernels unset it.
    """

    lengths: Int
    weights: Float
    offsets: Int
    last: Int
    constants: Float
    sound: Bool


def pack(batch: Batch, by_node: bool) -> Packed:
    """Return the weights of a batch: exp of shifted log-scores; column 0 too if they are laid out by node."""
    size = len(batch.lengths)
    sizes = (batch.lengths + 1) * (batch.lengths + by_node)
    ends = np.cumsum(sizes)
    weights, last = np.empty(int(ends[-1])), np.empty(size, dtype=np.int64)
    packed = Packed(batch.lengths, weights, ends - sizes, last, np.empty(size), np.empty(size, dtype=np.bool_))
    single_root = batch.space.single_root
    shift_sentences(
        batch.log_scores,
        batch.lengths,
        packed.offsets,
        MASK,
        single_root,
        by_node,
        weights,
        last,
        packed.constants,
        packed.sound,
    )
    np.exp(weights, out=weights)
    return packed
