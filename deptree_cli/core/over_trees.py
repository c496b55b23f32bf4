"""What every distribution over the trees of one sentence answers, whatever its scores are of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.conditioning import Conditioned, GivenHeads, GivenLabels, conditioned
from deptree_cli.core.dtypes import Float, Heads, Integers, read_only
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.frozen import Frozen
from deptree_cli.core.labels import Labels
from deptree_cli.core.spaces import TreeSpace


class Sums(Protocol):
    """The sums over trees that every distribution has."""

    @property
    def log_z(self) -> float:
        """The natural logarithm of the partition function."""

    def marginals(self) -> Float:
        """The probability of every arc, (n+1, n+1)."""


class OverTrees(Frozen, ABC):
    """A distribution over the trees of a space.

    Attributes:
        log_scores: of arcs, float64, (n+1, n+1), ``[head, dependent]``, read-only; ``-inf`` where an arc is forbidden.
        space: its tree space.
        id: the sentence's name.
        labels: the labels of arcs given the tree, if the scores tell.
    """

    log_scores: Float
    space: TreeSpace
    id: str
    labels: Labels | None

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.log_scores) - 1

    @property
    def single_root(self) -> bool:
        """Whether its trees have exactly one ROOT arc."""
        return self.space.single_root

    @property
    @abstractmethod
    def factorisation(self) -> Sums:
        """What is behind the partition function and marginals."""

    @property
    def log_partition(self) -> float:
        """The natural logarithm of the partition function, the sum of all trees' weights."""
        return self.factorisation.log_z

    def marginals(self) -> Float:
        """The probability of every arc, (n+1, n+1), ``[head, dependent]``, read-only; the columns of words sum to 1.

        An arc that no tree contains has exactly 0, and so has one below the range of float64.
        """
        return self._marginals

    @cached_property
    def _marginals(self) -> Float:
        return read_only(self.factorisation.marginals())

    @abstractmethod
    def tree_log_probs(self, trees: Integers) -> Float:
        """Log-probabilities of trees of this space, (k, n) heads -> (k,); at most 0 in spite of rounding.

        It does not check that heads are trees; `log_probs` does.
        """

    def mbr(self) -> Heads:
        """The tree with the highest expected attachment score, (n,): minimum-Bayes-risk decoding."""
        return self.space.maximum_tree(np.where(np.isfinite(self.log_scores), self.marginals(), -np.inf))[0]

    def log_prob(self, heads: ArrayLike) -> float:
        """The log-probability of a tree, (n,) heads; -inf if it is not a tree of this space.

        Raises:
            DeptreeError: the array has another shape, or is not of integers.
        """
        return float(self.log_probs(cast(ArrayLike, [heads]))[0])

    def log_probs(self, trees: ArrayLike) -> Float:
        """The log-probabilities of k trees, (k, n) heads -> (k,). See `log_prob`."""
        rows = _checked(trees, self.n, self.id)
        found = np.full(len(rows), -np.inf)
        sound = self.space.contains(rows)
        found[sound] = self.tree_log_probs(rows[sound])
        return found

    def _conditioned(self, heads: GivenHeads | None, labels: GivenLabels | None) -> Conditioned:
        """See `conditioned`."""
        try:
            return conditioned(self.log_scores, self.labels, heads, labels)
        except DeptreeError as error:
            raise error.at(sent_id=self.id) from None

    def _feasible(self, remedy: str = "") -> Self:
        """The distribution itself, if there is a tree; what to do if there is none may be something else than usual."""
        try:
            self._check_feasible()
        except DeptreeError as error:
            error.remedy = remedy or error.remedy
            raise error.at(sent_id=self.id) from None
        return self

    def _check_feasible(self) -> None:
        self.space.check_feasible(np.isfinite(self.log_scores))


def _checked(trees: ArrayLike, n: int, id: str) -> Integers:
    """Trees over n words, (k, n) heads, as an array; whether they are trees is another question.

    Raises:
        DeptreeError: the array has another shape, or is not of integers.
    """
    try:
        rows = np.asarray(trees)
    except ValueError:
        problem = f"heads of differing lengths are given for a sentence of {counted(n, 'word')}"
        raise DeptreeError(problem, "Give one integer per word", sent_id=id) from None
    if rows.ndim != 2 or rows.shape[1] != n or rows.dtype.kind not in "iu":
        what = f"heads of shape {rows.shape[1:] if len(rows) == 1 else rows.shape} and type {rows.dtype}"
        problem = f"{what} are given for a sentence of {counted(n, 'word')}"
        raise DeptreeError(problem, "Give one integer per word and tree, 0 for ROOT", sent_id=id)
    return rows
