"""A negative control: trees with the exact marginal of every arc and the wrong joint distribution.

Two words u and v have two heads each, a, a' and b, b'. Where a tree stays one under all four choices, mass is moved
from (a, b') to (a, b) and as much from (a', b) to (a', b'): each of the four arcs loses what it gains, all others stay
as they are, and a and b become more frequent together. An audit that looks at arcs only cannot see it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError

# Exact trees from which the pair of words is chosen, and from which the mass that can be moved is estimated.
CHOOSE_FROM, ESTIMATE_FROM = 2_000, 50_000


@dataclass(frozen=True)
class Swap:
    """Two words and two heads of each."""

    first: int
    heads: tuple[int, int]
    second: int
    others: tuple[int, int]

    def movable(self, distribution: ArcFactored, trees: Heads) -> Float:
        """Which share of each tree's probability (k,) can be moved: 0, or up to that of the less probable source."""
        first, second = trees[:, self.first - 1], trees[:, self.second - 1]
        is_source = (first == self.heads[0]) & (second == self.others[1])
        is_source |= (first == self.heads[1]) & (second == self.others[0])
        rows = np.flatnonzero(is_source)
        variants = np.repeat(trees[rows, None], 4, axis=1)
        variants[:, :, self.first - 1] = [self.heads[i] for i in (0, 0, 1, 1)]
        variants[:, :, self.second - 1] = [self.others[i] for i in (0, 1, 0, 1)]
        log_weights = distribution.log_weights(variants.reshape(-1, distribution.n)).reshape(-1, 4)
        sound = distribution.space.contains(variants.reshape(-1, distribution.n)).reshape(-1, 4).all(axis=1)
        sound &= np.isfinite(log_weights).all(axis=1)
        own = np.where(first[rows] == self.heads[0], log_weights[:, 1], log_weights[:, 2])
        shares = np.zeros(len(trees))
        shares[rows[sound]] = np.exp(np.minimum(log_weights[:, 1], log_weights[:, 2]) - own)[sound]
        return shares


class SwappedPairs:
    """A sampler whose total variation distance from the distribution is tv although all its marginals are right.

    Args:
        tv: the distance wanted.
        rng: for exact trees, of which `CHOOSE_FROM` tell which words to take and `ESTIMATE_FROM` how much can be moved.

    Attributes:
        swap: the words and heads, those by which the most mass can be moved.
        largest_tv: what moving all that can be moved comes to, by that estimate.

    Raises:
        DeptreeError: less than tv can be moved.
    """

    def __init__(self, distribution: ArcFactored, tv: float, rng: np.random.Generator) -> None:
        self.distribution = distribution
        trees = distribution.factorisation.sample(CHOOSE_FROM, rng)
        self.swap = max(_swaps(distribution), key=lambda swap: float(swap.movable(distribution, trees).mean()))
        trees = distribution.factorisation.sample(ESTIMATE_FROM, rng)
        self.largest_tv = float(self.swap.movable(distribution, trees).mean())
        if tv > self.largest_tv:
            problem = f"two words' heads can be exchanged in {self.largest_tv:.3f} of the trees, not {tv:g}"
            raise DeptreeError(problem, "Ask for less or choose a flatter distribution")
        self._share = tv / self.largest_tv if tv else 0.0

    def draw(self, size: int, rng: np.random.Generator) -> Heads:
        """Independent trees (size, n)."""
        trees = self.distribution.factorisation.sample(size, rng)
        moved = rng.random(size) < self._share * self.swap.movable(self.distribution, trees)
        has_first = trees[:, self.swap.first - 1] == self.swap.heads[0]
        trees[moved, self.swap.second - 1] = np.where(has_first, *self.swap.others)[moved]
        return trees


def _swaps(distribution: ArcFactored) -> list[Swap]:
    """Each two words with their two most likely heads, and both ways to match these."""
    best = np.argsort(-distribution.marginals(), axis=0, kind="stable")[:2]
    found = []
    for first, second in combinations(range(1, distribution.n + 1), 2):
        (a, a2), (b, b2) = best[:, first].tolist(), best[:, second].tolist()
        found += [Swap(first, (a, a2), second, (b, b2)), Swap(first, (a, a2), second, (b2, b))]
    return found
