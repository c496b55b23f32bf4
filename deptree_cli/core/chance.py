"""What quantities of trees come to on average: under a parser's distribution, or if all trees are equally probable.

Sums over arcs have exact means and variances, from marginals and one covariance. All else is estimated from trees that
are drawn without bias, and has a standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float, Integers, read_only
from deptree_cli.core.expectations import mean_and_variance
from deptree_cli.core.measures import RANDOM_ORDER, OfTree, Reduction
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.core.spaces import NonProjective, TreeSpace
from deptree_cli.core.streams import sentence_stream

# Sentences of more words have formulas instead of arrays of all arcs, which of 10,000 words took 7 GB and 50 s.
ARC_BY_ARC = 1_000


class Moments(NamedTuple):
    """The mean of a quantity of a sentence's trees, its sd, and the error of the mean: NaN where unknown, or exact."""

    mean: float = np.nan
    sd: float = np.nan
    error: float = np.nan


def moments(
    distribution: TreeDistribution,
    quantities: Sequence[OfTree],
    size: int | None,
    rng: np.random.Generator | None,
    reduction: Reduction | None = None,
) -> list[Moments]:
    """Return the moments of quantities of a distribution's trees; `size` are drawn for what is not a sum over arcs.

    Without a size and `rng` that has no moments. With a `reduction` of the trees nothing is a sum over their arcs.
    """
    values = [None if reduction else each.arc_values(distribution.n, distribution.space) for each in quantities]
    trees: Integers | None = None
    if size is not None and rng is not None and any(each is None for each in values):
        drawn = distribution.sample(size, rng)
        trees = reduction.of(drawn) if reduction else drawn
    found = []
    for quantity, of_arcs in zip(quantities, values, strict=True):
        if of_arcs is not None:
            mean, variance = mean_and_variance(distribution, of_arcs)
            found.append(Moments(mean, variance**0.5))
        else:
            found.append(Moments() if trees is None else sampled(quantity.of_sentence(trees)))
    return found


def sampled(values: Float) -> Moments:
    """Return the moments that independent values (k,) tell; of a single one no more than the mean."""
    if len(values) == 1:
        return Moments(float(values[0]))
    sd = float(values.std(ddof=1))
    return Moments(float(values.mean()), sd, sd / len(values) ** 0.5)


@lru_cache(maxsize=1 << 12)
def of_random_trees(n: int, space: TreeSpace, names: tuple[str, ...], size: int | None, seed: int | None) -> Float:
    """Return the moments of quantities of all trees of n words, equally probable: (quantities, 3), read-only.

    `size` trees are drawn for what is not a sum over arcs, none without it or the seed, with which and with the length
    their random numbers change.
    """
    quantities = [NUMBERS.get(name) for name in names]
    if size is not None and seed is not None:
        found = moments(_uniform(n, space), quantities, size, sentence_stream(seed, f"{n} words"))
    elif n > ARC_BY_ARC and isinstance(space, NonProjective):
        found = [Moments(_in_random_order(each, n, space)) for each in quantities]
    else:
        marginals = uniform_marginals(n, space)
        values = [each.arc_values(n, space) for each in quantities]
        found = [Moments() if each is None else Moments(float(np.vdot(marginals, each))) for each in values]
    return read_only(np.array(found))


def _in_random_order(quantity: OfTree, n: int, space: TreeSpace) -> float:
    """The mean among all trees: that of any one, here a chain, over random orders of words. NaN of no sum of arcs."""
    if quantity.arc_values(1, space) is None:
        return np.nan
    if RANDOM_ORDER not in quantity.baselines and (values := quantity.arc_values(n, space)) is not None:
        return float(np.vdot(uniform_marginals(n, space), values))  # as of other packages' quantities
    chain = float(quantity.baselines[RANDOM_ORDER].mean(np.arange(n), np.array([0, n]))[0])
    return chain if space.single_root else chain * n / (n + 1)  # of n (n - 1) / (n + 1) arcs


def uniform_marginals(n: int, space: TreeSpace) -> Float:
    """Return the share of all trees of n words that have each arc, (n+1, n+1).

    Without other rules all words are alike. With a single root each of n is it as often, and a word's other n - 1 heads
    are alike: each has the share 1 / n. The trees with several roots are all spanning trees of n + 1 nodes, where each
    pair is joined in 2 / (n + 1); ROOT is the head whenever it is joined, another word as often as not.
    """
    if not isinstance(space, NonProjective):
        return _uniform(n, space).marginals()
    found = np.full((n + 1, n + 1), 1.0 / n if space.single_root else 1.0 / (n + 1))
    found[0] = 1.0 / n if space.single_root else 2.0 / (n + 1)
    found[:, 0] = 0.0
    np.fill_diagonal(found, 0.0)
    return found


def _uniform(n: int, space: TreeSpace) -> TreeDistribution:
    return TreeDistribution(np.zeros((n + 1, n + 1)), space=space, id=f"{n} words")
