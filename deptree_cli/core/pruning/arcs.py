"""Randomized pruning of trees: the variables are the arcs of a sentence, and what is pinned leaves fewer trees.

Sums over trees with scores of arcs alone are cheap, and demonstrate that pruning is right; those with scores of
grandparents and siblings are what a mask makes cheaper. A pinned arc is a selected positive one: every tree that is
left contains it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Bool, Float, Heads, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.over_trees import OverTrees
from deptree_cli.core.second_order import SecondOrder
from deptree_cli.core.spaces import Factorisation, TreeSpace
from deptree_cli.core.spaces.rules import reach_of
from deptree_cli.core.spaces.second_order import MaskedCharts, SecondOrderChart, possible_heads
from deptree_cli.kernels.charts.second_order import Kept
from deptree_cli.kernels.charts.second_order_masks import keep_items
from deptree_cli.pruning.program import Program

# The least marginal, by scores of arcs alone, of an arc that is pinned; above a half no word has two of them.
CONFIDENT = 0.9

Mask = TypeVar("Mask")
Chart = TypeVar("Chart", bound=Factorisation | SecondOrderChart | None)


class ArcProgram(Program[Mask, Chart, Heads], Generic[Mask, Chart]):
    """Sums over the trees of a sentence of n words; its variables are the arcs.

    Variables are numbered in the order of the rows of an (n+1, n+1) matrix, ``[head, dependent]``, which is also the
    shape of the features. Structures are trees: the heads of the words, (n,), 0 for ROOT.
    """

    def __init__(self, distribution: OverTrees) -> None:
        self._distribution = distribution
        self._shape = distribution.n + 1, distribution.n + 1

    def variables(self) -> int:
        """Return M, which is (n+1)^2."""
        return self._shape[0] * self._shape[1]

    def confident(self) -> Integers:
        """Return the numbers of the arcs that are in nine of ten trees by the scores of arcs alone."""
        first_order = ArcFactored(self._distribution.log_scores, space=self._distribution.space)
        return np.flatnonzero(first_order.marginals() >= CONFIDENT)

    def compile(self, selected: Bool, assigned: Bool) -> Mask:
        """See `Program`; `kept_arcs` says what is pruned."""
        pinned, forbidden = (selected & assigned).reshape(self._shape), (selected & ~assigned).reshape(self._shape)
        return self._mask(pinned, kept_arcs(pinned, forbidden, self._distribution.space))

    def outside(self, chart: Chart) -> Float:
        """Return the marginals of arcs under the mask, (n+1, n+1); O(n^3)."""
        assert chart is not None  # Z is positive
        return chart.marginals()

    def sample(self, chart: Chart, rng: np.random.Generator) -> Heads:
        """Draw a tree under the mask, (n,); O(n^2) at worst."""
        assert chart is not None  # Z is positive
        return chart.sample(1, rng)[0]

    def assign(self, structure: Heads) -> Bool:
        """Return which arcs are in a tree, (M,)."""
        found = np.zeros(self._shape, dtype=np.bool_)
        found[structure, np.arange(1, self._shape[1])] = True
        return found.ravel()

    def features(self, structure: Heads) -> Float:
        """Return the arcs of a tree, (n+1, n+1): their expectations are the marginals."""
        return self.assign(structure).reshape(self._shape).astype(np.float64)

    @abstractmethod
    def _mask(self, pinned: Bool, arcs: Bool) -> Mask:
        """The mask by pinned arcs and kept ones, (n+1, n+1) each."""


class FirstOrderArcs(ArcProgram[Bool, Factorisation | None]):
    """Trees with scores of arcs, projective or not; a mask is the arcs that are kept. It saves no time."""

    def inside(self, mask: Bool) -> tuple[float, Factorisation | None]:
        """See `Program`; O(n^3)."""
        space = self._distribution.space
        log_scores = np.where(mask, self._distribution.log_scores, -np.inf)
        try:
            space.check_feasible(np.isfinite(log_scores))
            found = space.factorise(log_scores)
        except DeptreeError:
            return -np.inf, None
        return found.log_z, found

    def _mask(self, pinned: Bool, arcs: Bool) -> Bool:
        return arcs


class SecondOrderArcs(ArcProgram[Kept, SecondOrderChart]):
    """Projective trees with scores of grandparents and siblings; a mask is the items that are kept.

    A step costs what its mask keeps. Its chart lasts until the next call of `inside`.
    """

    def __init__(self, distribution: SecondOrder) -> None:
        super().__init__(distribution)
        self._by_grandparent = distribution.shifted.by_grandparent
        self._charts = MaskedCharts(distribution.shifted)

    def inside(self, mask: Kept) -> tuple[float, SecondOrderChart]:
        """See `Program`; O(n^4) at worst, O(n^3) without grandparents."""
        found = self._charts.inside(mask)
        return found.log_z, found

    def outside(self, chart: SecondOrderChart) -> Float:
        """Return the marginals of arcs under the mask, (n+1, n+1); as costly as two charts."""
        return self._charts.marginals(chart)

    def _mask(self, pinned: Bool, arcs: Bool) -> Kept:
        return kept_items(pinned, arcs, self._by_grandparent)


def arc_program(distribution: ArcFactored | SecondOrder) -> ArcProgram[Any, Any]:
    """Return the program over the trees of a distribution."""
    return SecondOrderArcs(distribution) if isinstance(distribution, SecondOrder) else FirstOrderArcs(distribution)


def kept_arcs(pinned: Bool, forbidden: Bool, space: TreeSpace) -> Bool:
    """Return which arcs are kept, (n+1, n+1), ``[head, dependent]``.

    Pruned are forbidden arcs, and those that no tree of the space has together with the pinned ones. Nothing is kept
    where an arc into ROOT is pinned, for no tree has one.

    Args:
        pinned, forbidden: (n+1, n+1), the selected arcs that are positive, and that are negative.
    """
    if pinned[:, 0].any():
        return np.zeros_like(pinned)
    return ~forbidden & space.compatible_arcs(pinned)


def kept_items(pinned: Bool, arcs: Bool, by_grandparent: bool) -> Kept:
    """Return which items of a second-order chart are kept.

    Args:
        pinned: (n+1, n+1), the selected arcs that are positive.
        arcs: (n+1, n+1), what `kept_arcs` leaves.
        by_grandparent: whether the items have grandparents.
    """
    complete, pair = np.ones_like(arcs), np.ones_like(arcs)
    heads = possible_heads(arcs, by_grandparent=True)
    kept = Kept(complete, arcs, pair, heads if by_grandparent else possible_heads(arcs, by_grandparent))
    keep_items(pinned, *reach_of(pinned), heads, kept)
    return kept
