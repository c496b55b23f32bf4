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

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Draws:
    """Different trees in the order drawn, and when they came.

    With replacement, at one draw per unit of time on average and at random times, a tree of probability p first comes
    at a time ~ Exp(p): the arrival times are these, and what an estimator needs (`core/estimate.py`).

    Attributes:
        heads: (m, n) int32, m at most the size asked for.
        log_probs: (m,) log-probability of each under the sentence's distribution.
        arrivals: (m,) when each came, increasing.
        tau: when the next one would have come, infinite where there is none.
        exhausted: whether every tree of positive weight has been returned.
    """

    heads: NDArray[np.int32]
    log_probs: Float
    arrivals: Float
    tau: float
    exhausted: bool

    @classmethod
    def timed(cls, heads: NDArray[np.int32], log_probs: Float, log_left: Float, clock: np.random.Generator) -> Draws:
        """The draws, arrival times made up from the mass left: T_(i+1) = T_i + Exp(1) / left_i.

        log_left: (m+1,), the logarithm of the mass not drawn before each tree and after the last.
        """
        with np.errstate(over="ignore"):
            times = np.cumsum(clock.standard_exponential(len(log_left)) * np.exp(-log_left))
        return cls(heads, log_probs, times[:-1], float(times[-1]), bool(log_left[-1] == -np.inf))

    @property
    def mass(self) -> float:
        """The probability of the trees drawn, all together."""
        return min(float(np.exp(self.log_probs).sum()), 1.0)


def clock_of(rng: np.random.Generator) -> np.random.Generator:
    """A stream for arrival times, so that they do not depend on how many trees are drawn."""
    return np.random.Generator(np.random.PCG64(rng.bit_generator.random_raw(2).tolist()))


@dataclass(frozen=True)
class Algorithm:
    """A line of the register.

    Attributes:
        target: ``file:function`` in this folder, imported when first used.
        sequential: whether fewer trees are the first of more.
    """

    name: str
    target: str
    cost: str
    source: str
    sequential: bool = True

    def draw(self, sentence: Sentence, size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
        """Up to `size` different trees, of which the last brings the probability of all to `mass` (if one does)."""
        file, function = self.target.split(":")
        draws: Draws = getattr(import_module(f"{__name__}.{file}"), function)(sentence, size, rng, mass)
        return draws


_LINES = (
    Algorithm(
        "auto",
        "partition_tree:draw",
        "about n^3 + k h while the mass is spread, k n^3 at worst",
        "adaptive partition tree: draws with replacement, the space of trees divided where repeats pile up",
    ),
    Algorithm("trie", "trie:draw", "k n^3 and more on fresh branches", "Shi et al. 2020 over Colbourn's conditionals"),
    Algorithm(
        "beam",
        "beam:draw",
        "k n^3, all k at once",
        "stochastic beam search, Kool et al. 2019, over Colbourn's conditionals (Stanojevic 2022, section 5)",
        sequential=False,
    ),
    Algorithm("zmigrod", "zmigrod:draw", "k n^4 + k^2 n", "Zmigrod et al. 2021a, Fig. 7"),
)

ALGORITHMS: dict[str, Algorithm] = {line.name: line for line in _LINES}


def algorithm(name: str) -> Algorithm:
    """The algorithm of that name."""
    if name not in ALGORITHMS:
        raise DeptreeError(f"there is no SWOR algorithm {name!r}", f"Choose one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]
