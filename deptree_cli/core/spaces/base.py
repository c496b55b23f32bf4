"""What a tree space answers: the questions that samplers, sums, decoding and audits ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Integers
from deptree_cli.core.shifted import Shifted


@dataclass(frozen=True, eq=False)
class PreciseSums:
    """Sums over all trees with about 31 digits, for differences that cancel; of log-scores as they were shifted.

    Attributes:
        log_z: the logarithm of the partition function less `exponent` times 512 ln 2, a pair of numbers.
        exponent: an integer.
        marginals: P(head -> dependent), (n+1, n+1), as pairs: two arrays.
    """

    log_z: tuple[float, float]
    exponent: float
    marginals: tuple[Float, Float]


class Factorisation(Protocol):
    """What is worked out once from a sentence's log-scores, and never changes; shapes are as in `Elimination`."""

    @property
    def log_z(self) -> float:
        """The natural logarithm of the partition function."""

    @property
    def log_z_pair(self) -> tuple[float, float]:
        """The same as a pair of numbers: the second is what the first rounds off."""

    @property
    def shifted(self) -> Shifted:
        """The log-scores that it was made of, shifted."""

    @property
    def is_wide(self) -> bool:
        """Whether float64's range did not suffice."""

    @property
    def shifted_log_z(self) -> tuple[float, float]:
        """The logarithm of the partition function of the shifted scores, a pair of numbers."""

    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of trees, (k, n) heads -> (k,)."""

    def precise(self, exponent: float = 1.0) -> PreciseSums:
        """Sums with twice the digits, the weights raised to a power."""

    def marginals(self) -> Float:
        """P(head -> dependent), (n+1, n+1)."""

    def root_marginals(self) -> Float:
        """P(ROOT -> word), (n+1,)."""

    def arc_covariance(self, values: Float, rest: Float | None = None) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc, (n+1, n+1).

        Args:
            rest: what the values round off; they may then be as large as masks: twice the digits, 20 to 80 times as
                slow.
        """

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, (size, n)."""


@dataclass(frozen=True)
class TreeSpace(ABC):
    """A set of trees over the words of a sentence: an entry of `SPACES`.

    Attributes:
        name: in signatures and in the register of samplers.
        trees: what a single one is called in messages.
        single_root: whether exactly one arc leaves ROOT, or one or more.
        projective: whether no two arcs cross, words standing in a row behind ROOT.
    """

    name: str
    trees: str
    single_root: bool
    projective: bool = False

    @abstractmethod
    def contains(self, heads: Integers) -> Bool:
        """Whether each row of heads (k, n) of integers is a tree of this space, (k,)."""

    @abstractmethod
    def check_feasible(self, allowed: Bool) -> None:
        """Raise a DeptreeError unless some tree uses allowed arcs only; allowed: (n+1, n+1), ``[head, dependent]``."""

    @abstractmethod
    def support(self, allowed: Bool) -> Bool:
        """Which arcs some tree of allowed arcs contains, (n+1, n+1); there is a tree. Exact: no weights are used."""

    @abstractmethod
    def goes_beyond(self, other: TreeSpace, allowed: Bool) -> bool:
        """Whether some tree of allowed arcs is none of the other space's; there is a tree. Exact, as `support` is."""

    @abstractmethod
    def factorise(self, log_scores: Float, rest: Float | None = None) -> Factorisation:
        """Work out what every sum needs, from checked log-scores (n+1, n+1), and what they round off."""

    @abstractmethod
    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """The tree of the largest sum of scores (n+1, n+1), (n,), and that sum; -inf forbids."""

    @abstractmethod
    def best_trees(self, scores: Float, size: int) -> Heads:
        """The `size` trees of the largest sums of scores (n+1, n+1), best first, (k, n), k <= size; -inf forbids."""

    @abstractmethod
    def maximum_tree_of_pairs(self, high: Float, low: Float) -> tuple[Heads, tuple[float, float]]:
        """The same as `maximum_tree` of scores that are pairs, of any size."""
