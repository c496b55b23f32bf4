"""One factorisation behind log Z, marginals and exact samples, whatever the weights (Grassmann-Taksar-Heyman
elimination).

Koo et al. 2007 invert a Laplacian, which cancels catastrophically on the peaked weights of trained parsers; eliminating
the words one by one adds, multiplies and divides positive numbers only and keeps about fifteen digits. Where float64
itself would underflow, the same sweep runs on numbers with a wider exponent (`kernels/numbers/wide.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.numbers import PRECISE, REAL, SAFE_LOG, WIDE, Kind
from deptree_cli.core.shifted import Shifted, shift
from deptree_cli.core.spaces.factorisation import Factorisation, PreciseSums
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels.elimination import marginals as kernel
from deptree_cli.kernels.elimination.panels import WIDTH
from deptree_cli.kernels.elimination.root_arcs import eliminate_root, fix_root, root_products
from deptree_cli.kernels.elimination.sampler import sample_trees, transpose
from deptree_cli.kernels.elimination.sweeps import log_of_product, product
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.pairs import multiple_of_radix, pair_add, pair_log
from deptree_cli.kernels.numbers.precise import pairs_of, precise_scaled
from deptree_cli.kernels.numbers.wide import wide_log
from deptree_cli.kernels.trees.best_tree import best_tree

Zeros = Callable[[Any], Any]  # a shape -> an array of zeros


@dataclass(frozen=True, eq=False)
class Elimination(Factorisation):
    """The factors of one sentence's distribution over non-projective trees; immutable, made by `factorise`.

    Attributes:
        kind: the numbers of the arrays that follow.
        weights: exp of the shifted scores, (n+1, n+1).
        last: the word that is eliminated last.
        factors, pivots: what `kernels/elimination/sweeps.py` makes of them, `last` and word 1 having changed places.
    """

    kind: Kind
    weights: Any
    last: int
    factors: Any
    pivots: Any

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.shifted.high) - 1

    @property
    def log_z_shifted(self) -> float:
        """The logarithm of the partition function of the shifted weights."""
        return self.shifted_log_z[0]

    @property
    def is_wide(self) -> bool:
        """Whether float64's range did not suffice."""
        return self.kind == WIDE

    @cached_property
    def in_wide_numbers(self) -> Elimination:
        """The same factorisation in wide numbers."""
        return self if self.is_wide else _eliminated(self.shifted, self.single_root, self.last, WIDE)[0]

    def precise(self, exponent: float = 1.0) -> PreciseSums:
        """log Z and marginals of these weights raised to a power, with twice the digits: 20 to 80 times as slow."""
        weights = PRECISE.exp(self.shifted.high, self.shifted.low, exponent)
        factors, pivots, _ = _factors(weights, self.last, self.single_root, PRECISE.zeros, self.n + 1)
        marginals, _ = _marginals(weights, self.last, factors, pivots, self.single_root, PRECISE.zeros, self.n + 1)
        total = product(pivots)
        log_z = pair_log(tuple(map(float, total[0])))
        return PreciseSums(log_z, float(total[1]), pairs_of(marginals))

    def marginals(self) -> Float:
        """P(head -> dependent) for every arc, shape (n+1, n+1); the columns of words sum to 1. O(n^3).

        The sweep backwards is the reverse-mode derivative of log Z (Zmigrod et al. 2021b, section 4), times the
        weights.
        """
        factors = self.weights, self.last, self.factors, self.pivots
        marginals, usable = _marginals(*factors, self.single_root, self.kind.zeros, self.n + 1)
        if not self.is_wide and not usable:
            return self.in_wide_numbers.marginals()  # an adjoint left the range of float64
        return self.kind.floats(marginals)

    def arc_covariance(self, values: Float, rest: Float | None = None) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc, (n+1, n+1); 0 for forbidden arcs. O(n^3).

        values, rest: (n+1, n+1) finite; those of forbidden arcs do not count. It is the derivative of the marginals in
        that direction, by the two sweeps on dual numbers: behind every gradient of Zmigrod et al. 2021b.
        """
        if rest is not None:
            weights = PRECISE.exp(self.shifted.high, self.shifted.low)
            return self._covariances(Dual(weights, precise_scaled(weights, values, rest)), PRECISE)
        covariances = self._covariances(Dual(self.weights, self.kind.scaled(self.weights, values)), self.kind)
        if not self.is_wide and not np.isfinite(covariances).all():
            return self.in_wide_numbers.arc_covariance(values)
        return covariances

    def _covariances(self, weights: Dual, kind: Kind) -> Float:
        """The derivatives of the marginals, (n+1, n+1), from weights and theirs, of one kind."""

        def zeros(shape: Any) -> Dual:
            return Dual(kind.zeros(shape), kind.zeros(shape))

        factors, pivots, _ = _factors(weights, self.last, self.single_root, zeros, self.n + 1)
        found, _ = _marginals(weights, self.last, factors, pivots, self.single_root, zeros, self.n + 1)
        return kind.floats(found.tangent)

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0. O(n^2), nothing subtracted, under the single-root constraint."""
        return self.kind.floats(self._root_products()) if self.single_root else self.marginals()[0]

    def log_root_marginals(self) -> Float:
        """log P(ROOT -> word), shape (n+1,): single root only; finite for every possible root, however unlikely."""
        return wide_log(self.in_wide_numbers._root_products())

    def _root_products(self) -> Any:
        """P(ROOT -> word), (n+1,), in this kind of numbers: single root only."""
        found = self.kind.zeros(self.n + 1)
        root_products(self.weights, self.last, self.factors, self.pivots, found)
        return found

    def given_root(self, word: int) -> Elimination:
        """The distribution of the single-root trees with root `word`: O(n^2), for no pivot depends on ROOT's arcs.

        Raises:
            DeptreeError: there is no such tree.
        """
        shifted = self.shifted
        own = shifted.high[0, word], shifted.low[0, word]
        high, low = shifted.high.copy(), shifted.low.copy()
        high[0], low[0] = -np.inf, 0.0
        high[0, word] = 0.0
        weights, factors, pivots = (self.kind.each(np.copy, part) for part in (self.weights, self.factors, self.pivots))
        fix_root(weights, word)
        fix_root(factors, self.place(word))
        eliminate_root(factors, pivots)
        log_z = log_of_product(pivots)[0]
        if not self.is_wide and log_z - self.log_z_shifted < SAFE_LOG:
            return self.in_wide_numbers.given_root(word)
        if log_z == -np.inf or own[0] == -np.inf:
            raise DeptreeError(f"no tree has word {word} as its root", "Allow more arcs or choose another root")
        given = Shifted(high, low, pair_add(shifted.constant, own))
        log_total = _log_of_pivots(pivots, log_z, self.kind)
        return replace(self, shifted=given, weights=weights, factors=factors, pivots=pivots, shifted_log_z=log_total)

    def place(self, word: int) -> int:
        """Where a word stands in the factors."""
        return {1: self.last, self.last: 1}.get(word, word)

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, shape (size, n): the head of each word, 0 for ROOT. O(n^2) each at worst."""
        heads = np.empty((size, self.n), dtype=np.int32)
        self._tables.draw(np.zeros(size, dtype=np.int64), kernel_state(rng), heads)
        return heads

    @cached_property
    def _tables(self) -> Tables:
        return Tables(self)


class Tables:
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
        self._given = factors, pivots, across, weights, whole.last, whole.single_root

    def draw(self, roots: Int, state: Any, heads: Heads) -> None:
        """Fill heads (k, n) with independent trees; roots (k,): the words that they hang on, or 0 where it may be any.

        state: of a kernel's generator. Once a root was given, no later one may be 0. A root that has next to no
        probability (`Elimination.given_root`) may need wider numbers than these: not one that was drawn.
        """
        sample_trees(*self._given, roots, state, heads)


def elimination_of(factorisation: Factorisation) -> Elimination:
    """The factorisation of a distribution over non-projective trees, for samplers that serve no others."""
    assert isinstance(factorisation, Elimination)
    return factorisation


def factorise(log_scores: Float, single_root: bool, rest: Float | None = None) -> Elimination:
    """Eliminate the words of checked log-scores (n+1, n+1), ``[head, dependent]``. O(n^3): n^3/3 multiply-adds.

    Raises:
        DeptreeError: no tree has a positive weight.
    """
    shifted = shift(log_scores, single_root, rest)
    last = int(shifted.high[0].argmax())
    found, depth = _eliminated(shifted, single_root, last, REAL)
    if depth < SAFE_LOG and single_root:
        last, log_weight = _root_of_best_tree(shifted)
        if log_weight > SAFE_LOG:
            found, depth = _eliminated(shifted, single_root, last, REAL)
    if depth < SAFE_LOG:
        found, _ = _eliminated(shifted, single_root, last, WIDE)
    if found.log_z_shifted == -np.inf:
        raise DeptreeError("no tree has a positive weight", "Allow more arcs")
    return found


def _root_of_best_tree(shifted: Shifted) -> tuple[int, float]:
    """A word that reaches all others, by arcs as heavy as can be; the log-weight of the tree that they make."""
    heads = np.empty(len(shifted.high) - 1, dtype=np.int32)
    log_weight = best_tree(shifted.high, True, heads)
    return int(heads.argmin()) + 1, float(log_weight)


def _eliminated(shifted: Shifted, single_root: bool, last: int, kind: Kind) -> tuple[Elimination, float]:
    """The factors in one kind of numbers, and the second result of `eliminate`."""
    weights = kind.exp(shifted.high, shifted.low)
    factors, pivots, (log_z, depth) = _factors(weights, last, single_root, kind.zeros, len(shifted.high))
    log_total = _log_of_pivots(pivots, log_z, kind)
    return Elimination(single_root, shifted, log_total, kind, weights, last, factors, pivots), depth


def _factors(
    weights: Any, last: int, single_root: bool, zeros: Zeros, nodes: int
) -> tuple[Any, Any, tuple[float, float]]:
    """Factors, pivots, and log Z with its depth, of weights (n+1, n+1)."""
    factors, pivots = zeros((nodes, nodes)), zeros(nodes)
    workspace = zeros((3, WIDTH, nodes))
    return factors, pivots, kernel.factorise(weights, last, factors, pivots, workspace, single_root)


def _marginals(
    weights: Any, last: int, factors: Any, pivots: Any, single_root: bool, zeros: Zeros, nodes: int
) -> tuple[Any, bool]:
    """Marginals (n+1, n+1) of factors, and whether those of each word sum to 1."""
    adjoints, found, workspace = zeros((nodes, nodes)), zeros((nodes, nodes)), zeros((3, WIDTH, nodes))
    usable = kernel.arc_marginals(weights, last, factors, pivots, adjoints, workspace, single_root, found)
    return found, usable


def _log_of_pivots(pivots: Any, log_z: float, kind: Kind) -> tuple[float, float]:
    """log Z as a pair: where it may be as large as a mask, the exponent of wide numbers says it exactly."""
    if kind is not WIDE or log_z == -np.inf:
        return log_z, 0.0
    mantissa, exponent = product(pivots)
    return multiple_of_radix((float(np.log(mantissa)), 0.0), float(exponent))
