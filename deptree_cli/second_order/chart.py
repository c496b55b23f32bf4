"""The chart of one sentence, and the same as a program for pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Int, Integers
from deptree_cli.core.factorisation import Rules, SweepFactorisation
from deptree_cli.core.factorisation import shift as shift_arcs
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.charts import follow_best, log_partition, sample_trees, sum_to_one
from deptree_cli.kernels.numbers import Tropical
from deptree_cli.second_order.kernels import (
    TABLES,
    ArcMask,
    SecondOrder,
    Weights,
    clear,
    inside,
    outside,
    tree_log_probs,
)

# One chart behind log Z, marginals, exact samples and the maximum tree of second-order projective distributions.
#
# As in `core/spaces.py`, it adds and multiplies positive numbers only, in float64 where its range suffices,
# else in wide ones.


@dataclass(frozen=True, eq=False)
class Shifted:
    """The scores of a sentence's parts, shifted so that no weight exceeds 1; no tree's probability changes by it.

    `log_weights` are laid out for the kernels; `constant` is what log Z loses by the shift.
    """

    space: Rules
    log_weights: Weights
    constant: float

    @property
    def n(self) -> int:
        return len(self.log_weights.arcs) - 1

    @property
    def by_grandparent(self) -> bool:
        return self.log_weights.arcs.shape[2] > 1

    @property
    def everything(self) -> ArcMask:
        arcs = np.ones((self.n + 1, self.n + 1), dtype=np.bool_)
        return ArcMask(arcs, arcs, arcs, possible_heads(arcs, self.by_grandparent))

    def maximum_tree(self) -> Heads:
        """The tree of the largest weight, (n,); there is a tree. As costly as log Z."""
        heads, weights = np.zeros(self.n, dtype=np.int32), Weights(*map(Tropical, self.log_weights))
        chart = _chart(lambda shape: Tropical(np.full(shape, -np.inf)), self)
        inside(weights, self.everything, self.space.single_root, chart)
        follow_best(SecondOrder(self.space.single_root, self.by_grandparent, weights, chart), heads)
        return heads


@dataclass(frozen=True, eq=False)
class SecondOrderChart(SweepFactorisation):
    """The chart of one sentence's distribution; immutable, made by `factorise`, or by `MaskedCharts` under a mask.

    `shifted_log_z`, `weights` and `chart` (see `kernels.py`) are of the shifted weights.
    """

    shifted: Shifted
    kept: ArcMask
    shifted_log_z: float
    kind: Kind
    in_range: bool
    weights: Weights
    chart: Any

    @property
    def log_z(self) -> float:
        return self.shifted_log_z + self.shifted.constant

    def _in(self, kind: Kind) -> SecondOrderChart:
        return _filled(self.shifted, self.kept, kind)

    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of projective trees, (k, n) heads -> (k,), at most 0; -inf where a part is forbidden."""
        out, heads = np.empty(len(trees)), np.ascontiguousarray(trees, dtype=np.int64)
        tree_log_probs(self.shifted.log_weights, self.shifted_log_z, heads, out)
        return np.minimum(out, 0.0)

    def marginals(self, adjoints: Any = None) -> Float:
        """P(head -> dependent) for every arc, (n+1, n+1); the columns of words sum to 1. As costly as two charts.

        adjoints: a chart of zeros of this kind of numbers to work in, which is made if not given.
        """
        return self.answer(lambda own: own._marginals(adjoints if own is self else None))

    def _marginals(self, adjoints: Any) -> tuple[Float, bool]:
        found = self.kind.zeros((self.shifted.n + 1, self.shifted.n + 1))
        if adjoints is None:
            adjoints = _chart(self.kind.zeros, self.shifted)
        outside(self.weights, self.kept, self.shifted.space.single_root, self.chart, adjoints, found)
        marginals: Float = self.kind.floats(found)
        return marginals, sum_to_one(marginals)

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, (size, n); O(n^2) each at worst."""
        heads = np.empty((size, self.shifted.n), dtype=np.int32)
        of = self.shifted
        grammar = SecondOrder(of.space.single_root, of.by_grandparent, self.weights, self.chart)
        sample_trees(grammar, kernel_state(rng), heads)
        return heads


class MaskedCharts:
    """The charts of one distribution under one mask after the other, in memory that is cleared only where it was used.

    Each chart lasts until the next one is asked for.
    """

    def __init__(self, shifted: Shifted) -> None:
        self._shifted = shifted
        self._weights = _weights(shifted, REAL)
        self._chart, self._adjoints = (_chart(REAL.zeros, shifted) for _ in range(2))
        self._kept: ArcMask | None = None  # the mask that the chart is filled under

    def inside(self, kept: ArcMask) -> SecondOrderChart:
        if self._kept is not None:
            clear(self._kept, self._chart)
        self._kept = kept
        return _fill(self._shifted, kept, REAL, self._weights, self._chart).or_wide()

    def marginals(self, chart: SecondOrderChart) -> Float:
        """P(head -> dependent) for every arc under a chart's mask, (n+1, n+1)."""
        if chart.is_wide:
            return chart.marginals()
        found = chart.marginals(self._adjoints)
        clear(chart.kept, self._adjoints)
        return found


def factorise(shifted: Shifted) -> SecondOrderChart:
    """Fill the chart: O(n^4) where grandparents are scored, else O(n^3)."""
    return _filled(shifted, shifted.everything, REAL).or_wide()


def possible_heads(arcs: Bool, by_grandparent: bool) -> Int:
    """The first head of each node among arcs (n+1, n+1), and the one behind the last, (n+1, 2): `ArcMask.above`."""
    above = np.zeros((len(arcs), 2), dtype=np.int64)
    above[:, 1] = 1
    if by_grandparent:
        above[1:, 0] = arcs[:, 1:].argmax(axis=0)
        above[1:, 1] = len(arcs) - arcs[::-1, 1:].argmax(axis=0)
    return above


def shift(log_scores: Float, grandparent: Float | None, sibling: Float | None, space: Rules) -> Shifted:
    """Shift checked scores (`distribution.py`), and lay them out for the kernels.

    The weights of arcs take the largest over siblings with them. Under the single-root constraint the highest of each
    word is over words as heads, and ROOT's row is then shifted as a whole: every tree has exactly one of its arcs.
    """
    above, beside = _by_grandparent(log_scores, grandparent), _by_sibling(log_scores, sibling)
    nearest = beside.max(axis=2, keepdims=True)
    siblings = beside - _finite(nearest)
    offsets = _highest(nearest, (0,))  # every word has one sibling, or its head in the place of one
    nearest -= offsets
    plain, constant = shift_arcs(log_scores, space)
    constant += float(offsets.sum())
    arcs = plain[..., None] + above + nearest
    peaks = _highest(arcs[int(space.single_root) :], (0, 2))
    arcs -= peaks
    constant += float(peaks.sum())
    if space.single_root:
        top = float(_highest(arcs[0], (0, 1)).item())
        arcs[0] -= top
        constant += top
    arcs[0, 0, 0] = siblings[0, 0, 0] = 0.0  # see `Weights`
    return Shifted(space, Weights(arcs, siblings), constant)


def _by_grandparent(log_scores: Float, grandparent: Float | None) -> Float:
    """Scores of grandparents ``[head, dependent, grandparent]``; ROOT's arcs have none, which is number 0."""
    if grandparent is None:
        return np.zeros((*log_scores.shape, 1))
    scores = grandparent.transpose(1, 2, 0).copy()
    scores[0, :, 0] = 0.0
    return scores


def _by_sibling(log_scores: Float, sibling: Float | None) -> Float:
    """Scores of siblings ``[head, dependent, sibling]``."""
    return np.zeros((*log_scores.shape, len(log_scores))) if sibling is None else sibling.swapaxes(1, 2)


def _highest(scores: Float, axes: tuple[int, ...]) -> Float:
    """The largest scores along some axes, which stay; 0 where everything is forbidden."""
    return _finite(scores.max(axis=axes, keepdims=True, initial=-np.inf))


def _finite(peaks: Float) -> Float:
    """Peaks that can be subtracted: 0 where everything is forbidden."""
    return np.where(np.isfinite(peaks), peaks, 0.0)


def _filled(shifted: Shifted, kept: ArcMask, kind: Kind) -> SecondOrderChart:
    return _fill(shifted, kept, kind, _weights(shifted, kind), _chart(kind.zeros, shifted))


def _fill(shifted: Shifted, kept: ArcMask, kind: Kind, weights: Weights, chart: Any) -> SecondOrderChart:
    total = inside(weights, kept, shifted.space.single_root, chart)
    log_z, in_range = log_partition(total, shifted.n)
    return SecondOrderChart(shifted, kept, log_z, kind, in_range or kind is WIDE, weights, chart)


def _weights(shifted: Shifted, kind: Kind) -> Weights:
    return Weights(*map(kind.exp, shifted.log_weights))


def _chart(zeros: Any, shifted: Shifted) -> Any:
    return zeros((TABLES, *shifted.log_weights.arcs.shape))


# Randomized pruning of second-order trees: the variables are arcs, and what is pinned leaves a chart of fewer items.
#
# A pinned arc is a selected positive one: every tree that is left contains it.


# The least marginal, by scores of arcs alone, of an arc that is pinned; above a half no word has two of them.
