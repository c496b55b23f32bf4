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

    Construction is O(n^3) (n^3/3 multiply-adds).
    """

    def __init__(self, log_scores: Float, single_root: bool = True) -> None:
        self.single_root = single_root
        self._shifted, self._constant = shift_columns(log_scores, single_root)
        if self._factorise(REAL) < SAFE_LOG:
            self._factorise(WIDE)
        if self.log_z == -np.inf:
            raise DeptreeError("no tree has a positive weight", "Allow more arcs")

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self._shifted) - 1

    @property
    def is_wide(self) -> bool:
        """Whether float64's range did not suffice."""
        return self._kind is WIDE

    def _factorise(self, kind: Kind) -> float:
        self._kind = kind
        self._A = kind.exp(_root_last(self._shifted))
        self._S = kind.zeros(self.n)
        self._order = np.arange(self.n)
        log_z, depth = kernel.eliminate(self._A, self._S, self._order, self.single_root)
        self.log_z = log_z + self._constant
        return float(depth)

    @cached_property
    def in_wide_numbers(self) -> Elimination:
        """The same factorisation in wide numbers."""
        wide = copy.copy(self)
        wide.__dict__.pop("_sampling_tables", None)
        wide._factorise(WIDE)
        return wide

    def marginals(self) -> Float:
        """P(head -> dependent) for every arc, shape (n+1, n+1); the columns of words sum to 1. O(n^3).

        The sweep backwards is the reverse-mode derivative of log Z (Zmigrod et al. 2021b, section 3), times the
        weights.
        """
        adjoints = self._kind.zeros((self.n + 1, self.n))
        kernel.reverse(self._A, self._S, self._order, adjoints, self.single_root)
        with np.errstate(invalid="ignore", over="ignore"):
            by_position = self._kind.product(self._weights_by_position, adjoints)
        marginals = self._by_node(np.where(self._log_weights_by_position == -np.inf, 0.0, by_position))
        if self._kind is REAL and not np.allclose(marginals[:, 1:].sum(axis=0), 1.0, rtol=0.0, atol=1e-9):
            return self.in_wide_numbers.marginals()  # an adjoint left the range of float64
        return np.maximum(marginals, 0.0)  # -1e-17 where one subtraction rounded down

    def root_marginals(self) -> Float:
        """P(ROOT -> word), shape (n+1,), entry 0 is 0. O(n^2), nothing subtracted, under the single-root constraint."""
        if not self.single_root:
            return self.marginals()[0]
        adjoints = self._kind.zeros(self.n)
        kernel.root_adjoints(self._A, self._S, self._order, adjoints)
        root_weights = self._kind.exp(self._log_weights_by_position[self.n])
        marginals = np.zeros(self.n + 1)
        marginals[self._order + 1] = self._kind.product(root_weights, adjoints)
        return marginals

    def log_root_marginals(self) -> Float:
        """log P(ROOT -> word), shape (n+1,): single root only; finite for every possible root, however unlikely."""
        wide = self.in_wide_numbers
        adjoints = WIDE.zeros(self.n)
        kernel.root_adjoints(wide._A, wide._S, wide._order, adjoints)
        result = np.full(self.n + 1, -np.inf)
        result[wide._order + 1] = wide._log_weights_by_position[self.n] + wide_log(adjoints)
        return result

    def given_root(self, word: int) -> Elimination:
        """The distribution of the single-root trees with root `word`: O(n^2), for no pivot depends on ROOT's arcs."""
        given = copy.copy(self)
        given.__dict__.pop("_sampling_tables", None)
        given._shifted = self._shifted.copy()
        given._shifted[0] = -np.inf
        given._shifted[0, word] = 0.0
        given._constant = self._constant + self._shifted[0, word]
        given._A = copy.deepcopy(self._A)
        root_row = self._kind.exp(given._log_weights_by_position[self.n])
        _put_row(given._A, self.n, root_row)
        log_z = kernel.sweep_root(given._A, given._S, given._order)
        if self._kind is REAL and log_z - (self.log_z - self._constant) < SAFE_LOG:
            return self.in_wide_numbers.given_root(word)
        given.log_z = log_z + given._constant
        if given.log_z == -np.inf:
            raise DeptreeError(f"no tree has word {word} as its root", "Allow more arcs or choose another root")
        return given

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, shape (size, n): the head of each word, 0 for ROOT. O(n^2) each at worst."""
        heads = np.empty((size, self.n), dtype=np.int32)
        normalised, weights = self._sampling_tables
        put_back(self._A, normalised, weights, self._order, self.single_root, kernel_state(rng), heads)
        return heads

    @cached_property
    def _sampling_tables(self) -> tuple[Any, Any]:
        normalised = self._kind.zeros((self.n, self.n + 1))
        normalise(self._A, self._S, self._order, normalised)
        return normalised, self._weights_by_position

    @property
    def _log_weights_by_position(self) -> Float:
        """The shifted log-scores, (n+1, n), reordered like the factors: ROOT's row last."""
        rows = np.append(self._order, self.n)
        return np.ascontiguousarray(_root_last(self._shifted)[rows][:, self._order])

    @property
    def _weights_by_position(self) -> Any:
        return self._kind.exp(self._log_weights_by_position)

    def _by_node(self, by_position: Float) -> Float:
        """(n+1, n) by position -> (n+1, n+1) by node."""
        by_node = np.zeros((self.n + 1, self.n + 1))
        by_node[np.ix_(np.append(self._order + 1, 0), self._order + 1)] = by_position
        return by_node


def _root_last(matrix: Float) -> Float:
    """(n+1, n+1) with ROOT first -> (n+1, n): its row last, its column gone, as the kernels have it."""
    return np.ascontiguousarray(np.roll(matrix, -1, axis=0)[:, 1:])


def _put_row(array: Any, i: int, values: Any) -> None:
    if isinstance(array, tuple):
        for part, value in zip(array, values, strict=True):
            part[i] = value
    else:
        array[i] = values
