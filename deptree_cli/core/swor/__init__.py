"""The register of algorithms for sampling without replacement (SWOR): an entry each.

An algorithm is a function ``draw(distribution, size, rng, mass) -> Draws``: distinct trees in the order in which a
with-replacement sampler would first meet them. To add one, write it in a file of this folder and give it an entry
below; another package names its own by an entry point (`deptree.swor`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.register import Register, imported
from deptree_cli.core.swor.draws import Draws

__all__ = ["ALGORITHMS", "Algorithm", "Draws"]


@dataclass(frozen=True)
class Algorithm:
    """An entry of the register.

    Attributes:
        target: the function or where it is, as of a `Sampler`.
        exact: whether its trees come in the order in which draws with replacement would first meet them.
        sequential: whether fewer trees are the first of more.
    """

    name: str
    target: str | Callable[..., Draws]
    cost: str
    source: str
    exact: bool = True
    sequential: bool = True

    def draw(self, distribution: ArcFactored, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
        """Draw up to `size` distinct trees, of which the last brings the probability of all to `mass` (if one does)."""
        draws: Draws = imported(self.target, __name__)(distribution, size, rng, mass)
        return draws


ALGORITHMS: Register[Algorithm] = Register(
    "SWOR algorithm",
    (
        Algorithm(
            "auto",
            ".partition_tree:draw",
            "about n^3 + k h while the mass is spread, k n^3 at worst",
            "adaptive partition tree: draws with replacement, the space of trees divided where repeats pile up",
        ),
        Algorithm(
            "trie", ".trie:draw", "k n^3 and more on fresh branches", "Shi et al. 2020 over Colbourn's conditionals"
        ),
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
