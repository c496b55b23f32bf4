"""The register of algorithms for sampling without replacement (SWOR): a line each.

An algorithm is a function ``draw(sentence, size, rng) -> Draws``: different trees in the order in which a
with-replacement sampler would first meet them. To add one, write it in a file of this folder and give it a line below.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.sentence import Sentence


@dataclass(frozen=True)
class Draws:
    """Different trees in the order drawn.

    Attributes:
        heads: (m, n) int32, m at most the size asked for.
        log_probs: (m,) log-probability of each under the sentence's distribution.
        exhausted: whether every tree of positive weight has been returned.
    """

    heads: NDArray[np.int32]
    log_probs: NDArray[np.float64]
    exhausted: bool

    @property
    def mass(self) -> float:
        """The probability of the trees drawn, all together."""
        return min(float(np.exp(self.log_probs).sum()), 1.0)


@dataclass(frozen=True)
class Algorithm:
    """A line of the register; `target` is ``file:function`` in this folder, imported when first used."""

    name: str
    target: str
    cost: str
    source: str

    def draw(self, sentence: Sentence, size: int, rng: np.random.Generator) -> Draws:
        """Up to `size` different trees."""
        file, function = self.target.split(":")
        draws: Draws = getattr(import_module(f"{__name__}.{file}"), function)(sentence, size, rng)
        return draws


_LINES = (
    Algorithm("trie", "trie:draw", "k n^3 and more on fresh branches", "Shi et al. 2020 over Colbourn's conditionals"),
    Algorithm("zmigrod", "zmigrod:draw", "k n^4 + k^2 n", "Zmigrod et al. 2021a, Fig. 7"),
)

ALGORITHMS: dict[str, Algorithm] = {line.name: line for line in _LINES}


def algorithm(name: str) -> Algorithm:
    """The algorithm of that name."""
    if name not in ALGORITHMS:
        raise DeptreeError(f"there is no SWOR algorithm {name!r}", f"Choose one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]
