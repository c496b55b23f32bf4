"""The one object that users hold: a distribution over the trees of a sentence, and everything that it can be asked."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import SupportsIndex

import numpy as np

from deptree_cli.core import decoding, expectations
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.streams import sentence_stream
from deptree_cli.core.swor import ALGORITHMS, Draws

# Where random numbers come from: a seed, from which the sentence's own stream is made, or a stream.
Randomness = int | np.random.Generator


def how_many(k: SupportsIndex) -> int:
    """Return a number of trees; raise a DeptreeError if it is none."""
    try:
        count = index(k)
    except TypeError:  # JAX's of traced numbers is one
        raise DeptreeError(f"{k!r} is no number of trees", "Ask for 1 or more") from None
    if count < 0:
        raise DeptreeError(f"{count} trees are asked for", "Ask for 1 or more")
    return count


class TreeDistribution(ArcFactored):
    """A distribution over the dependency trees of one sentence. See `ArcFactored` for what it is made of.

    Trees are arrays of heads, int32: entry i is the head of word i+1, 0 for ROOT. Nothing changes a distribution:
    `given`, `tempered`, `multi_root` and `labelled` make another one.

    >>> weights = np.array([[0, 1, 1], [0, 0, 3], [0, 2, 0]])
    >>> TreeDistribution(weights, "weight").argmax()
    array([0, 1], dtype=int32)
    """

    def sample(self, k: int, rng: Randomness, sampler: str = "auto") -> Heads:
        """Draw k independent trees, (k, n).

        Args:
            rng: a seed, which gives the trees that `deptree sample --seed` gives for this id, or a Generator.
            sampler: a name in `samplers.SAMPLERS`.

        Raises:
            DeptreeError: there is no such sampler, or it does not serve this tree space; or k is negative.
        """
        return SAMPLERS.get(sampler).draw(self, how_many(k), self._stream(rng))

    def sample_without_replacement(self, k: int, rng: Randomness, algorithm: str = "auto", mass: float = 1.0) -> Draws:
        """Draw up to k distinct trees, with what `estimate` needs; fewer where there are no more.

        Args:
            rng: as for `sample`.
            algorithm: a name in `swor.ALGORITHMS`.
            mass: stop once those drawn have this probability together, and a tenth more, at least 5, have come for
                the rest; where half of k (of fewer than 10: k - 5) do not reach it, k are drawn.
        """
        return ALGORITHMS.get(algorithm).draw(self, how_many(k), self._stream(rng), mass)

    def _stream(self, rng: Randomness) -> np.random.Generator:
        return rng if isinstance(rng, np.random.Generator) else sentence_stream(rng, self.id)

    def argmax(self) -> Heads:
        """The most probable tree, (n,)."""
        return decoding.maximum_tree(self)

    def mbr(self) -> Heads:
        """The tree with the highest expected attachment score, (n,): minimum-Bayes-risk decoding."""
        return decoding.minimum_risk_tree(self)

    def top_k(self, k: int) -> Heads:
        """The k most probable trees, the best first, (k, n) or fewer."""
        return decoding.best_trees(self, how_many(k))

    def entropy(self) -> float:
        """Shannon's entropy, in nats."""
        return expectations.entropy(self)

    def renyi(self, order: float) -> float:
        """Renyi's entropy of a positive order, in nats; Shannon's at order 1."""
        return expectations.renyi(self, order)

    def kl(self, other: ArcFactored) -> float:
        """The Kullback-Leibler divergence from `other` in nats, infinite where that one forbids a possible arc."""
        return expectations.kl(self, other)

    def cross_entropy(self, other: ArcFactored) -> float:
        """E[-log of other's probability] in nats, infinite where that one forbids a possible arc."""
        return expectations.cross_entropy(self, other)

    def _repr_svg_(self) -> str | None:
        """The distribution as ``deptree show`` draws it, for notebooks: by whoever offers pictures, a floor above."""
        from importlib.metadata import entry_points

        for offer in entry_points(group="deptree.pictures", name="svg"):
            draw: Callable[[ArcFactored], str] = offer.load()
            return draw(self)
        return None
