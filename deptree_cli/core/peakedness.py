"""How peaked the distribution of a sentence is, and which share of its trees has one root or no crossing arcs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.expectations import entropy
from deptree_cli.core.partition import Sentences, log_projective_masses, partitions

if TYPE_CHECKING:
    from deptree_cli.core.tree_batch import TreeBatch


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
    facts = _facts(distribution.log_scores[None, :, 1:], distribution.marginals()[None, :, 1:])
    masses = _masses(distribution)[0]
    return Peakedness._make([*(each.item() for each in facts), entropy(distribution) / distribution.n, *masses])


def peakednesses(batch: TreeBatch) -> list[Peakedness]:
    """Describe many distributions at once, of plain scores: no arc is forbidden."""
    from deptree_cli.core.blocks import alike  # loads kernels: when there is work

    groups, scores, marginals = alike(batch.lengths), batch.log_scores, batch.marginals
    found = [_facts(some.of_arcs(scores)[..., 1:], some.of_arcs(marginals)[..., 1:]) for some in groups]
    back = np.argsort(np.concatenate([some.rows for some in groups]))
    columns = *(np.concatenate(each)[back] for each in zip(*found, strict=True)), batch.entropies / batch.lengths
    every = zip(*(each.tolist() for each in columns), _masses(batch), strict=True)
    return [Peakedness._make([*facts, *each]) for *facts, each in every]


def _facts(scores: Float, marginals: Float) -> tuple[Any, ...]:
    """The first facts of a `Peakedness` about sentences of one length, (b,) each; scores, marginals: (b, n+1, n)."""
    every, sums = scores.reshape(len(scores), -1), np.logaddexp.reduce(scores, axis=1)
    allowed = np.isfinite(every)
    return (
        np.where(allowed, every, np.inf).min(axis=1),
        every.max(axis=1),
        (~allowed).sum(axis=1) - scores.shape[2],
        np.all(np.isclose(sums, 0.0, atol=1e-3), axis=1),
        marginals.max(axis=1).mean(axis=1),
    )


def _masses(sentences: Sentences) -> list[tuple[float, float]]:
    if sentences.space.single_root:
        return [(each.single_root_mass, each.projective_mass) for each in partitions(sentences)]
    return [(1.0, math.exp(each)) for each in log_projective_masses(sentences).tolist()]
