"""The default: elimination; for many trees that short walks lead to, Wilson's walk.

What a walk costs is known before it is tried. The expected steps are the sum over words u of G[u, u], how often a walk
from u comes to u before the tree's root; and a word's head is h with probability p[h, u] (G[u, u] - G[h, u]) if p are
the chances of a step (Kirchhoff). So G[u, u] is at least the largest ratio of a marginal and a step's chance, and for
heads from which a walk hardly comes back, as from ROOT never, not much more. Entropies do not tell: of two sentences
that are as certain, one may have two words that choose each other.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Integers
from deptree_cli.core.samplers import from_sums, is_few, wilson
from deptree_cli.core.spaces.nonprojective import NonProjective, elimination_of


def draw(distribution: ArcFactored, size: int, rng: np.random.Generator) -> Integers:
    """Exact trees, (size, n) heads; many by walks that take n^2 / 4 steps at most (python -m benchmarks auto)."""
    n, has_walks = distribution.n, isinstance(distribution.space, NonProjective)
    if not has_walks or is_few(n, size) or least_steps(distribution) > n * n / 4:
        return from_sums(distribution, size, rng)
    walk = wilson.draw_marginal if distribution.single_root else wilson.draw_spanning
    return walk(distribution, size, rng)


def least_steps(distribution: ArcFactored) -> float:
    """How many steps a walk to a non-projective tree takes on average, at least; rarely twice as many."""
    whole, first_head = elimination_of(distribution.factorisation), 1 if distribution.single_root else 0
    weights, marginals = (
        matrix[first_head:, 1:] for matrix in (whole.kind.floats(whole.weights), distribution.marginals())
    )
    ratios = np.divide(marginals, weights, out=np.zeros_like(weights), where=weights > 0.0)
    return float(ratios.max(axis=0) @ weights.sum(axis=0))
