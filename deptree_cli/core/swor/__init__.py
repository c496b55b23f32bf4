"""The register of algorithms for sampling without replacement (SWOR): an entry each.

An algorithm is a function ``draw(distribution, size, rng, mass) -> Draws``: up to `size` distinct trees in the order in
which a with-replacement sampler would first meet them, of which the last brings the probability of all to `mass`. To
add one, write it in a file of this folder and give it an entry below; another package names its own by an entry point
(`deptree.swor`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.register import Register, imported
from deptree_cli.core.swor.draws import Draws, most_certain, size_for_mass

__all__ = ["ALGORITHMS", "Algorithm", "Draws"]


@dataclass(frozen=True)
class Algorithm:
    """An entry of the register.

    Attributes:
        target: the function or where it is, as of a `Sampler`.
        exact: whether its trees come in the order in which sampling with replacement would first find them.
        sequential: whether fewer trees are the first of more.
    """

    name: str
    target: str | Callable[..., Draws]
    cost: str
    source: str
    exact: bool = True
    sequential: bool = True

    def draw(self, distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
        """Draw up to `size` distinct trees.

        Args:
            mass: below 1, stop some trees after the probability of all has reached this: `Draws.certain` of them reach
                it, or are half of `size`, and `size_for_mass` says how many are drawn in all. The stop depends on the
                trees; that the number behind it does not is what keeps estimates unbiased (docs/estimates.md).
        """
        target: Callable[..., Draws] = imported(self.target, __name__)

        def draw(distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float) -> Draws:
            return target(distribution, distribution.room_for(size), rng, mass)

        most = most_certain(size)
        if mass >= 1 or most == 0:
            return draw(distribution, size, rng, 1.0)
        if self.sequential:  # what reaches the mass comes twice: no algorithm has to know what is drawn behind it
            certain = len(draw(distribution, most, deepcopy(rng), mass).heads)
            draws = draw(distribution, size_for_mass(certain, size), rng, 1.0)
        else:
            draws = draw(distribution, size, rng, 1.0)
            certain = min(most, draws.reach(mass))
            draws = draws.first(size_for_mass(certain, size))
        return replace(draws, certain=certain)


ALGORITHMS: Register[Algorithm] = Register(
    "SWOR algorithm",
    (
        Algorithm(
            "auto",
            ".auto:draw",
            "n^3 + k min(h, n^2) while trees are new, k n^3 at worst",
            "this project: samples with replacement, and divides the space of trees where samples repeat; "
            "for projective trees a trie of their choices, n^3 + k n^2",
        ),
        Algorithm("trie", ".trie:draw", "k n^3", "Shi et al. 2020 over Colbourn's conditionals, or Eisner's chart"),
        Algorithm(
            "beam",
            ".beam:draw",
            "k n^3, all k at once",
            "stochastic beam search, Kool et al. 2019, over Colbourn's conditionals (Stanojevic 2022, section 5)",
            sequential=False,
        ),
        Algorithm("zmigrod", ".zmigrod:draw", "k n^4 + k^2 n", "Zmigrod et al. 2021a, Fig. 7"),
    ),
    "deptree.swor",
)
