"""One factorisation behind log Z, marginals and exact samples, whatever the weights (Grassmann-Taksar-Heyman
elimination).

Koo et al. 2007 invert a Laplacian, which cancels catastrophically on the peaked weights of trained parsers; eliminating
the words one by one adds, multiplies and divides positive numbers only and keeps about fifteen digits. Where float64
itself would underflow, the same sweep runs on numbers with a wider exponent (`kernels/wide.py`).
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.numbers import REAL, SAFE_LOG, WIDE, Float, Kind, shift_columns
from deptree_cli.core.streams import kernel_state
from deptree_cli.kernels import elimination as kernel
from deptree_cli.kernels.arithmetic import Dual
from deptree_cli.kernels.dual import arc_covariances
from deptree_cli.kernels.elimination_sampler import normalise, put_back
from deptree_cli.kernels.wide import wide_log

Heads = NDArray[np.int32]


class Elimination:
    """The factors of one sentence's tree distribution.

    Args:
        log_scores: shape (n+1, n+1), ``[head, dependent]``, as a `Sentence` holds them.
        single_root: dependency trees (True) or spanning trees (False).

    Attributes:
        log_z: the natural logarithm of the partition function, the sum of all trees' weights.
        log_z_shifted: the same of the weights with columns shifted (`numbers.shift_columns`).

    Construction is O(n^3) (n^3/3 multiply-adds).
    """

    def __init__(self, log_scores: Float, single_root: bool = True) -> None:
        self.single_root = single_root
        shifted, self._constant = shift_columns(log_scores, single_root)
        self.n = len(log_scores) - 1
        self._log_weights = np.concatenate((shifted[1:, 1:], shifted[:1, 1:]))  # (n+1, n), ROOT last: the kernels' way
        if self._factorise(REAL) < SAFE_LOG:
            self._factorise(WIDE)
        if self.log_z == -np.inf:
            raise DeptreeError("no tree has a positive weight", "Allow more arcs")

    @property
    def is_wide(self) -> bool:
        """Whether float64's range did not suffice."""
        return self._kind is WIDE

    def _factorise(self, kind: Kind) -> float:
        """Eliminate all words in one kind of numbers; the second result of `kernel.eliminate`."""
        self._kind = kind
        self._weights = kind.exp(self._log_weights)
        self._factors = kind.each(np.copy, self._weights)
        self._pivots = kind.zeros(self.n)
        self._order = np.arange(self.n)
        log_z, depth = kernel.eliminate(self._factors, self._pivots, self._order, self.single_root)
        self.log_z_shifted = log_z
        self.log_z = log_z + self._constant
        return float(depth)

    @cached_property
    def in_wide_numbers(self) -> Elimination:
        """The same factorisation in wide numbers."""
        wide = self._copy()
        wide._factorise(WIDE)
        return wide

    def _copy(self) -> Elimination:
        """A copy without what was derived from the factors."""
        twin = copy.copy(self)
        for name in ("_sampling_tables", "in_wide_numbers"):
            twin.__dict__.pop(name, None)
        return twin

    def marginals(self) -> Float:
        """P(head -> dependent) for every arc, shape (n+1, n+1); the columns of words sum to 1. O(n^3).

        The sweep backwards is the reverse-mode derivative of log Z (Zmigrod et al. 2021b, section 3), times the
        weights.
        """
        adjoints = self._kind.zeros((self.n + 1, self.n))
        kernel.reverse(self._factors, self._pivots, self._order, adjoints, self.single_root)
        marginals = np.zeros((self.n + 1, self.n + 1))
        kernel.arc_marginals(self._weights, adjoints, self._order, marginals)
        if self._kind is REAL and not (np.abs(marginals[:, 1:].sum(axis=0) - 1.0) < 1e-9).all():
            return self.in_wide_numbers.marginals()  # an adjoint left the range of float64
        return marginals

    def arc_covariance(self, values: Float) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc, (n+1, n+1); 0 for forbidden arcs. O(n^3).

        values: (n+1, n+1) finite; those of forbidden arcs do not count. It is the derivative of the marginals in that
        direction, by the two sweeps on dual numbers: behind every gradient of Zmigrod et al. 2021b.
        """
        direction = np.concatenate((values[1:, 1:], values[:1, 1:]))
        weights = Dual(self._weights, self._kind.scaled(self._weights, direction))
        factors = Dual(*(self._kind.each(np.copy, part) for part in weights))
        pivots = Dual(self._kind.zeros(self.n), self._kind.zeros(self.n))
        order = np.arange(self.n)
        kernel.eliminate(factors, pivots, order, self.single_root)
        shape = self.n + 1, self.n
        adjoints = Dual(self._kind.zeros(shape), self._kind.zeros(shape))
        kernel.reverse(factors, pivots, order, adjoints, self.single_root)
        covariances = np.zeros((self.n + 1, self.n + 1))
        arc_covariances(weights, adjoints, order, covariances)
        if self._kind is REAL and not np.isfinite(covariances).all():
            return self.in_wide_numbers.arc_covariance(values)
        return covariances

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0. O(n^2), nothing subtracted, under the single-root constraint."""
        if not self.single_root:
            return self.marginals()[0]
        adjoints = self._kind.zeros(self.n)
        kernel.root_adjoints(self._factors, self._pivots, self._order, adjoints)
        result = np.zeros(self.n + 1)
        kernel.root_marginals(self._weights, adjoints, self._order, result)
        return result

    def log_root_marginals(self) -> Float:
        """log P(ROOT -> word), shape (n+1,): single root only; finite for every possible root, however unlikely."""
        wide = self.in_wide_numbers
        adjoints = WIDE.zeros(self.n)
        kernel.root_adjoints(wide._factors, wide._pivots, wide._order, adjoints)
        result = np.full(self.n + 1, -np.inf)
        result[wide._order + 1] = self._log_weights[self.n, wide._order] + wide_log(adjoints)
        return result

    def given_root(self, word: int) -> Elimination:
        """The distribution of the single-root trees with root `word`: O(n^2), for no pivot depends on ROOT's arcs."""
        given = self._copy()
        given._log_weights = self._log_weights.copy()
        given._log_weights[self.n] = -np.inf
        given._log_weights[self.n, word - 1] = 0.0
        given._weights = self._kind.exp(given._log_weights)
        given._factors = self._kind.each(np.copy, self._factors)
        log_z = kernel.sweep_root(given._factors, given._pivots, given._order, given._weights)
        if self._kind is REAL and log_z - (self.log_z - self._constant) < SAFE_LOG:
            return self.in_wide_numbers.given_root(word)
        given._constant = self._constant + self._log_weights[self.n, word - 1]
        given.log_z_shifted = log_z
        given.log_z = log_z + given._constant
        if given.log_z == -np.inf:
            raise DeptreeError(f"no tree has word {word} as its root", "Allow more arcs or choose another root")
        return given

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, shape (size, n): the head of each word, 0 for ROOT. O(n^2) each at worst."""
        heads = np.empty((size, self.n), dtype=np.int32)
        normalised, weights = self._sampling_tables
        put_back(self._factors, normalised, weights, self._order, self.single_root, kernel_state(rng), heads)
        return heads

    @cached_property
    def _sampling_tables(self) -> tuple[Any, Any]:
        """Normalised factors, and the weights in the order of the factors."""
        normalised = self._kind.zeros((self.n, self.n + 1))
        normalise(self._factors, self._pivots, self._order, normalised)
        rows = np.append(self._order, self.n)
        return normalised, self._kind.each(lambda part: part[rows][:, self._order].copy(), self._weights)
