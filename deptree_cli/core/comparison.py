"""Two distributions over the trees of one sentence, side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.sentence import Sentence

Float = NDArray[np.float64]


def jensen_shannon(first: Sentence, second: Sentence, size: int, rng: np.random.Generator) -> tuple[float, float]:
    """The Jensen-Shannon divergence in nats, 0 to log 2, from `size` trees of each, and its standard error.

    It has no closed form, for the mixture of two tree distributions is none itself; but each tree's term is bounded:
    JS = 1/2 E_p[log p/m] + 1/2 E_q[log q/m] with m = (p + q) / 2.
    """
    terms = [_terms(one, other, size, rng) for one, other in ((first, second), (second, first))]
    error = 0.5 * np.sqrt(sum(term.var(ddof=1) / size for term in terms)) if size > 1 else np.inf
    return max(0.5 * float(sum(term.mean() for term in terms)), 0.0), float(error)


def _terms(one: Sentence, other: Sentence, size: int, rng: np.random.Generator) -> Float:
    """log p/m of trees drawn from p."""
    trees = SAMPLERS["auto"].draw(one, size, rng)
    ours = one.log_probs(trees)
    with np.errstate(invalid="ignore"):
        theirs = other.log_probs(trees)
    terms: Float = np.log(2.0) - np.logaddexp(0.0, theirs - ours)
    return terms


def moved_arcs(first: Sentence, second: Sentence, count: int) -> list[tuple[int, int, float, float]]:
    """The arcs whose marginals differ most: (head, dependent, marginal in the first, in the second)."""
    ours, theirs = first.elimination.marginals(), second.elimination.marginals()
    order = np.argsort(-np.abs(ours - theirs), axis=None, kind="stable")[:count]
    heads, words = np.unravel_index(order, ours.shape)
    moved = zip(heads.tolist(), words.tolist(), ours[heads, words].tolist(), theirs[heads, words].tolist(), strict=True)
    return [arc for arc in moved if arc[2] != arc[3]]
