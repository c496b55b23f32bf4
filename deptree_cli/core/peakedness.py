"""What the numbers of a distribution look like: their range, how sure heads are, the mass of trees of some kinds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.expectations import entropy
from deptree_cli.core.partition import log_projective_mass, log_projective_masses, partition, partitions

if TYPE_CHECKING:
    from deptree_cli.core.batches.tree_batch import TreeBatch


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
    from deptree_cli.core.batches.blocks import alike  # loads kernels: when there is work

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
    """The shares of single-root and of projective trees, of many sentences."""
    if not batch.space.single_root:
        return [1.0] * len(batch.lengths), [math.exp(each) for each in log_projective_masses(batch).tolist()]
    found = partitions(batch)
    return [each.single_root_mass for each in found], [each.projective_mass for each in found]


def _masses(distribution: ArcFactored) -> tuple[float, float]:
    """The shares of single-root and of projective trees."""
    if not distribution.single_root:
        return 1.0, math.exp(log_projective_mass(distribution))
    found = partition(distribution)
    return found.single_root_mass, found.projective_mass
