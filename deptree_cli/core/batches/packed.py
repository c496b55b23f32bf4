"""The weights of a batch's sentences, packed without padding: what the kernels of batches take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Bool, Float, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean, one_of
from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.kernels.shift import shift_sentences

# What sums are computed in. Elimination never subtracts, so that float32 keeps marginals to about 1e-6.
PRECISIONS: dict[str, type[np.floating]] = {"float64": np.float64, "float32": np.float32}


def require_precision(name: str) -> None:
    """Raise a DeptreeError unless sums are computed in a precision of this name."""
    if name not in PRECISIONS:
        raise DeptreeError(f"unknown precision {name!r}", did_you_mean(name, PRECISIONS, one_of(PRECISIONS)))


@dataclass(frozen=True)
class Batch:
    """Padded log-scores of sentences over one tree space.

    Attributes:
        log_scores: float32 or float64, (B, N, N), ``[head, dependent]``; column 0, the diagonal and what goes beyond a
            sentence's nodes are ignored.
        lengths: (B,), how many words each sentence has, 1 to N - 1.
        precision: "float64" or "float32", in which non-projective trees are summed: marginals are then within 1e-13 or
            3e-6 of the truth. Sentences that leave float32's range are computed in float64, and so are covariances.

    Raises:
        DeptreeError: no such precision.
    """

    log_scores: Array
    lengths: Int
    space: TreeSpace
    precision: str = "float64"

    def __post_init__(self) -> None:
        require_precision(self.precision)


class Packed(NamedTuple):
    """Weights of a batch as `kernels/shift.py` lays them out; those of a sentence are at most 1.

    Attributes:
        weights: float64 or float32, one sentence after another.
        offsets: (B,), where each begins.
        last: (B,), the word that elimination takes last.
        constants: (B,), what each log Z has lost.
        sound: (B,), whether the sentence's numbers are fit for that type; kernels unset it.
    """

    lengths: Int
    weights: Array
    offsets: Int
    last: Int
    constants: Float
    sound: Bool


def pack(batch: Batch, first: int, stop: int, dtype: type[np.floating]) -> Packed:
    """Return the weights of the sentences first..stop-1: exp of shifted log-scores."""
    lengths = batch.lengths[first:stop]
    ends = ((lengths + 1) ** 2).cumsum()
    size, offsets = len(lengths), np.empty_like(ends)
    offsets[0], offsets[1:] = 0, ends[:-1]
    weights, last, constants = np.empty(ends[-1], dtype), np.empty(size, np.int64), np.empty(size)
    packed = Packed(lengths, weights, offsets, last, constants, np.empty(size, np.bool_))
    layout = batch.log_scores[first:stop], lengths, offsets, MASK, batch.space.single_root
    shift_sentences(*layout, weights, last, constants, packed.sound)
    np.exp(weights, out=weights)
    return packed
