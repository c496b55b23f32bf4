"""A tree as a sequence of choices: the state machine under sampling without replacement (Stanojevic 2022, section 5.1).

A prefix is a tuple of choices; a complete one, of length `depth`, is a tree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces.general import Conditioned

Prefix = tuple[int, ...]
Choices = Int


class TreeChoices(ABC):
    """The conditional distribution of each choice of a sentence's tree given the choices before it.

    Attributes:
        depth: how many choices make a tree.
    """

    depth: int

    @abstractmethod
    def log_probs_of_each(self, prefixes: Choices) -> Float:
        """Log-probability of each value 0..n of the choice after prefixes of one length, (b, length) -> (b, n+1)."""

    @abstractmethod
    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        """Draw all choices after a prefix.

        Returns:
            for each of them the log-probabilities of its values (m, n+1), and the choices (m,).
        """

    @abstractmethod
    def heads_of_each(self, prefixes: Choices) -> Heads:
        """The trees of complete prefixes, (b, depth) -> (b, n) heads."""

    def beam(self, size: int) -> Beam:
        """The empty prefix, to grow to `size` prefixes at most."""
        return Beam(self)

    def log_probs(self, prefix: Prefix) -> Float:
        """Log-probability of each value 0..n of the choice after one prefix, (n+1,)."""
        return self.log_probs_of_each(np.array([prefix], dtype=np.int64))[0]

    def heads(self, prefix: Prefix) -> Heads:
        """The tree of a complete prefix, (n,) heads."""
        return self.heads_of_each(np.array([prefix], dtype=np.int64))[0]


class Beam:
    """Prefixes of one length that grow by one choice at a time, (b, length)."""

    def __init__(self, choices: TreeChoices) -> None:
        self.prefixes: Choices = np.empty((1, 0), dtype=np.int64)
        self._choices = choices

    def log_probs(self) -> Float:
        """Log-probability of each value of the choice after each prefix, (b, n+1)."""
        return self._choices.log_probs_of_each(self.prefixes)

    def grow(self, above: Int, values: Choices) -> None:
        """Go on with these of the prefixes, (c,), and with these choices."""
        self.prefixes = np.column_stack([self.prefixes[above], values])


class HeadByHead(TreeChoices):
    """The heads of the words from left to right, by what a space's general routes say of each: see `Conditioned`."""

    def __init__(self, distribution: ArcFactored) -> None:
        if not isinstance(distribution.factorisation, Conditioned):
            problem = f"there is no sampling without replacement of {distribution.space.trees}"
            raise DeptreeError(problem, "Draw with replacement")
        self._sums, self.depth = distribution.factorisation, distribution.n

    def log_probs_of_each(self, prefixes: Choices) -> Float:
        return np.array([self._sums.head_log_probs(prefix) for prefix in prefixes.tolist()])

    def branch(self, prefix: Prefix, rng: np.random.Generator) -> tuple[Float, Choices]:
        log_probs, chosen = [], list(prefix)
        while len(chosen) < self.depth:
            log_probs.append(self._sums.head_log_probs(chosen))
            chosen.append(pick(log_probs[-1], rng))
        return np.array(log_probs), np.array(chosen[len(prefix) :], dtype=np.int64)

    def heads_of_each(self, prefixes: Choices) -> Heads:
        return prefixes.astype(np.int32)


def pick(log_weights: Float, rng: np.random.Generator) -> int:
    """An index drawn in proportion to exp(log_weights); never one of weight 0."""
    weights = np.exp(log_weights - log_weights.max())
    cumulative = np.cumsum(weights)
    cumulative[np.flatnonzero(weights)[-1] :] = np.inf
    return int(np.searchsorted(cumulative, rng.random() * weights.sum(), side="right"))


def goes_on(log_left: float, mass: float) -> bool:
    """Whether trees are left, and those drawn have less probability than `mass`; log_left: what is left."""
    return log_left > -np.inf and not (mass < 1.0 and np.exp(log_left) <= 1.0 - mass)


def log_sum(log_values: Float) -> float:
    """log of the sum of exponentials; -inf for a sum of nothing."""
    return float(np.logaddexp.reduce(log_values))
