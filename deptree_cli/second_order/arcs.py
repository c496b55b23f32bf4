"""Randomized pruning of second-order trees: the variables are arcs, and what is pinned leaves a chart of fewer items.

A pinned arc is a selected positive one: every tree that is left contains it.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Bool, Float, Heads, Integers
from deptree_cli.core.factorisation import reach_of
from deptree_cli.core.numbers import REAL
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.pruning.program import Program
from deptree_cli.second_order.chart import SecondOrderChart, possible_heads
from deptree_cli.second_order.distribution import SecondOrder
from deptree_cli.second_order.kernels import TABLES, ArcMask, keep_items

# The least marginal, by scores of arcs alone, of an arc that is pinned; above a half no word has two of them.
CONFIDENT = 0.9


class SecondOrderArcs(Program[ArcMask, SecondOrderChart, Heads]):
    """Sums over the projective trees of a sentence of n words; the variables are its arcs, a mask the items kept.

    Variables are numbered in the order of the rows of an (n+1, n+1) matrix, ``[head, dependent]``, which is also the
    shape of the features. Structures are trees: the heads of the words, (n,), 0 for ROOT. A step costs what its mask
    keeps, in memory that is cleared only where it was used; its chart lasts until the next call of `inside`.
    """

    def __init__(self, distribution: SecondOrder) -> None:
        self._distribution, self._shifted = distribution, distribution.shifted
        self._shape = distribution.n + 1, distribution.n + 1
        self._weights = self._shifted.weights(REAL.exp)
        self._chart, self._adjoints = (self._shifted.chart(REAL.zeros) for _ in range(2))
        self._kept: ArcMask | None = None  # the mask that the chart is filled under

    def variables(self) -> int:
        """Return M, which is (n+1)^2."""
        return self._shape[0] * self._shape[1]

    def confident(self) -> Integers:
        """Return the numbers of the arcs that are in nine of ten trees by the scores of arcs alone."""
        first_order = ArcFactored(self._distribution.log_scores, space=self._distribution.space)
        return np.flatnonzero(first_order.marginals() >= CONFIDENT)

    def compile(self, selected: Bool, assigned: Bool) -> ArcMask:
        """See `Program`; `kept_arcs` and `kept_items` say what is pruned."""
        pinned, forbidden = (selected & assigned).reshape(self._shape), (selected & ~assigned).reshape(self._shape)
        arcs = kept_arcs(pinned, forbidden, self._distribution.space)
        return kept_items(pinned, arcs, self._shifted.by_grandparent)

    def inside(self, mask: ArcMask) -> tuple[float, SecondOrderChart]:
        """See `Program`; O(n^4) at worst, O(n^3) without grandparents."""
        if self._kept is not None:
            clear(self._kept, self._chart)
        self._kept = mask
        found = SecondOrderChart(self._shifted, mask, REAL, self._weights, self._chart).or_wide()
        return found.log_z, found

    def outside(self, chart: SecondOrderChart) -> Float:
        """Return the marginals of arcs under the mask, (n+1, n+1); as costly as two charts."""
        if chart.is_wide:
            return chart.marginals()
        found = chart.marginals(self._adjoints)
        clear(chart.kept, self._adjoints)
        return found

    def sample(self, chart: SecondOrderChart, rng: np.random.Generator) -> Heads:
        """Sample a tree under the pruning mask, (n,); O(n^2) at worst."""
        return chart.sample(1, rng)[0]

    def assign(self, structure: Heads) -> Bool:
        """Return which arcs are in a tree, (M,)."""
        found = np.zeros(self._shape, dtype=np.bool_)
        found[structure, np.arange(1, self._shape[1])] = True
        return found.ravel()

    def features(self, structure: Heads) -> Float:
        """Return the arcs of a tree, (n+1, n+1): their expectations are the marginals."""
        return self.assign(structure).reshape(self._shape).astype(np.float64)


def kept_arcs(pinned: Bool, forbidden: Bool, space: TreeSpace) -> Bool:
    """Which arcs are kept, (n+1, n+1): those not forbidden that some tree of the space has with the pinned ones.

    Nothing is kept where an arc into ROOT is pinned, for no tree has one.
    """
    if pinned[:, 0].any():
        return np.zeros_like(pinned)
    return ~forbidden & space.compatible_arcs(pinned)


def kept_items(pinned: Bool, arcs: Bool, by_grandparent: bool) -> ArcMask:
    """Which items of a second-order chart are kept: `pinned` arcs are those selected and positive."""
    heads = possible_heads(arcs, by_grandparent=True)
    above = heads if by_grandparent else possible_heads(arcs, by_grandparent)
    kept = ArcMask(np.ones_like(arcs), arcs, np.ones_like(arcs), above)
    keep_items(pinned, *reach_of(pinned), heads, kept)
    return kept


def clear(kept: ArcMask, chart: Float) -> None:
    """Make a chart of these items, or of their adjoints, one of zeros again."""
    for table, is_kept in zip(chart, kept[:TABLES], strict=True):
        table[is_kept] = 0.0
