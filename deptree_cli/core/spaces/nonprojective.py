"""Non-projective dependency trees: log-partition function, edge marginals, exact samples and the maximum arborescence.

Koo et al. 2007 sum over all trees by the determinant of a Laplacian (the Matrix-Tree theorem), which cancels
catastrophically on the peaked weights of trained parsers. Grassmann-Taksar-Heyman elimination of the words one by one
adds, multiplies and divides positive numbers only and keeps about fifteen digits. Where float64 itself would underflow,
the same sweep runs on numbers with a wider exponent (`kernels/numbers/wide.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Int, Integers, read_only
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.many_trees import blocks_to_fill, empty_heads
from deptree_cli.core.numbers import REAL, WIDE, Kind
from deptree_cli.core.spaces.base import ALL, TreeSpace
from deptree_cli.core.spaces.factorisation import ArcSweep, Factorisation, Zeros
from deptree_cli.core.spaces.feasibility import check_feasible, supported_arcs
from deptree_cli.core.spaces.rules import Rules
from deptree_cli.core.spaces.shifted import Shifted, shift
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels import elimination
from deptree_cli.kernels.budget import foresee


class NonProjective(TreeSpace):
    """Dependency trees (one ROOT arc) or spanning trees (one or more)."""

    kind = ALL

    def check_feasible(self, allowed: Bool) -> None:
        check_feasible(allowed, self)

    def support(self, allowed: Bool) -> Bool:
        """See `TreeSpace`; by reachability."""
        return supported_arcs(allowed, self)

    def factorise(self, log_scores: Float) -> Elimination:
        """See `TreeSpace`; O(n^3): n^3/3 multiply-adds.

        Raises:
            DeptreeError: no tree has a positive weight.
        """
        shifted = shift(log_scores, self)
        found = Elimination.of(shifted, self, int(shifted.log_weights[0].argmax()), REAL)
        if self.single_root and not found.in_range:
            from deptree_cli.kernels.numbers.operations import SAFE_LOG

            best, log_weight = self.maximum_tree(shifted.log_weights)
            root = int(best.argmin()) + 1  # reaches all other words, by arcs as heavy as can be
            found = Elimination.of(shifted, self, root, REAL if log_weight > SAFE_LOG else WIDE)
        found = found.or_wide()
        if found.shifted_log_z == -np.inf:
            raise DeptreeError("no tree has a positive weight", "Allow more arcs")
        return found

    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """See `TreeSpace`; Chu-Liu-Edmonds, with a single root Stanojevic and Cohen 2021. O(n^2)."""
        from deptree_cli.kernels.trees.best_tree import best_tree

        heads = np.empty(len(scores) - 1, dtype=np.int32)
        foresee(4.0 * scores.size)
        return heads, best_tree(read_only(scores.view()), self.single_root, heads)  # compiled for these alone

    def trees_in_order(self, scores: Float) -> Iterator[Heads]:
        """See `TreeSpace`; O(n^3) each."""
        from deptree_cli.core.spaces import lawler

        return lawler.trees_in_order(scores, self)


@dataclass(frozen=True, eq=False)
class Elimination(ArcSweep):
    """The factors of one sentence's distribution over non-projective trees; immutable, made by `factorise`.

    Attributes:
        final_word: the word that is eliminated last; it and word 1 have changed places in the factors.
        swept: factors and pivots, what `kernels/elimination/sweeps.py` makes of the weights.
    """

    final_word: int

    @classmethod
    def of(cls, shifted: Shifted, space: Rules, final_word: int, kind: Kind) -> Elimination:
        """Eliminate the words in one kind of numbers."""
        weights = kind.exp(shifted.log_weights)
        swept, (log_z, in_range) = _eliminated(weights, space, final_word, kind.zeros, len(shifted.log_weights))
        return cls(space, shifted, log_z, kind, in_range, weights, swept, final_word)

    def _in(self, kind: Kind) -> Elimination:
        return Elimination.of(self.shifted, self.space, self.final_word, kind)

    def _forward(self, weights: Any, zeros: Zeros) -> Any:
        return _eliminated(weights, self.space, self.final_word, zeros, self.n + 1)[0]

    def _backward(self, weights: Any, swept: Any, zeros: Zeros) -> tuple[Any, bool]:
        square = self.n + 1, self.n + 1
        adjoints, found, workspace = zeros(square), zeros(square), zeros((3, elimination.panels.WIDTH, self.n + 1))
        given = weights, self.final_word, *swept, adjoints, workspace, self.space.single_root
        return found, elimination.marginals.arc_marginals(*given, found)

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0. O(n^2), nothing subtracted, under the single-root constraint."""
        return self.kind.floats(self._root_products()) if self.space.single_root else self.marginals()[0]

    def log_root_marginals(self) -> Float:
        """log P(ROOT -> word), shape (n+1,): single root only; finite for every possible root, however unlikely."""
        return WIDE.log(self.in_wide_numbers._root_products())

    def _root_products(self) -> Any:
        """P(ROOT -> word), (n+1,), in this kind of numbers: single root only."""
        found = self.kind.zeros(self.n + 1)
        elimination.root_arcs.root_products(self.weights, self.final_word, *self.swept, found)
        return found

    def sample(self, size: int, rng: np.random.Generator) -> Integers:
        heads, state = empty_heads(size, self.n), kernel_state(rng)
        for _, block in blocks_to_fill(heads):
            self._tables.draw(np.zeros(len(block), dtype=np.int64), state, block)
        return heads

    @cached_property
    def _tables(self) -> EliminationTables:
        return EliminationTables(self)


def _eliminated(
    weights: Any, space: Rules, final_word: int, zeros: Zeros, nodes: int
) -> tuple[Any, tuple[float, bool]]:
    """Factors and pivots of weights (n+1, n+1); and log Z, with whether the numbers were in range."""
    factors, pivots, workspace = zeros((nodes, nodes)), zeros(nodes), zeros((3, elimination.panels.WIDTH, nodes))
    found = elimination.marginals.factorise(weights, final_word, factors, pivots, workspace, space.single_root)
    return (factors, pivots), found


class EliminationTables:
    """An elimination's factors and weights as the sampler wants them, O(n^2).

    Under the single-root constraint no pivot depends on ROOT's arcs: trees of a given root cost one sweep of their
    weights.
    """

    def __init__(self, whole: Elimination) -> None:
        kind, given = whole.kind, (*whole.swept, whole.weights)
        factors, pivots, weights = (kind.each(np.copy, part) for part in given)
        elimination.marginals.swap_words(weights, whole.final_word, 1)
        across = kind.zeros((whole.n + 1, whole.n + 1))
        elimination.sampler.transpose(factors, across, whole.n + 1)
        self._given = factors, pivots, across, weights, whole.final_word, whole.space.single_root

    def draw(self, roots: Int, state: Any, heads: Heads) -> None:
        """Fill heads (k, n) with independent trees; roots (k,): the words that they hang on, or 0 where it may be any.

        state: of a kernel's generator. Once a root was given, no later one may be 0. A root that has next to no
        probability may need wider numbers than these: not one that was drawn.
        """
        elimination.sampler.sample_trees(*self._given, roots, state, heads)


def elimination_of(factorisation: Factorisation) -> Elimination:
    """The factorisation of a distribution over non-projective trees, for samplers that serve no others."""
    assert isinstance(factorisation, Elimination)
    return factorisation
