"""One chart behind log Z, marginals and exact samples of projective trees (Eisner 1996).

The chart adds and multiplies positive numbers only, in float64 where its range suffices, else in wide numbers
(`kernels/numbers/wide.py`); each projective tree is in it once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.many_trees import blocks_to_fill, empty_heads
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces.rules import Rules
from deptree_cli.core.spaces.shifted import Shifted, shift
from deptree_cli.core.spaces.sweep_factorisation import ArcSweep, Zeros
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.charts import eisner as kernel
from deptree_cli.kernels.charts.eisner import LOG_GROWTH, LONGEST, RIGHT, TABLES, inside, is_in_range, outside
from deptree_cli.kernels.charts.projective_trees import sample_trees
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.operations import tolerance
from deptree_cli.kernels.numbers.wide import LOG_RADIX


@dataclass(frozen=True, eq=False)
class Eisner(ArcSweep):
    """The chart of one sentence's distribution over projective trees; immutable, made by `factorise`.

    Attributes:
        chart: what `kernels/charts/eisner.py` makes of them.
    """

    chart: Any

    @property
    def grammar(self) -> kernel.Eisner:
        """What the kernels that walk down the chart take."""
        return kernel.Eisner(self.space.single_root, self.chart)

    def _in(self, kind: Kind) -> Eisner:
        return _filled(self.shifted, self.space, kind)

    @property
    def is_in_range(self) -> bool:
        return bool(is_in_range(self.shifted_log_z, self.n))

    @property
    def _swept(self) -> Any:
        return self.chart

    def _forward(self, weights: Any, zeros: Zeros) -> Any:
        chart = _chart(zeros, self.n)
        inside(weights, self.space.single_root, chart)
        return chart

    def _backward(self, weights: Any, swept: Any, zeros: Zeros) -> tuple[Any, bool]:
        found = _marginals(weights, self.space, swept, self.n, zeros)
        return found, isinstance(found, Dual) or sum_to_one(self.kind.floats(found))

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0; O(n) under the single-root constraint."""
        if not self.space.single_root:
            return self.marginals()[0]
        found = np.zeros(self.n + 1)
        kernel.root_marginals(self.chart, found)
        return found

    def sample(self, size: int, rng: np.random.Generator) -> Integers:
        heads, state = empty_heads(size, self.n), kernel_state(rng)
        for _, block in blocks_to_fill(heads):
            sample_trees(self.grammar, state, block)
        return heads


def factorise(log_scores: Float, space: Rules) -> Eisner:
    """Fill the chart of checked log-scores (n+1, n+1), ``[head, dependent]``. O(n^3).

    Raises:
        DeptreeError: no tree has a positive weight.
    """
    found = _filled(shift(log_scores, space), space, REAL).in_range()
    if found.shifted_log_z == -np.inf:
        raise DeptreeError("no projective tree has a positive weight", "Allow more arcs")
    return found


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
    found = _filled(Shifted(log_weights, float(typical.sum())), space, REAL)
    return found.answer(lambda own: (own, math.isfinite(own.shifted_log_z)))


def sum_to_one(marginals: Float) -> bool:
    """Whether the probabilities of each word's heads, (n+1, n+1), do so, as far as they should."""
    return bool((np.abs(marginals[:, 1:].sum(axis=0) - 1.0) < tolerance(marginals)).all())


def has_tree(allowed: Bool, space: Rules) -> bool:
    """Whether there is a tree of allowed arcs, (n+1, n+1). Exact, O(n^3)."""
    _, chart, kind = _pattern(allowed, space)
    return bool(_are_positive(chart, kind)[RIGHT, 0, -1])


def possible_arcs(allowed: Bool, space: Rules) -> Bool:
    """Which arcs some tree of allowed arcs contains, (n+1, n+1), where there is a tree. Exact, O(n^3)."""
    weights, chart, kind = _pattern(allowed, space)
    return _are_positive(_marginals(weights, space, chart, len(allowed) - 1, kind.zeros), kind)


def _pattern(allowed: Bool, space: Rules) -> tuple[Any, Any, Kind]:
    """Weights, their chart and the kind of numbers, of arcs that weigh 1/7 each.

    So neither sums nor single trees leave the range of float64, and what is possible is positive.
    """
    n = len(allowed) - 1
    kind = REAL if n <= LONGEST else WIDE
    weights, chart = kind.exp(np.where(allowed, -LOG_GROWTH, -np.inf)), _chart(kind.zeros, n)
    inside(weights, space.single_root, chart)
    return weights, chart, kind


def _are_positive(numbers: Any, kind: Kind) -> Bool:
    return (numbers if kind is REAL else numbers[0]) > 0  # of wide numbers the mantissas


def _filled(shifted: Shifted, space: Rules, kind: Kind) -> Eisner:
    """The chart in one kind of numbers."""
    weights = kind.exp(shifted.log_weights)
    chart = _chart(kind.zeros, len(shifted.log_weights) - 1)
    total = inside(weights, space.single_root, chart)
    return Eisner(space, shifted, log_of(total, kind), kind, weights, chart)


def log_of(total: Any, kind: Kind) -> float:
    """The natural logarithm of a number of either kind, -inf of 0."""
    mantissa, exponent = (total, 0) if kind is REAL else total
    return math.log(mantissa) + exponent * LOG_RADIX if mantissa > 0.0 else -math.inf


def _chart(zeros: Any, n: int) -> Any:
    """A chart of zeros."""
    return zeros((TABLES, n + 1, n + 1))


def _marginals(weights: Any, space: Rules, chart: Any, n: int, zeros: Any) -> Any:
    """The marginals of arcs, (n+1, n+1), in the chart's kind of numbers."""
    marginals = zeros((n + 1, n + 1))
    outside(weights, space.single_root, chart, _chart(zeros, n), marginals)
    return marginals
