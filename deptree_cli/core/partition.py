"""Partition functions with and without the single-root constraint, with and without crossing arcs, and their shares."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.factorisation import LogPartitions
from deptree_cli.core.spaces import TreeSpace, space, with_roots

if TYPE_CHECKING:
    from deptree_cli.core.arc_factored import ArcFactored
    from deptree_cli.core.tree_batch import TreeBatch


LOG_LARGEST = math.log(sys.float_info.max)

# One sentence, or many at once; and sums over the trees of spaces.
Sentences = Union["ArcFactored", "TreeBatch"]
Sums = dict[TreeSpace, LogPartitions]


class Partition(NamedTuple):
    """The partition functions of one sentence.

    Attributes:
        log_z: log Z over single-root trees, None where there is none; over projective ones where the distribution is.
        log_z_multi_root: log Z over all spanning trees, likewise.
        log_single_root_mass: their difference, without what offsets of scores would cost it; at most 0.
        log_projective_mass: log Z over projective trees less that over all trees, both with the distribution's own root
            constraint; at most 0, minus infinity where there is no projective tree.
    """

    log_z: float | None
    log_z_multi_root: float
    log_single_root_mass: float
    log_projective_mass: float

    @property
    def single_root_mass(self) -> float:
        return math.exp(self.log_single_root_mass)

    @property
    def projective_mass(self) -> float:
        """The share of projective trees in the distribution over all trees, crossing arcs allowed. Exact."""
        return math.exp(self.log_projective_mass)

    @property
    def log_trials(self) -> float:
        """The logarithm of Z_T / Z_D: how many spanning trees Wilson-Reject draws for one single-root tree."""
        return -self.log_single_root_mass

    @property
    def samples_per_single_root_tree(self) -> float | None:
        """Z_T / Z_D, at least 1; None beyond the range of float64."""
        return math.exp(self.log_trials) if self.log_trials < LOG_LARGEST else None


def partition(distribution: ArcFactored) -> Partition:
    """Compute the partition functions of a sentence: of its own tree space and of two others. O(n^3).

    Raises:
        DeptreeError: its own has no other beside it that differs in the number of roots.
    """
    return partitions(distribution)[0]


def partitions(sentences: Sentences) -> list[Partition]:
    """The partition functions of many sentences at once, of plain scores: each has trees in every space."""
    own = sentences.space
    single, multi = with_roots(own, True), with_roots(own, False)
    found = _sums(sentences, single, multi)
    log_z = [None if each == -math.inf else each for each in found[single].total.tolist()]
    columns = found[multi].total, _log_shares(found[single], found[multi]), _log_masses(own, found)
    return list(map(Partition, log_z, *(column.tolist() for column in columns)))


def log_projective_masses(sentences: Sentences) -> Float:
    """See `Partition`, of one sentence or many, (B,); O(n^3)."""
    return _log_masses(sentences.space, _sums(sentences))


def _sums(sentences: Sentences, *others: TreeSpace) -> Sums:
    """The sums that masses are made of, and over other spaces, each once.

    That of its own space comes last: it is kept, and a long sentence's takes much memory.
    """
    own = sentences.space
    spaces = dict.fromkeys((*others, space(own.single_root, projective=True), space(own.single_root)))
    return {trees: _sum_over(trees, sentences) for trees in sorted(spaces, key=lambda trees: trees == own)}


def _sum_over(trees: TreeSpace, sentences: Sentences) -> LogPartitions:
    """The sums over the trees of a space: -inf where one sentence has none, though it has trees in its own."""
    if hasattr(sentences, "log_partition_parts"):  # of many
        return sentences.over(trees).log_partition_parts()
    try:
        sums = sentences.over(trees).factorisation
    except DeptreeError:
        if trees.single_root <= sentences.space.single_root and trees.projective <= sentences.space.projective:
            raise
        return LogPartitions(np.array([-np.inf]), np.zeros(1), np.array([True]))
    return LogPartitions(np.array([sums.shifted_log_z]), np.array([sums.shifted.constant]), np.array([True]))


def _log_masses(own: TreeSpace, found: Sums) -> Float:
    return _log_shares(found[space(own.single_root, projective=True)], found[space(own.single_root)])


def _log_shares(parts: LogPartitions, wholes: LogPartitions) -> Float:
    return np.minimum(parts.log_ratios(wholes), 0.0)  # also where rounding would lift them


MASSES = "single_root_mass", "projective_mass"


class Summary:
    """The partition functions of a file, from running sums: memory does not grow with the number of sentences."""

    def __init__(self) -> None:
        self._sentences = self._words = 0
        self._log_z = 0.0
        self._sums, self._below_half = dict.fromkeys(MASSES, 0.0), dict.fromkeys(MASSES, 0)
        self._least: dict[str, tuple[float | None, str | None]] = dict.fromkeys(MASSES, (None, None))

    def add(self, sent_id: str, n: int, found: Partition) -> None:
        self._sentences += 1
        self._words += n
        self._log_z += found.log_z or 0.0
        for name in MASSES:
            mass, least = getattr(found, name), self._least[name][0]
            self._sums[name] += mass
            self._below_half[name] += mass < 0.5
            if least is None or mass < least:
                self._least[name] = mass, sent_id

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"sentences": self._sentences, "words": self._words, "log_z_sum": self._log_z}
        for name in MASSES:
            row[f"{name}_mean"] = self._sums[name] / self._sentences if self._sentences else None
            row[f"{name}_min"], row[f"{name}_min_sent_id"] = self._least[name]
            row[f"{name}_below_half"] = self._below_half[name]
        return row
