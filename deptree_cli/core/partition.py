"""Partition functions with and without the single-root constraint, with and without crossing arcs, and their shares."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import entropy
from deptree_cli.core.spaces import TreeSpace, space, with_roots

if TYPE_CHECKING:
    from deptree_cli.core.batches import TreeBatch
    from deptree_cli.core.blocks import LogPartitions


LOG_LARGEST = math.log(sys.float_info.max)


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
    single, multi = with_roots(distribution.space, True), with_roots(distribution.space, False)
    found = _sums(distribution, single, multi, *_spaces_of_masses(distribution.space))
    own = found[single]
    whole = found[multi] or LogSum.of(distribution.over(multi))  # raises
    return Partition(
        None if own is None else own.total,
        whole.total,
        _log_share(own, whole),
        _log_mass(distribution.space, found),
    )


def partitions(batch: TreeBatch) -> list[Partition]:
    """The partition functions of many sentences at once, of plain scores: each has trees in every space."""
    single, multi = with_roots(batch.space, True), with_roots(batch.space, False)
    found = _summed(batch, single, multi, *_spaces_of_masses(batch.space))
    columns = (
        found[single].total,
        found[multi].total,
        _log_shares(found[single], found[multi]),
        _log_masses(batch, found),
    )
    return list(map(Partition, *(column.tolist() for column in columns)))


def log_projective_masses(batch: TreeBatch) -> Float:
    """See `Partition`, of many sentences at once, of plain scores."""
    return _log_masses(batch, _summed(batch, *_spaces_of_masses(batch.space)))


def _summed(batch: TreeBatch, *spaces: TreeSpace) -> dict[TreeSpace, LogPartitions]:
    return {trees: batch.over(trees).log_partition_parts() for trees in {*spaces}}


def _spaces_of_masses(own: TreeSpace) -> tuple[TreeSpace, TreeSpace]:
    return space(own.single_root, projective=True), space(own.single_root)


def _log_masses(batch: TreeBatch, found: dict[TreeSpace, LogPartitions]) -> Float:
    return _log_shares(*(found[trees] for trees in _spaces_of_masses(batch.space)))


def log_projective_mass(distribution: ArcFactored) -> float:
    """See `Partition`; O(n^3)."""
    return _log_mass(distribution.space, _sums(distribution, *_spaces_of_masses(distribution.space)))


class LogSum(NamedTuple):
    """A log-partition function: of shifted weights, and what it loses by the shift."""

    shifted: float
    constant: float

    @classmethod
    def of(cls, distribution: ArcFactored) -> LogSum:
        found = distribution.factorisation
        return cls(found.shifted_log_z, found.shifted.constant)

    @property
    def total(self) -> float:
        return self.shifted + self.constant


def _sums(distribution: ArcFactored, *spaces: TreeSpace) -> dict[TreeSpace, LogSum | None]:
    """The sums over the trees of spaces, each once; None where there is no tree of positive weight.

    That of its own space comes last: it is kept, and a long sentence's takes much memory.
    """
    in_order = sorted({*spaces}, key=lambda trees: trees == distribution.space)
    return {trees: _summed_up(distribution, trees) for trees in in_order}


def _summed_up(distribution: ArcFactored, trees: TreeSpace) -> LogSum | None:
    try:
        return LogSum.of(distribution.over(trees))
    except DeptreeError:
        return None


def _log_mass(own: TreeSpace, found: dict[TreeSpace, LogSum | None]) -> float:
    part, whole = (found[trees] for trees in _spaces_of_masses(own))
    return -math.inf if part is None or whole is None else _log_share(part, whole)


def _log_shares(parts: LogPartitions, wholes: LogPartitions) -> Float:
    return np.minimum(parts.log_ratios(wholes), 0.0)


def _log_share(part: LogSum | None, whole: LogSum) -> float:
    if part is None:
        return -math.inf
    # at most 0 also where rounding would lift it, and exactly 0 where both are one
    return min((part.shifted - whole.shifted) + (part.constant - whole.constant), 0.0)


class Summary:
    """The partition functions of a file, from running sums: memory does not grow with the number of sentences."""

    def __init__(self) -> None:
        self._sentences = self._words = 0
        self._log_z = 0.0
        self._shares = {"single_root_mass": Shares(), "projective_mass": Shares()}

    def add(self, sent_id: str, n: int, found: Partition) -> None:
        self._sentences += 1
        self._words += n
        self._log_z += found.log_z or 0.0
        for name, shares in self._shares.items():
            shares.add(sent_id, getattr(found, name))

    def row(self) -> dict[str, Any]:
        sums = {"sentences": self._sentences, "words": self._words, "log_z_sum": self._log_z}
        return sums | {f"{name}_{what}": value for name, each in self._shares.items() for what, value in each.row()}


class Shares:
    """The shares that some trees have in the sentences of a file."""

    def __init__(self) -> None:
        self._sentences = self._below_half = 0
        self._sum = 0.0
        self._least: tuple[float, str] | None = None

    def add(self, sent_id: str, share: float) -> None:
        self._sentences += 1
        self._sum += share
        self._below_half += share < 0.5
        if self._least is None or share < self._least[0]:
            self._least = share, sent_id

    def row(self) -> list[tuple[str, float | str | None]]:
        least, sent_id = self._least or (None, None)
        mean = self._sum / self._sentences if self._sentences else None
        return [("mean", mean), ("min", least), ("min_sent_id", sent_id), ("below_half", self._below_half)]


class Peakedness(NamedTuple):
    """Facts about one sentence.

    Attributes:
        lowest, highest: finite log-scores.
        forbidden: arcs between two nodes, into a word, that are not allowed.
        normalised: whether the weights of every word's heads sum to 1.
        best_head: the mean over words of the probability of the likeliest head.
        entropy: in nats per word.
        single_root_mass: Z_D / Z_T; 1 where several roots are allowed.
        projective_mass: as of a `Partition`.
    """

    lowest: float
    highest: float
    forbidden: int
    normalised: bool
    best_head: float
    entropy: float
    single_root_mass: float
    projective_mass: float


def peakedness(distribution: ArcFactored) -> Peakedness:
    """Describe a distribution. Factorisations: its own, with crossing arcs or without, and with several roots."""
    single_root_mass, projective_mass = _masses(distribution)
    scores = distribution.log_scores[:, 1:]
    allowed = np.isfinite(scores)
    return Peakedness(
        lowest=float(scores[allowed].min()),
        highest=float(scores[allowed].max()),
        forbidden=int((~allowed).sum()) - distribution.n,
        normalised=bool(_normalised(scores)),
        best_head=float(distribution.marginals()[:, 1:].max(axis=0).mean()),
        entropy=entropy(distribution) / distribution.n,
        single_root_mass=single_root_mass,
        projective_mass=projective_mass,
    )


def peakednesses(batch: TreeBatch) -> list[Peakedness]:
    """Describe many distributions at once, of plain scores: no arc is forbidden."""
    from deptree_cli.core.blocks import alike  # loads kernels: when there is work

    lowest, highest, best_head = np.empty((3, len(batch.lengths)))
    normalised = np.empty(len(batch.lengths), dtype=np.bool_)
    for some in alike(batch.lengths):
        scores, marginals = some.of_arcs(batch.log_scores)[..., 1:], some.of_arcs(batch.marginals)[..., 1:]
        lowest[some.rows] = np.where(np.isfinite(scores), scores, np.inf).min(axis=(1, 2))
        highest[some.rows], normalised[some.rows] = scores.max(axis=(1, 2)), _normalised(scores)
        best_head[some.rows] = marginals.max(axis=1).mean(axis=1)
    columns = lowest, highest, np.zeros(len(lowest), dtype=np.int64), normalised, best_head
    found = (*columns, batch.entropies / batch.lengths)
    return list(map(Peakedness, *(each.tolist() for each in found), *_masses_of_many(batch)))


def _normalised(scores: Float) -> Any:
    """Whether weights of heads sum to 1 for every word, log-scores (..., n+1, n)."""
    return np.isclose(np.logaddexp.reduce(scores, axis=-2), 0.0, atol=1e-3).all(axis=-1)


def _masses_of_many(batch: TreeBatch) -> tuple[list[float], list[float]]:
    if not batch.space.single_root:
        return [1.0] * len(batch.lengths), [math.exp(each) for each in log_projective_masses(batch).tolist()]
    found = partitions(batch)
    return [each.single_root_mass for each in found], [each.projective_mass for each in found]


def _masses(distribution: ArcFactored) -> tuple[float, float]:
    if not distribution.single_root:
        return 1.0, math.exp(log_projective_mass(distribution))
    found = partition(distribution)
    return found.single_root_mass, found.projective_mass
