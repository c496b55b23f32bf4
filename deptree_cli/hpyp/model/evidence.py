"""How probable a sentence is, word by word: independent particle filters and the error of their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.defaults import FILTERS, PARTICLES
from deptree_cli.hpyp.model.parsing import BIT, filtered
from deptree_cli.hpyp.model.trained import Trained


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimates of the probability of every beginning of a sentence, by R independent particle filters.

    Each filter's estimate is unbiased, and so is their mean, from which all values are computed. The values of a word
    do not depend on the words after it.

    Attributes:
        log_prefixes: (R, n + 1), the logarithms of the filters' estimates: of the first word, the first two, ..., all
            n, and of the whole sentence with its end.
    """

    log_prefixes: Float

    @cached_property
    def log2(self) -> Float:
        """The estimated log2-probability of each beginning and of the whole sentence, (n + 1,)."""
        found: Float = (np.logaddexp.reduce(self.log_prefixes) - np.log(len(self.log_prefixes))) / BIT
        return found

    @property
    def surprisals(self) -> Float:
        """The surprisals of the words and of the end, (n + 1,), in bits; their sum is ``-log2[-1]``."""
        return self.surprisals_to(range(len(self.log2)))

    @property
    def surprisal_errors(self) -> Float | None:
        """The standard error of each surprisal, (n + 1,), in bits; None for a single filter."""
        return self.errors_to(range(len(self.log2)))

    def surprisals_to(self, ends: Sequence[int]) -> Float:
        """The surprisals of consecutive regions of words, (regions,), in bits, each given all words before it.

        Args:
            ends: the index of the last word of each region, in order; a region begins after the one before.
        """
        return -np.diff(self.log2[list(ends)], prepend=0.0)

    def errors_to(self, ends: Sequence[int]) -> Float | None:
        """The standard errors of `surprisals_to`, (regions,), in bits; None for a single filter.

        A surprisal is minus the logarithm of a ratio of means; by the delta method its variance is that of the mean of
        u = Z_i / mean Z_i - Z_{i-1} / mean Z_{i-1} over filters. Two filters give it one degree of freedom: it says
        little of one word, and much on the (quadratic) average of many.
        """
        return _errors(np.diff(self._shares[:, list(ends)], prepend=1.0, axis=1))

    @property
    def error(self) -> float | None:
        """The standard error of ``log2[-1]``, of the whole sentence; None for a single filter."""
        found = _errors(self._shares[:, -1:])
        return None if found is None else float(found[0])

    @property
    def _shares(self) -> Float:
        """Each filter's estimates by their mean, (R, n + 1)."""
        found: Float = np.exp(self.log_prefixes - BIT * self.log2)
        return found


def _errors(deviations: Float) -> Float | None:
    """The standard error in bits of the mean of each column of relative deviations (R, columns)."""
    filters = len(deviations)
    if filters == 1:
        return None
    found: Float = deviations.std(axis=0, ddof=1) / (np.sqrt(filters) * BIT)
    return found


def evidence(
    trained: Trained,
    sentence: Annotated,
    rng: np.random.Generator,
    particles: int = PARTICLES,
    predicts_tags: bool = False,
    filters: int = FILTERS,
) -> Evidence:
    """The evidence of a sentence by so many filters of so many particles each.

    It is the probability of words and tags where tags are given, and of words alone where they are predicted: then they
    are summed out. By a parser without words it is that of tags.

    Raises:
        DeptreeError: tags are to be predicted by a parser without words.
    """
    found = [filtered(trained, sentence, rng, particles, predicts_tags).log_evidence for _ in range(filters)]
    return Evidence(np.cumsum(found, axis=1))
