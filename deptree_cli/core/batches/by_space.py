"""The kernels behind a batch's sums: elimination for non-projective trees, Eisner's chart for projective ones.

Spaces without kernels for batches are summed sentence by sentence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from deptree_cli.core.batches.packed import PRECISIONS, Packed
from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.spaces import TreeSpace, by_space
from deptree_cli.core.spaces.eisner import is_in_range
from deptree_cli.core.spaces.nonprojective import NonProjective
from deptree_cli.core.spaces.projective import Projective
from deptree_cli.kernels.batches import eisner, elimination


class BatchSums(ABC):
    """Sums over the trees of packed sentences; each unsets `Packed.sound` where the weights' type may not suffice.

    Attributes:
        precisions: in which log Z and marginals can be computed, float64 among them.
    """

    precisions: tuple[str, ...] = ("float64",)

    def __init__(self, single_root: bool) -> None:
        self.single_root = single_root

    @abstractmethod
    def log_partitions(self, p: Packed, log_z: Float) -> None:
        """Fill log_z (B,) with that of the packed weights."""

    @abstractmethod
    def marginals(self, p: Packed, log_z: Float, out: Array) -> None:
        """Fill log_z as `log_partitions` does, and out (B, N, N), zeros at first, with marginals."""

    @abstractmethod
    def covariances(self, p: Packed, values: Array, out: Array) -> None:
        """Fill out (B, N, N), zeros at first, with the derivative of the marginals in the direction of the values."""


class ByElimination(BatchSums):
    """See `BatchSums`; n^3 multiply-adds a sentence."""

    precisions = tuple(PRECISIONS)

    def log_partitions(self, p: Packed, log_z: Float) -> None:
        elimination.log_partitions(p.weights, p.lengths, p.offsets, p.last, self.single_root, log_z, p.sound)

    def marginals(self, p: Packed, log_z: Float, out: Array) -> None:
        elimination.sums(p.weights, p.lengths, p.offsets, p.last, self.single_root, log_z, out, p.sound)

    def covariances(self, p: Packed, values: Array, out: Array) -> None:
        elimination.covariances(p.weights, p.lengths, p.offsets, p.last, values, self.single_root, out, p.sound)


class ByChart(BatchSums):
    """See `BatchSums`."""

    def log_partitions(self, p: Packed, log_z: Float) -> None:
        eisner.log_partitions(p.weights, p.lengths, p.offsets, self.single_root, log_z)
        _check_range(p, log_z)

    def marginals(self, p: Packed, log_z: Float, out: Array) -> None:
        eisner.sums(p.weights, p.lengths, p.offsets, self.single_root, log_z, out, p.sound)
        _check_range(p, log_z)

    def covariances(self, p: Packed, values: Array, out: Array) -> None:
        log_z = np.empty(len(p.lengths))
        eisner.covariances(p.weights, p.lengths, p.offsets, values, self.single_root, log_z, out, p.sound)
        _check_range(p, log_z)


def _check_range(p: Packed, log_z: Float) -> None:
    p.sound[~is_in_range(log_z, p.lengths)] = False


KERNELS = {NonProjective: ByElimination, Projective: ByChart}


def kernels_for(space: TreeSpace) -> BatchSums | None:
    """Return the kernels for batches of a tree space, if it has some."""
    kind = by_space(KERNELS, space)
    return kind(space.single_root) if kind else None
