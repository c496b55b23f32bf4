"""The chart of one sentence behind log Z, marginals, exact samples and the best tree of second-order distributions.

As in `core/spaces.py`, it adds and multiplies positive numbers only, in float64 where its range suffices, else in wide
ones.
"""

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
from deptree_cli.second_order import kernels
from deptree_cli.second_order.kernels import TABLES, ArcMask, SecondOrder, Weights, inside, outside


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

    def weights(self, exp: Any) -> Weights:
        return Weights(*map(exp, self.log_weights))

    def chart(self, zeros: Any) -> Any:
        return zeros((TABLES, *self.log_weights.arcs.shape))

    def grammar(self, weights: Weights, chart: Any) -> SecondOrder:
        return SecondOrder(self.space.single_root, self.by_grandparent, weights, chart)

    @property
    def everything(self) -> ArcMask:
        arcs = np.ones((self.n + 1, self.n + 1), dtype=np.bool_)
        return ArcMask(arcs, arcs, arcs, possible_heads(arcs, self.by_grandparent))

    def maximum_tree(self) -> Heads:
        """The tree of the largest weight, (n,); there is a tree. As costly as log Z."""
        heads, weights = np.zeros(self.n, dtype=np.int32), self.weights(Tropical)
        chart = self.chart(lambda shape: Tropical(np.full(shape, -np.inf)))
        inside(weights, self.everything, self.space.single_root, chart)
        follow_best(self.grammar(weights, chart), heads)
        return heads


class SecondOrderChart(SweepFactorisation):
    """The chart of one sentence's distribution, over all trees or under a mask; immutable once filled.

    `shifted_log_z` and the chart (see `kernels.py`) are of the shifted weights.

    chart, weights: memory of zeros to be filled, and the weights as numbers of this kind; made if not given.
    """

    def __init__(
        self, shifted: Shifted, kept: ArcMask, kind: Kind = REAL, weights: Weights | None = None, chart: Any = None
    ) -> None:
        self.shifted, self.kept, self.kind = shifted, kept, kind
        self._weights = shifted.weights(kind.exp) if weights is None else weights
        self._chart = shifted.chart(kind.zeros) if chart is None else chart
        total = inside(self._weights, kept, shifted.space.single_root, self._chart)
        self.shifted_log_z, in_range = log_partition(total, shifted.n)
        self.in_range = in_range or kind is WIDE

    @property
    def log_z(self) -> float:
        return self.shifted_log_z + self.shifted.constant

    def _in(self, kind: Kind) -> SecondOrderChart:
        return SecondOrderChart(self.shifted, self.kept, kind)

    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of projective trees, (k, n) heads -> (k,), at most 0; -inf where a part is forbidden."""
        return np.minimum(part_scores(self.shifted.log_weights, trees)[0] - self.shifted_log_z, 0.0)

    def marginals(self, adjoints: Any = None) -> Float:
        """P(head -> dependent) for every arc, (n+1, n+1); the columns of words sum to 1. As costly as two charts.

        adjoints: a chart of zeros of this kind of numbers to work in, which is made if not given.
        """
        return self.answer(lambda own: own._marginals(adjoints if own is self else None))

    def _marginals(self, adjoints: Any) -> tuple[Float, bool]:
        found = self.kind.zeros((self.shifted.n + 1, self.shifted.n + 1))
        adjoints = self.shifted.chart(self.kind.zeros) if adjoints is None else adjoints
        outside(self._weights, self.kept, self.shifted.space.single_root, self._chart, adjoints, found)
        marginals: Float = self.kind.floats(found)
        return marginals, sum_to_one(marginals)

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, (size, n); O(n^2) each at worst."""
        heads = np.empty((size, self.shifted.n), dtype=np.int32)
        sample_trees(self.shifted.grammar(self._weights, self._chart), kernel_state(rng), heads)
        return heads


def part_scores(log_weights: Weights, trees: Integers) -> tuple[Float, Float]:
    """The log-weights of projective trees (k, n), (k,), and those of the last tree's words, (n,)."""
    heads = np.ascontiguousarray(trees, dtype=np.int64)
    totals, parts = np.empty(len(heads)), np.empty(heads.shape[1])
    kernels.part_scores(log_weights, heads, totals, parts)
    return totals, parts


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
    above, beside = laid_out(len(log_scores), grandparent, sibling)
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


def laid_out(nodes: int, grandparent: Float | None, sibling: Float | None) -> Weights:
    """Scores of grandparents ``[head, dependent, grandparent]`` and of siblings ``[head, dependent, sibling]``.

    ROOT's arcs have no grandparent, which is number 0.
    """
    above, beside = np.zeros((nodes, nodes, 1)), np.zeros((nodes,) * 3)
    if grandparent is not None:
        above = grandparent.transpose(1, 2, 0).copy()
        above[0, :, 0] = 0.0
    return Weights(above, beside if sibling is None else sibling.swapaxes(1, 2).copy())


def _highest(scores: Float, axes: tuple[int, ...]) -> Float:
    """The largest scores along some axes, which stay; 0 where everything is forbidden."""
    return _finite(scores.max(axis=axes, keepdims=True, initial=-np.inf))


def _finite(peaks: Float) -> Float:
    """Peaks that can be subtracted: 0 where everything is forbidden."""
    return np.where(np.isfinite(peaks), peaks, 0.0)
