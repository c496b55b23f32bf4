"""One factorisation behind log Z, marginals and exact samples, whatever the weights (Grassmann-Taksar-Heyman
elimination).

Koo et al. 2007 invert a Laplacian, which cancels catastrophically on the peaked weights of trained parsers; eliminating
the words one by one adds, multiplies and divides positive numbers only and keeps about fifteen digits. Where float64
itself would underflow, the same sweep runs on numbers with a wider exponent (`kernels/numbers/wide.py`).
"""

from __future__ import annotations

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
from deptree_cli.kernels.numbers.dual import Dual
from deptree_cli.kernels.numbers.pairs import multiple_of_radix, pair_add, pair_log
from deptree_cli.kernels.numbers.precise import pairs_of, precise_scaled
from deptree_cli.kernels.numbers.wide import wide_log
from deptree_cli.kernels.trees import elimination as kernel
from deptree_cli.kernels.trees.elimination_sampler import normalise, sample_trees


@dataclass(frozen=True, eq=False)
class Elimination(Factorisation):
    """The factors of one sentence's distribution over non-projective trees; immutable, made by `factorise`.

    Attributes:
        kind: the numbers of the arrays that follow.
        weights: exp of the shifted scores, (n+1, n); words first and ROOT last, as kernels want it.
        factors, pivots, order: what `kernels/trees/elimination.py` makes of them.
    """

    kind: Kind
    weights: Any
    factors: Any
    pivots: Any
    order: Int

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.order)

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
        return self if self.is_wide else _eliminated(self.shifted, self.single_root, WIDE)[0]

    def precise(self, exponent: float = 1.0) -> PreciseSums:
        """log Z and marginals of these weights raised to a power, with twice the digits: 20 to 80 times as slow."""
        shifted = self.shifted
        weights = PRECISE.exp(_by_kernel(shifted.high), _by_kernel(shifted.low), exponent)
        factors, pivots, order = _factors(weights, self.n, self.single_root, PRECISE)[:3]
        total = kernel.product_of_pivots(factors, pivots)
        adjoints = PRECISE.zeros((self.n + 1, self.n))
        kernel.reverse(factors, pivots, order, adjoints, self.single_root)
        marginals = PRECISE.zeros((self.n + 1, self.n + 1))
        kernel.arc_products(weights, adjoints, order, marginals)
        log_z = pair_log((float(total.high), float(total.low)))
        return PreciseSums(log_z, float(total.exponent), pairs_of(marginals))

    def marginals(self) -> Float:
        """P(head -> dependent) for every arc, shape (n+1, n+1); the columns of words sum to 1. O(n^3).

        The sweep backwards is the reverse-mode derivative of log Z (Zmigrod et al. 2021b, section 4), times the
        weights.
        """
        adjoints = self.kind.zeros((self.n + 1, self.n))
        kernel.reverse(self.factors, self.pivots, self.order, adjoints, self.single_root)
        products = self.kind.zeros((self.n + 1, self.n + 1))
        kernel.arc_products(self.weights, adjoints, self.order, products)
        marginals = np.maximum(self.kind.floats(products), 0.0)  # -1e-17 where the subtraction rounded
        if not self.is_wide and not (np.abs(marginals[:, 1:].sum(axis=0) - 1.0) < 1e-9).all():
            return self.in_wide_numbers.marginals()  # an adjoint left the range of float64
        return marginals

    def arc_covariance(self, values: Float, rest: Float | None = None) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc, (n+1, n+1); 0 for forbidden arcs. O(n^3).

        values, rest: (n+1, n+1) finite; those of forbidden arcs do not count. It is the derivative of the marginals in
        that direction, by the two sweeps on dual numbers: behind every gradient of Zmigrod et al. 2021b.
        """
        if rest is not None:
            weights = PRECISE.exp(_by_kernel(self.shifted.high), _by_kernel(self.shifted.low))
            tangents = precise_scaled(weights, _by_kernel(values), _by_kernel(rest))
            return _covariances(Dual(weights, tangents), self.single_root, PRECISE)
        tangents = self.kind.scaled(self.weights, _by_kernel(values))
        covariances = _covariances(Dual(self.weights, tangents), self.single_root, self.kind)
        if not self.is_wide and not np.isfinite(covariances).all():
            return self.in_wide_numbers.arc_covariance(values)
        return covariances

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0. O(n^2), nothing subtracted, under the single-root constraint."""
        if not self.single_root:
            return self.marginals()[0]
        adjoints = self.kind.zeros(self.n)
        kernel.root_adjoints(self.factors, self.pivots, self.order, adjoints)
        result = np.zeros(self.n + 1)
        kernel.root_marginals(self.weights, adjoints, self.order, result)
        return result

    def log_root_marginals(self) -> Float:
        """log P(ROOT -> word), shape (n+1,): single root only; finite for every possible root, however unlikely."""
        wide = self.in_wide_numbers
        adjoints = WIDE.zeros(self.n)
        kernel.root_adjoints(wide.factors, wide.pivots, wide.order, adjoints)
        result = np.full(self.n + 1, -np.inf)
        mantissas, exponents = (part[-1][wide.order] for part in wide.weights)
        result[wide.order + 1] = wide_log((mantissas * adjoints[0], exponents + adjoints[1]))
        return result

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
        weights, factors = self.kind.exp(_by_kernel(high), _by_kernel(low)), self.kind.each(np.copy, self.factors)
        log_z = kernel.sweep_root(factors, self.pivots, self.order, weights)
        if not self.is_wide and log_z - self.log_z_shifted < SAFE_LOG:
            return self.in_wide_numbers.given_root(word)
        if log_z == -np.inf or own[0] == -np.inf:
            raise DeptreeError(f"no tree has word {word} as its root", "Allow more arcs or choose another root")
        given = Shifted(high, low, pair_add(shifted.constant, own))
        log_total = _log_of_product(factors, self.pivots, log_z, self.kind)
        return replace(self, shifted=given, weights=weights, factors=factors, shifted_log_z=log_total)

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, shape (size, n): the head of each word, 0 for ROOT. O(n^2) each at worst."""
        heads = np.empty((size, self.n), dtype=np.int32)
        normalised, weights = self._sampling_tables
        sample_trees(self.factors, normalised, weights, self.order, self.single_root, kernel_state(rng), heads)
        return heads

    @cached_property
    def _sampling_tables(self) -> tuple[Any, Any]:
        """Normalised factors, and the weights in the order of the factors."""
        normalised = self.kind.zeros((self.n, self.n + 1))
        normalise(self.factors, self.pivots, self.order, normalised)
        rows = np.append(self.order, self.n)
        return normalised, self.kind.each(lambda part: part[rows][:, self.order].copy(), self.weights)


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
    found, depth = _eliminated(shifted, single_root, REAL)
    if depth < SAFE_LOG:
        found, _ = _eliminated(shifted, single_root, WIDE)
    if found.log_z_shifted == -np.inf:
        raise DeptreeError("no tree has a positive weight", "Allow more arcs")
    return found


def _eliminated(shifted: Shifted, single_root: bool, kind: Kind) -> tuple[Elimination, float]:
    """The factors in one kind of numbers, and the second result of `kernel.eliminate`."""
    weights = kind.exp(_by_kernel(shifted.high), _by_kernel(shifted.low))
    factors, pivots, order, log_z, depth = _factors(weights, len(shifted.high) - 1, single_root, kind)
    log_total = _log_of_product(factors, pivots, log_z, kind)
    return Elimination(single_root, shifted, log_total, kind, weights, factors, pivots, order), depth


def _covariances(weights: Dual, single_root: bool, kind: Kind) -> Float:
    """The derivatives of the marginals, (n+1, n+1), from weights (n+1, n) and theirs, of one kind."""

    def zeros(*shape: int) -> Dual:
        return Dual(kind.zeros(shape), kind.zeros(shape))

    n: int = kind.floats(weights.value).shape[1]
    factors, pivots, order = Dual(*(kind.each(np.copy, part) for part in weights)), zeros(n), np.arange(n)
    kernel.eliminate(factors, pivots, order, single_root)
    adjoints, products = zeros(n + 1, n), zeros(n + 1, n + 1)
    kernel.reverse(factors, pivots, order, adjoints, single_root)
    kernel.arc_products(weights, adjoints, order, products)
    return kind.floats(products.tangent)


def _factors(weights: Any, n: int, single_root: bool, kind: Kind) -> tuple[Any, Any, Int, float, float]:
    """Factors, pivots, order, log Z and depth of weights in the order that kernels want."""
    factors, pivots, order = kind.each(np.copy, weights), kind.zeros(n), np.arange(n)
    log_z, depth = kernel.eliminate(factors, pivots, order, single_root)
    return factors, pivots, order, log_z, depth


def _log_of_product(factors: Any, pivots: Any, log_z: float, kind: Kind) -> tuple[float, float]:
    """log Z as a pair: where it may be as large as a mask, the exponent of wide numbers says it exactly."""
    if kind is not WIDE or log_z == -np.inf:
        return log_z, 0.0
    mantissa, exponent = kernel.product_of_pivots(factors, pivots)
    return multiple_of_radix((float(np.log(mantissa)), 0.0), float(exponent))


def _by_kernel(by_node: Float) -> Float:
    """Scores (n+1, n+1) by node as kernels want them: (n+1, n), words first and ROOT last."""
    return np.concatenate((by_node[1:, 1:], by_node[:1, 1:]))
