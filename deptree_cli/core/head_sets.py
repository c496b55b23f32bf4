"""Sets of heads that contain the right one with a given chance: split-conformal prediction (Vovk et al. 2005).

The score of a head is 1 less its probability (Sadinle et al. 2019), but 0 for the most probable head of its word, so
that no set is empty. Such sets cover what is asked without random numbers, unless the most probable heads alone cover
more. Sets by cumulative probability (Romano et al. 2020) were three to five times as large on the parsers that we
measured, for these give most words a head of probability near 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.temperatures import ArcEvidence, Fit, GoldArcs


def nonconformity(marginals: Float) -> Float:
    """The score of each head, (n+1, n), from marginals (n+1, n+1); infinite for the word itself."""
    probs = marginals[:, 1:]
    words = np.arange(probs.shape[1])
    scores = 1.0 - probs
    scores[probs.argmax(axis=0), words] = 0.0
    scores[words + 1, words] = np.inf
    return scores


def threshold(scores: Float, coverage: float) -> float:
    """The score up to which heads are in the sets, from those of m gold heads, (m,): their ceil((m+1) coverage)-th.

    It is 1, which leaves out no head, if there are too few words for such a coverage, and 0, that of the most probable
    heads, for a coverage of 0. Coverages count as the decimal numbers that they are written as.
    """
    rank = math.ceil((len(scores) + 1) * Fraction(str(coverage)))
    if rank == 0:
        return 0.0
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= len(scores) else 1.0


def head_sets(marginals: Float, limit: float) -> list[list[int]]:
    """The set of heads of each word, the most probable first, from marginals (n+1, n+1) and a threshold."""
    scores = nonconformity(marginals)
    order = np.argsort(scores, axis=0, kind="stable")
    sizes = (scores <= limit).sum(axis=0)
    return [heads[:size] for heads, size in zip(order.T.tolist(), sizes.tolist(), strict=True)]


@dataclass(frozen=True)
class HeadSets:
    """A threshold, and what sets by it are like.

    Attributes:
        coverage: how often they are to contain the right head.
        threshold: of `nonconformity`.
        covered, heads: how often they do, and how many heads they have on average: cross-validated.
    """

    coverage: float
    threshold: float
    covered: float
    heads: float

    @classmethod
    def of(cls, parts: Sequence[ArcEvidence], fit: Fit, coverages: Sequence[float]) -> list[HeadSets]:
        """Fit one for each coverage; no part has a say in the threshold and temperature that it is judged at."""
        if not coverages:
            return []
        tried = [_tried(parts, number, temperature, coverages) for number, temperature in enumerate(fit.others)]
        means = np.sum(tried, axis=0)
        scores = np.concatenate([gold_scores(part, fit.temperature) for part in parts])
        return [
            cls(coverage, threshold(scores, coverage), float(covered / words), float(heads / words))
            for coverage, (words, covered, heads) in zip(coverages, means, strict=True)
        ]


def gold_scores(part: ArcEvidence, temperature: float) -> Float:
    """The scores of the gold heads of all words that have one, (m,)."""
    found = [_of_gold(sentence, nonconformity(marginals))[0] for sentence, marginals, _ in part.at(temperature)]
    return np.concatenate([np.empty(0), *found])


def _of_gold(sentence: GoldArcs, scores: Float) -> tuple[Float, Float]:
    """Of words whose head is known the score of it, (m,), and those of all heads, (n+1, m)."""
    words = np.flatnonzero(sentence.heads >= 0)
    return scores[sentence.heads[words], words], scores[:, words]


def tried_on(part: ArcEvidence, temperature: float, limits: Sequence[float]) -> Float:
    """For each threshold the words that have a gold head, those whose set contains it, and the heads in their sets."""
    counts = np.zeros((len(limits), 3))
    for sentence, marginals, _ in part.at(temperature):
        gold, scores = _of_gold(sentence, nonconformity(marginals))
        counts += [(len(gold), (gold <= limit).sum(), (scores <= limit).sum()) for limit in limits]
    return counts


def _tried(parts: Sequence[ArcEvidence], number: int, temperature: float, coverages: Sequence[float]) -> Float:
    """See `tried_on`: of the part of this number, by thresholds from the others."""
    others = [*parts[:number], *parts[number + 1 :]]
    scores = np.concatenate([gold_scores(part, temperature) for part in others])
    return tried_on(parts[number], temperature, [threshold(scores, each) for each in coverages])
