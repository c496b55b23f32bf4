"""One factorisation behind log Z, marginals and exact samples, whatever the weights (Grassmann-Taksar-Heyman
elimination).

Koo et al. 2007 invert a Laplacian, which cancels catastrophically on the peaked weights of trained parsers; eliminating
the words one by one adds, multiplies and divides positive numbers only and keeps about fifteen digits. Where float64
itself would underflow, the same sweep runs on numbers with a wider exponent (`kernels/numbers/wide.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int, Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.many_trees import blocks_to_fill, empty_heads
from deptree_cli.core.numbers import REAL, SAFE_LOG, WIDE, Kind
from deptree_cli.core.spaces.factorisation import Factorisation
from deptree_cli.core.spaces.rules import Rules
from deptree_cli.core.spaces.shifted import Shifted, shift
from deptree_cli.core.spaces.sweep_factorisation import ArcSweep, Zeros
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.elimination import marginals as kernel
from deptree_cli.kernels.elimination.panels import WIDTH
from deptree_cli.kernels.elimination.root_arcs import root_products
from deptree_cli.kernels.elimination.sampler import sample_trees, transpose
from deptree_cli.kernels.numbers.wide import wide_log
from deptree_cli.kernels.trees.best_tree import best_tree


@dataclass(frozen=True, eq=False)
class Elimination(ArcSweep):
    """The factors of one sentence's distribution over non-projective trees; immutable, made by `factorise`.

    Attributes:
        last: the word that is eliminated last.
        factors, pivots: what `kernels/elimination/sweeps.py` makes of them, `last` and word 1 having changed places.
        held: whether the numbers of these held every term.
    """

    last: int
    factors: Any
    pivots: Any
    held: bool

    @property
    def is_in_range(self) -> bool:
        return self.held

    def _in(self, kind: Kind) -> Elimination:
        return _eliminated(self.shifted, self.space, self.last, kind)

    @property
    def _swept(self) -> Any:
        return self.factors, self.pivots

    def _forward(self, weights: Any, zeros: Zeros) -> Any:
        return _factors(weights, self.last, self.space, zeros, self.n + 1)[:2]

    def _backward(self, weights: Any, swept: Any, zeros: Zeros) -> tuple[Any, bool]:
        square = self.n + 1, self.n + 1
        adjoints, found, workspace = zeros(square), zeros(square), zeros((3, WIDTH, self.n + 1))
        sweep = weights, self.last, *swept, adjoints, workspace, self.space.single_root, found
        return found, kernel.arc_marginals(*sweep)

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0. O(n^2), nothing subtracted, under the single-root constraint."""
        return self.kind.floats(self._root_products()) if self.space.single_root else self.marginals()[0]

    def log_root_marginals(self) -> Float:
        """log P(ROOT -> word), shape (n+1,): single root only; finite for every possible root, however unlikely."""
        return wide_log(self.in_wide_numbers._root_products())

    def _root_products(self) -> Any:
        """P(ROOT -> word), (n+1,), in this kind of numbers: single root only."""
        found = self.kind.zeros(self.n + 1)
        root_products(self.weights, self.last, self.factors, self.pivots, found)
        return found

    def sample(self, size: int, rng: np.random.Generator) -> Integers:
        heads, state = empty_heads(size, self.n), kernel_state(rng)
        for _, block in blocks_to_fill(heads):
            self._tables.draw(np.zeros(len(block), dtype=np.int64), state, block)
        return heads

    @cached_property
    def _tables(self) -> EliminationTables:
        return EliminationTables(self)


class EliminationTables:
    """An elimination's factors and weights as the sampler wants them, O(n^2).

    Under the single-root constraint no pivot depends on ROOT's arcs: trees of a given root cost one sweep of their
    weights.
    """

    def __init__(self, whole: Elimination) -> None:
        factors, pivots, weights = (
            whole.kind.each(np.copy, part) for part in (whole.factors, whole.pivots, whole.weights)
        )
        kernel.swap_words(weights, whole.last, 1)
        across = whole.kind.zeros((whole.n + 1, whole.n + 1))
        transpose(factors, across, whole.n + 1)
        self._given = factors, pivots, across, weights, whole.last, whole.space.single_root

    def draw(self, roots: Int, state: Any, heads: Heads) -> None:
        """Fill heads (k, n) with independent trees; roots (k,): the words that they hang on, or 0 where it may be any.

        state: of a kernel's generator. Once a root was given, no later one may be 0. A root that has next to no
        probability may need wider numbers than these: not one that was drawn.
        """
        sample_trees(*self._given, roots, state, heads)


def elimination_of(factorisation: Factorisation) -> Elimination:
    """The factorisation of a distribution over non-projective trees, for samplers that serve no others."""
    assert isinstance(factorisation, Elimination)
    return factorisation


def factorise(log_scores: Float, space: Rules) -> Elimination:
    """Eliminate the words of checked log-scores (n+1, n+1), ``[head, dependent]``. O(n^3): n^3/3 multiply-adds.

    Raises:
        DeptreeError: no tree has a positive weight.
    """
    shifted = shift(log_scores, space)
    last = int(shifted.log_weights[0].argmax())
    found = _eliminated(shifted, space, last, REAL)
    if space.single_root and not found.is_in_range:
        last, log_weight = _root_of_best_tree(shifted)
        found = _eliminated(shifted, space, last, REAL if log_weight > SAFE_LOG else WIDE)
    found = found.in_range()
    if found.shifted_log_z == -np.inf:
        raise DeptreeError("no tree has a positive weight", "Allow more arcs")
    return found


def _root_of_best_tree(shifted: Shifted) -> tuple[int, float]:
    """A word that reaches all others, by arcs as heavy as can be; the log-weight of the tree that they make."""
    heads = np.empty(len(shifted.log_weights) - 1, dtype=np.int32)
    log_weight = best_tree(shifted.log_weights, True, heads)
    return int(heads.argmin()) + 1, float(log_weight)


def _eliminated(shifted: Shifted, space: Rules, last: int, kind: Kind) -> Elimination:
    """The factors in one kind of numbers."""
    weights = kind.exp(shifted.log_weights)
    factors, pivots, (log_z, held) = _factors(weights, last, space, kind.zeros, len(shifted.log_weights))
    return Elimination(space, shifted, log_z, kind, weights, last, factors, pivots, held)


def _factors(weights: Any, last: int, space: Rules, zeros: Zeros, nodes: int) -> tuple[Any, Any, tuple[float, bool]]:
    """Factors, pivots, and log Z with whether these numbers held every term, of weights (n+1, n+1)."""
    factors, pivots = zeros((nodes, nodes)), zeros(nodes)
    workspace = zeros((3, WIDTH, nodes))
    return factors, pivots, kernel.factorise(weights, last, factors, pivots, workspace, space.single_root)
