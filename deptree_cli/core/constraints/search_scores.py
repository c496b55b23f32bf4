"""What a search wants trees to have as much as possible of: scores of arcs with labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads


class Scores(ABC):
    """Scores of arcs with labels, as a search asks for them."""

    @property
    @abstractmethod
    def whole(self) -> Float:
        """All of them, (n+1, n+1, L), ``[head, dependent, label]``; -inf forbids."""

    @property
    @abstractmethod
    def arcs(self) -> Float:
        """The score of each arc with its best label, (n+1, n+1)."""

    @abstractmethod
    def of(self, heads: Heads) -> Float:
        """The scores of the words of a tree with each label, (n, L), a new array."""


@dataclass(frozen=True, eq=False)
class ScoresAsGiven(Scores):
    """Scores as one array."""

    given: Float

    @property
    def whole(self) -> Float:
        """See `Scores`."""
        return self.given

    @cached_property
    def arcs(self) -> Float:
        """See `Scores`."""
        found: Float = self.given.max(axis=2)
        return found

    def of(self, heads: Heads) -> Float:
        """See `Scores`."""
        return self.given[heads, np.arange(1, len(heads) + 1)]


@dataclass(frozen=True, eq=False)
class LogScores(Scores):
    """The log-scores of a distribution, shifted, so that sums keep their digits.

    Most searches end with the first tree and ask for the labels of its arcs alone: to add up all takes longer.
    """

    distribution: ArcFactored

    @cached_property
    def _shifted(self) -> Float:
        return self.distribution.factorisation.shifted.log_weights

    @cached_property
    def whole(self) -> Float:
        """See `Scores`."""
        labels = self.distribution.labels
        if labels is None:
            return self._shifted[..., None]
        possible = np.isfinite(self.distribution.log_scores)[..., None] & (labels.log_probs > -np.inf)
        with np.errstate(invalid="ignore"):
            return np.where(possible, self._shifted[..., None] + labels.log_probs, -np.inf)

    @cached_property
    def arcs(self) -> Float:
        """See `Scores`: the same to the last digit, for rounded sums are in the order of what is added."""
        labels, log_scores = self.distribution.labels, self.distribution.log_scores
        if labels is None:
            return self._shifted
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(log_scores), self._shifted + labels.best_log_probs, -np.inf)

    def of(self, heads: Heads) -> Float:
        """See `Scores`."""
        labels, words = self.distribution.labels, np.arange(1, len(heads) + 1)
        own = self._shifted[heads, words, None]
        return own.copy() if labels is None else own + labels.log_probs[heads, words]
