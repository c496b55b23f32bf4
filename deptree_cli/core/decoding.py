"""Best trees of a tree space: the most probable one, the k most probable, and as many as cover a mass or are near."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, takewhile
from math import exp, fsum
from operator import methodcaller
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deptree_cli.core.counts import MOST_RANKED as MOST_RANKED
from deptree_cli.core.counts import how_many
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.factorisation import shift
from deptree_cli.core.register import NamedFunction, Register

if TYPE_CHECKING:
    from deptree_cli.core.arc_factored import ArcFactored

# What sums of probabilities and differences of their logarithms may be off by: equal trees stay equal.
ROUNDING = 1e-9

# From here on sums of scores are of shifted ones: beside offsets, differences between trees would lose digits.
LARGE = 1e4


def maximum_tree(distribution: ArcFactored) -> Heads:
    """The most probable tree, (n,) heads."""
    return distribution.space.maximum_tree(_scores(distribution))[0]


def best_trees(distribution: ArcFactored, size: int) -> Heads:
    """The `size` most probable trees, (k, n), k <= size, the best first."""
    return distribution.space.best_trees(_scores(distribution), distribution.room_for(size))


def trees_in_order(distribution: ArcFactored) -> Iterator[Heads]:
    """All trees of positive weight, the most probable first, (n,) each, found as they are asked for."""
    return distribution.space.trees_in_order(_scores(distribution))


def _scores(distribution: ArcFactored) -> Float:
    """The log-scores (n+1, n+1), shifted if some are large."""
    log_scores = distribution.log_scores
    if np.abs(log_scores, where=np.isfinite(log_scores), out=np.zeros_like(log_scores)).max() <= LARGE:
        return log_scores
    return shift(distribution.possible_scores, distribution.space).log_weights


class Ranked(NamedTuple):
    """The most probable trees of a distribution, from `top_mass` or `within`.

    Attributes:
        heads: (m, n), the best first.
        log_probs: (m,), their log-probabilities.
        complete: whether these are all trees asked for; False if the limit `most` ended the search.
    """

    heads: Heads
    log_probs: Float
    complete: bool

    @property
    def mass(self) -> float:
        return probability_of(self.log_probs)


def probability_of(log_probs: Float) -> float:
    return min(1.0, fsum(np.exp(log_probs)))


def covering(distribution: ArcFactored, mass: float, most: int = MOST_RANKED) -> Ranked:
    """The fewest trees with a total probability of `mass`, to within 1e-9 because sums are rounded, but at most `most`.

    No m trees have a larger sum than the first m in order, so the first m whose sum reaches the mass are the fewest.
    """
    if not 0 < mass <= 1:
        raise DeptreeError(
            f"a mass of {mass} is not a probability that trees can have", "Give one above 0 and at most 1"
        )
    size, total, lost = how_many(most, least=1), 0.0, 0.0
    found: list[tuple[Heads, float]] = []
    for tree, log_prob in islice(_with_log_probs(distribution), size):
        found.append((tree, log_prob))
        before, prob = total, exp(log_prob)
        total += prob
        lost += before - total + prob  # exact: no tree is more probable than those before it together
        if total + lost >= mass - ROUNDING:
            break
    return _ranked(found, total + lost >= mass - ROUNDING or len(found) < size)


def within(distribution: ArcFactored, nats: float, most: int = MOST_RANKED) -> Ranked:
    """All trees, at most `most`, whose log-probability is within this many nats of the best one's, and 1e-9."""
    if not nats >= 0:
        raise DeptreeError(f"no tree is within {nats} nats of the best one", "Give 0 or more")
    size, ordered = how_many(most, least=1), _with_log_probs(distribution)
    best = next(ordered)
    near = takewhile(lambda each: best[1] - each[1] <= nats + ROUNDING, chain([best], ordered))
    return _ranked(list(islice(near, size)), next(near, None) is None)


def _with_log_probs(distribution: ArcFactored) -> Iterator[tuple[Heads, float]]:
    """`trees_in_order` with their log-probabilities."""
    for tree in trees_in_order(distribution):
        yield tree, float(distribution.tree_log_probs(tree[None])[0])


def _ranked(found: list[tuple[Heads, float]], complete: bool) -> Ranked:
    trees, log_probs = zip(*found, strict=True)
    return Ranked(np.array(trees, dtype=np.int32), np.array(log_probs), complete)


# Ways to one tree of a `TreeDistribution`, (n,) heads.
METHODS = Register(
    "decoding method",
    (
        NamedFunction("mst", methodcaller("argmax"), "the most probable tree"),
        NamedFunction("mbr", methodcaller("mbr"), "the one with the highest expected attachment score"),
    ),
    "deptree.decoding",
)
