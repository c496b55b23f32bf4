"""What a tree space answers: the questions that samplers, sums, decoding and audits ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Integers


class Factorisation(Protocol):
    """What is worked out once from a sentence's log-scores, and never changes; shapes are as in `Elimination`."""

    @property
    def log_z(self) -> float:
        """The natural logarithm of the partition function."""

    def marginals(self) -> Float:
        """P(head -> dependent), (n+1, n+1)."""

    def root_marginals(self) -> Float:
        """P(ROOT -> word), (n+1,)."""

    def arc_covariance(self, values: Float) -> Float:
        """Cov(1[arc in tree], sum of the tree's values) for every arc, (n+1, n+1)."""

    def sample(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent exact trees, (size, n)."""


@dataclass(frozen=True)
class TreeSpace(ABC):
    """A set of trees over the words of a sentence: an entry of `SPACES`.

    Attributes:
        name: in signatures and in the register of samplers.
        trees: what a single one is called in messages.
        single_root: whether exactly one arc leaves ROOT, or one or more.
    """

    name: str
    trees: str
    single_root: bool

    @abstractmethod
    def contains(self, heads: Integers) -> Bool:
        """Whether each row of heads (k, n) of integers is a tree of this space, (k,)."""

    @abstractmethod
    def check_feasible(self, allowed: Bool) -> None:
        """Raise a DeptreeError unless some tree uses allowed arcs only; allowed: (n+1, n+1), ``[head, dependent]``."""

    @abstractmethod
    def factorise(self, log_scores: Float) -> Factorisation:
        """Work out what every sum needs, from checked log-scores (n+1, n+1)."""

    @abstractmethod
    def maximum_tree(self, scores: Float) -> tuple[Heads, float]:
        """The tree of the largest sum of scores (n+1, n+1), (n,), and that sum; -inf forbids."""

    @abstractmethod
    def maximum_trees_below(self, scores: Float, tree: Heads, first: int, banned: Bool) -> tuple[Heads, Float]:
        """Lawler's (1972) partition of a cell's trees but its best, `tree`: the best tree of each part, and its sum.

        The cell: trees that agree with `tree` on the words before `first`, and whose word `first` has none of the heads
        where `banned` (n+1,) holds. Row i-1 of the result, (n, n) and (n,), is of the trees that agree with `tree` on
        the words before i and differ from it on word i; rows before `first` mean nothing, and -inf is no tree.
        """
