"""Two distributions over the trees of one sentence, side by side."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float
from deptree_cli.core.samplers import SAMPLERS


def jensen_shannon(first: ArcFactored, second: ArcFactored, size: int, rng: np.random.Generator) -> tuple[float, float]:
    """The Jensen-Shannon divergence in nats, 0 to log 2, from `size` trees of each, and its standard error.

    It has no closed form, for the mixture of two tree distributions is none itself; but each tree's term is bounded:
    JS = 1/2 E_p[log p/m] + 1/2 E_q[log q/m] with m = (p + q) / 2.
    """
    terms = [_terms(one, other, size, rng) for one, other in ((first, second), (second, first))]
    error = 0.5 * np.sqrt(sum(term.var(ddof=1) / size for term in terms)) if size > 1 else np.inf
    return max(0.5 * float(sum(term.mean() for term in terms)), 0.0), float(error)


def _terms(one: ArcFactored, other: ArcFactored, size: int, rng: np.random.Generator) -> Float:
    """log p/m of trees drawn from p."""
    trees = SAMPLERS.get("auto").draw(one, size, rng)
    ours = one.tree_log_probs(trees)
    with np.errstate(invalid="ignore"):
        theirs = np.where(other.space.contains(trees), other.tree_log_probs(trees), -np.inf)
    return np.log(2.0) - np.logaddexp(0.0, theirs - ours)


def moved_arcs(first: ArcFactored, second: ArcFactored, count: int) -> list[tuple[int, int, float, float]]:
    """The arcs whose marginals differ most: (head, dependent, marginal in the first, in the second)."""
    ours, theirs = first.marginals(), second.marginals()
    order = np.argsort(-np.abs(ours - theirs), axis=None, kind="stable")[:count]
    heads, words = np.unravel_index(order, ours.shape)
    moved = zip(heads.tolist(), words.tolist(), ours[heads, words].tolist(), theirs[heads, words].tolist(), strict=True)
    return [arc for arc in moved if arc[2] != arc[3]]
