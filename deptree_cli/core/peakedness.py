"""What the numbers of a distribution look like: their range, how sure heads are, the mass of trees of some kinds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.expectations import entropy
from deptree_cli.core.partition import log_projective_mass, partition


@dataclass(frozen=True)
class Peakedness:
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
        normalised=bool(np.allclose(np.logaddexp.reduce(scores, axis=0), 0.0, atol=1e-3)),
        best_head=float(distribution.marginals()[:, 1:].max(axis=0).mean()),
        entropy=entropy(distribution) / distribution.n,
        single_root_mass=single_root_mass,
        projective_mass=projective_mass,
    )


def _masses(distribution: ArcFactored) -> tuple[float, float]:
    """The shares of single-root and of projective trees."""
    if not distribution.single_root:
        return 1.0, math.exp(log_projective_mass(distribution))
    found = partition(distribution)
    return found.single_root_mass, found.projective_mass
