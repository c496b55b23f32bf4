"""Projective dependency trees: log-partition function, edge marginals, exact samples and maximum trees (Eisner 1996).

One chart is behind the sums and the samples; each projective tree is in it once. It adds and multiplies positive
numbers only, in float64 where its range suffices, else in wide numbers (`kernels/numbers/wide.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Integers, read_only
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.many_trees import blocks_to_fill, empty_heads
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces.base import WITHOUT_CROSSING, TreeSpace
from deptree_cli.core.spaces.factorisation import ArcSweep, Zeros
from deptree_cli.core.spaces.feasibility import all_allowed, check_feasible, crossing_is_needed
from deptree_cli.core.spaces.rules import Rules
from deptree_cli.core.spaces.shifted import Shifted, shift
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels import charts

if TYPE_CHECKING:
    from deptree_cli.kernels.charts.eisner import Eisner as Grammar


class Projective(TreeSpace):
    """Dependency trees (one ROOT arc) or spanning trees (one or more) in which no two arcs cross, ROOT's included.

    So every word governs a stretch of the sentence. ROOT stands before the first word.
    """

    kind = WITHOUT_CROSSING

    def check_feasible(self, allowed: Bool) -> None:
        """See `TreeSpace`; O(n^3) where arcs are missing."""
        check_feasible(allowed, self)
        if not (all_allowed(allowed) or _has_tree(allowed, self)):
            raise crossing_is_needed(allowed, self)

    def support(self, allowed: Bool) -> Bool:
        """See `TreeSpace`; O(n^3)."""
        return allowed.copy() if all_allowed(allowed) else _possible_arcs(allowed, self)

    def factorise(self, log_scores: Float) -> Eisner:
        """See `TreeSpace`; O(n^3).

        Raises:
            DeptreeError: no tree has a positive weight.
        """
        kind = REAL if len(log_scores) - 1 <= charts.eisner.LONGEST else WIDE  # float64 would not be trusted
        found = Eisner.of(shift(log_scores, self), self, kind).or_wide()
        if found.shifted_log_z == -np.inf:
            raise DeptreeError("no projective tree has a positive weight", "Allow more arcs")
        return found

    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """See `TreeSpace`; Eisner 1996. O(n^3)."""
        heads = np.zeros(len(scores) - 1, dtype=np.int32)
        scores = read_only(np.ascontiguousarray(scores).view())  # compiled for these alone
        return heads, charts.projective_trees.best_tree(scores, self.single_root, heads)

    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """See `TreeSpace`; the best 16, then four times as many as before, anew."""
        size, known = 16, 0
        while True:
            trees = self.best_trees(scores, size)
            yield from trees[known:]
            if len(trees) < size:
                return
            known, size = size, 4 * size

    def best_trees(self, scores: Float, size: int) -> Heads:
        """See `TreeSpace`; Huang and Chiang 2005, lazily: O(n^3 + k n log k)."""
        scores = read_only(np.ascontiguousarray(scores).view())
        heads: Heads = charts.best_projective_trees.best_projective_trees(scores, self.single_root, size)
        return heads.copy()  # without the room for more


@dataclass(frozen=True, eq=False)
class Eisner(ArcSweep):
    """The chart of one sentence's distribution over projective trees; immutable, made by `factorise`.

    Attributes:
        swept: the chart, what `kernels/charts/eisner.py` makes of the weights.
    """

    @classmethod
    def of(cls, shifted: Shifted, space: Rules, kind: Kind) -> Eisner:
        """Fill the chart in one kind of numbers."""
        n = len(shifted.log_weights) - 1
        weights, zeros = _numbers(shifted.log_weights, kind)
        chart, total = _inside(weights, space, zeros, n)
        log_z, in_range = charts.eisner.log_partition(total, n)
        return cls(space, shifted, log_z, kind, in_range or kind is WIDE, weights, chart)

    @property
    def grammar(self) -> Grammar:
        """What the kernels that walk down the chart take."""
        return charts.eisner.Eisner(self.space.single_root, self.swept)

    def _in(self, kind: Kind) -> Eisner:
        return Eisner.of(self.shifted, self.space, kind)

    def _marginals(self) -> tuple[Float, bool]:
        if self.kind is REAL:
            return super()._marginals()
        return _long_marginals(self.weights, self.space, self.swept, REAL.zeros)

    def _arc_covariance(self, values: Float) -> tuple[Float, bool]:
        own = self if self.kind is REAL else replace(self, weights=self.kind.exp(self.shifted.log_weights))
        return super(Eisner, own)._arc_covariance(values)

    def _forward(self, weights: Any, zeros: Zeros) -> Any:
        return _inside(weights, self.space, zeros, self.n)[0]

    def _backward(self, weights: Any, swept: Any, zeros: Zeros) -> tuple[Any, bool]:
        return _outside(weights, self.space, swept, zeros, self.n)

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0; O(n) under the single-root constraint."""
        if not self.space.single_root:
            return self.marginals()[0]
        found = np.zeros(self.n + 1)
        charts.eisner.root_marginals(self.swept, found)
        return found

    def sample(self, size: int, rng: np.random.Generator) -> Integers:
        heads, state = empty_heads(size, self.n), kernel_state(rng)
        for _, block in blocks_to_fill(heads):
            charts.projective_trees.sample_trees(self.grammar, state, block)
        return heads


def factorise_near(log_scores: Float, space: Rules, typical: Float) -> Eisner:
    """Fill the chart of trees whose weights are about 1 once a number is taken off each word's log-scores.

    In float64 even where `factorise` could not promise that this suffices; in wide numbers if log Z shows that it does
    not, and marginals if their sums do. Items that are lost because float64 is too narrow for them go unnoticed.

    Args:
        log_scores: (n+1, n+1), ``[head, dependent]``.
        typical: (n,), the log-scores of words' arcs in trees that matter.
    """
    log_weights = log_scores.copy()
    log_weights[:, 1:] -= typical
    found = Eisner.of(Shifted(log_weights, float(typical.sum())), space, REAL)
    return found.answer(lambda own: (own, math.isfinite(own.shifted_log_z)))


def _inside(weights: Any, space: Rules, zeros: Zeros, n: int) -> tuple[Any, Any]:
    """The chart of weights (n+1, n+1), and the partition function."""
    chart = zeros((charts.eisner.TABLES, n + 1, n + 1))
    return chart, charts.eisner.inside(weights, space.single_root, chart)


def _outside(weights: Any, space: Rules, chart: Any, zeros: Zeros, n: int) -> tuple[Any, bool]:
    """The edge marginals, (n+1, n+1), in the chart's kind of numbers, and whether these were in range."""
    adjoints, found = zeros((charts.eisner.TABLES, n + 1, n + 1)), zeros((n + 1, n + 1))
    return found, charts.eisner.outside(weights, space.single_root, chart, adjoints, found)


def _numbers(log_weights: Float, kind: Kind) -> tuple[Any, Zeros]:
    """What the sweep of one sentence takes: its weights, and what makes charts of zeros. Wide numbers share exponents.

    These take 9/8 of float64's memory, and weights none: it is the long sentences that need wide numbers.
    """
    if kind is REAL:
        return kind.exp(log_weights), kind.zeros
    from deptree_cli.kernels.numbers.shared import shared_zeros
    from deptree_cli.kernels.numbers.wide import Exponentials

    return Exponentials(log_weights), shared_zeros


def _long_marginals(weights: Any, space: Rules, chart: Any, zeros: Zeros) -> tuple[Any, bool]:
    """The edge marginals, (n+1, n+1), from wide numbers that share exponents, and whether these were in range."""
    from deptree_cli.kernels.numbers.shared import shared_zeros

    adjoints, found = shared_zeros(chart.mantissas.shape), zeros(chart.mantissas.shape[1:])
    return found, charts.long_marginals.long_marginals(weights, space.single_root, chart, adjoints, found)


def _has_tree(allowed: Bool, space: Rules) -> bool:
    """Whether there is a tree of allowed arcs, (n+1, n+1). Exact, O(n^3)."""
    from deptree_cli.kernels.numbers.operations import is_positive

    weights, zeros = _numbers(*_pattern(allowed))
    return bool(is_positive(_inside(weights, space, zeros, len(allowed) - 1)[1]))


def _possible_arcs(allowed: Bool, space: Rules) -> Bool:
    """Which arcs some tree of allowed arcs contains, (n+1, n+1), where there is a tree. Exact, O(n^3)."""
    n = len(allowed) - 1
    log_weights, kind = _pattern(allowed)
    weights, zeros = _numbers(log_weights, kind)
    chart, _ = _inside(weights, space, zeros, n)
    if kind is REAL:
        found, _ = _outside(weights, space, chart, zeros, n)
    else:
        (found, _), _ = _long_marginals(weights, space, chart, kind.zeros)  # the mantissas
    possible: Bool = found > 0
    return possible


def _pattern(allowed: Bool) -> tuple[Float, Kind]:
    """Allowed arcs as logarithms of 1/7, and their kind of numbers: neither sums nor single trees leave its range."""
    kind = REAL if len(allowed) - 1 <= charts.eisner.LONGEST else WIDE
    return np.where(allowed, -charts.eisner.LOG_GROWTH, -np.inf), kind
