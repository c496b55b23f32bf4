"""Masks of the chart over bispans: by links that are pinned, by states that are kept, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deptree_cli.bitext.kernels.chart import Weights
from deptree_cli.bitext.kernels.masks import NONE, SpanMask, keep_around_links, keep_states
from deptree_cli.core.dtypes import Bool, Float, Int
from deptree_cli.core.numbers import Kind
from deptree_cli.kernels.numbers.operations import length


class Mask(Protocol):
    """What a mask does to a chart."""

    can_be_turned: bool

    @property
    def turned(self) -> Mask:
        """The same with source and target exchanged, for a chart that is turned, where that can be."""

    def keep(self, kept: SpanMask) -> None:
        """Fill the ranges of bispans that are kept."""

    def weigh(self, weights: Weights, kind: Kind) -> Weights:
        """Return the weights under the mask."""


@dataclass(frozen=True, eq=False)
class PinnedLinks:
    """The alignments that have some links and do not have some others.

    Attributes:
        target_of: (p,), the target word that a source word is pinned to, -1 where none is.
        source_of: (q,), the same from the other side.
        allowed: (p, q), 0 for links that are forbidden or have a word that is pinned to another one, else 1.
    """

    target_of: Int
    source_of: Int
    allowed: Float
    can_be_turned = True

    @property
    def turned(self) -> PinnedLinks:
        """See `Mask`."""
        return PinnedLinks(self.source_of, self.target_of, np.ascontiguousarray(self.allowed.T))

    def keep(self, kept: SpanMask) -> None:
        """See `Mask`."""
        keep_around_links(self.target_of, self.source_of, kept)

    def weigh(self, weights: Weights, kind: Kind) -> Weights:
        """See `Mask`."""
        return weights._replace(
            links=kind.scaled(weights.links, self.allowed),
            source_nulls=kind.scaled(weights.source_nulls, (self.target_of == NONE).astype(np.float64)),
            target_nulls=kind.scaled(weights.target_nulls, (self.source_of == NONE).astype(np.float64)),
        )


def pinned(positive: Bool, negative: Bool) -> PinnedLinks:
    """The mask that requires some links and forbids others, (p, q) each.

    Two links that share a word cannot both be required: then no link is allowed, and their words cannot be unlinked.
    """
    p, q = positive.shape
    target_of, source_of = np.full(p, NONE), np.full(q, NONE)
    sources, targets = np.nonzero(positive)
    target_of[sources], source_of[targets] = targets, sources
    allowed = ~negative
    allowed[sources] = False
    allowed[:, targets] = False
    allowed[sources, targets] = len(sources) == np.sum(target_of != NONE) == np.sum(source_of != NONE)
    return PinnedLinks(target_of, source_of, allowed.astype(np.float64))


def nothing_pinned(p: int, q: int) -> PinnedLinks:
    """The mask that prunes nothing."""
    none = np.zeros((p, q), dtype=np.bool_)
    return pinned(none, none)


@dataclass(frozen=True, eq=False)
class KeptStates:
    """The alignments over some bispans.

    Attributes:
        states: which are kept, (source spans, target spans).
        log_weights: of the same shape, with exp of which every bispan is multiplied; None for no weights.
    """

    states: Bool
    log_weights: Float | None = None
    can_be_turned = False

    @property
    def turned(self) -> KeptStates:
        """See `Mask`.

        Raises:
            NotImplementedError: always, as where bispans have weights; see `Shifted.turned`.
        """
        raise NotImplementedError

    def keep(self, kept: SpanMask) -> None:
        """See `Mask`."""
        keep_states(self.states, kept)

    def weigh(self, weights: Weights, kind: Kind) -> Weights:
        """See `Mask`. Ranges may hold more than what is kept: that weighs nothing."""
        logs = np.where(self.states, 0.0 if self.log_weights is None else self.log_weights, -np.inf)
        own = weights.bispans
        return weights._replace(bispans=kind.scaled(own, np.exp(logs)) if length(own) else kind.exp(logs))
