"""The register of algorithms for sampling without replacement (SWOR): an entry each.

An algorithm is a function ``draw(distribution, size, rng, mass) -> Draws``: up to `size` distinct trees in the order in
which a with-replacement sampler would first meet them, of which the last brings the probability of all to `mass`. To
add one, write it in a file and give it an entry below; another package names its own by an entry point
(`deptree.swor`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import counted
from deptree_cli.core.register import Register, imported
from deptree_cli.core.streams import kernel_state

if TYPE_CHECKING:
    from deptree_cli.core.arc_factored import ArcFactored

__all__ = ["ALGORITHMS", "Algorithm", "Draws"]

# Behind the trees that reach a mass come this many, and one for every this many of them if those are more.
FURTHER = 5
SHARE = 10

# One minus the probabilities drawn keeps ten digits down to here.
LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Draws:
    """Distinct trees of a sentence, sampled without replacement, with their arrival times.

    The arrival time of a tree of probability p is that of an exponential clock, Exp(p); `estimate` needs it. Trees are
    in the order of their arrivals.

    Attributes:
        heads: (m, n) int32, the trees; m is the requested number, or that of all trees if this is smaller.
        log_probs: (m,), their log-probabilities.
        arrivals: (m,), their arrival times, increasing.
        tau: the arrival time of the next tree; infinite if there is none.
        exhausted: whether every tree of positive weight has been returned.
        certain: the number of first trees that were sampled to reach a mass. Their weight in estimates is their
            probability; the clock of the others starts at the last of these arrivals (docs/estimates.md).
        labels: (m, n) of labelled trees, numbers of the sentence's labels; heads may then repeat, and log_probs are of
            tree and labels.
    """

    heads: Heads
    log_probs: Float
    arrivals: Float
    tau: float
    exhausted: bool
    certain: int = 0
    labels: Heads | None = None

    @classmethod
    def timed(cls, heads: Heads, log_probs: Float, log_left: Float, clock: np.random.Generator) -> Draws:
        """The draws with arrival times made up from the mass left: T_(i+1) = T_i + Exp(1) / left_i.

        log_left: (m+1,), the logarithm of the mass not drawn before each tree and after the last.
        """
        with np.errstate(over="ignore"):
            times = np.cumsum(clock.standard_exponential(len(log_left)) * np.exp(-log_left))
        return cls(heads, log_probs, times[:-1], float(times[-1]), bool(log_left[-1] == -np.inf))

    def first(self, count: int) -> Draws:
        """The first `count` trees, as if no more had been sampled; all, if there are fewer."""
        if count >= len(self.heads):
            return self
        heads, log_probs, arrivals = self.heads[:count], self.log_probs[:count], self.arrivals[:count]
        labels, tau = None if self.labels is None else self.labels[:count], float(self.arrivals[count])
        return Draws(heads, log_probs, arrivals, tau, False, self.certain, labels)

    def reach(self, mass: float) -> int:
        """The number of first trees whose total probability reaches a mass; all, if it is out of reach."""
        return min(int(np.searchsorted(np.exp(self.log_probs).cumsum(), mass)) + 1, len(self.heads))

    @property
    def since(self) -> float:
        """The arrival time of the last certain tree; 0 if there is none."""
        return float(self.arrivals[self.certain - 1]) if self.certain else 0.0

    @property
    def window(self) -> float:
        """The time from `since` to `tau`, in which the other trees arrived."""
        return window_of(self.since, self.tau)

    @property
    def mass(self) -> float:
        return min(float(np.exp(self.log_probs).sum()), 1.0)

    def __repr__(self) -> str:
        left = "all there are" if self.exhausted else f"tau={self.tau:.4g}"
        trees = counted(len(self.heads), "distinct tree" if self.labels is None else "distinct labelled tree")
        return f"<Draws: {trees}, mass={self.mass:.4g}, {left}>"


def window_of(since: float, tau: float) -> float:
    """The time from `since` to `tau`; infinite where tau is."""
    return tau if np.isinf(tau) else tau - since


def most_certain(size: int) -> int:
    """How many trees may be drawn to reach a mass, if `size` may come in all: half, and `FURTHER` of them are left."""
    return max(0, min(size // 2, size - FURTHER))


def size_for_mass(certain: int, size: int) -> int:
    """How many trees to draw in all once the first `certain` have reached the mass, or are as many as may try to.

    It depends on nothing that comes after these, which is why the estimates are unbiased (docs/estimates.md).
    """
    return size if certain == most_certain(size) else certain + max(FURTHER, -(-certain // SHARE))


def clock_of(rng: np.random.Generator) -> np.random.Generator:
    """A stream for arrival times, so that they do not depend on how many trees are drawn."""
    return np.random.Generator(np.random.PCG64(kernel_state(rng, 2).tolist()))


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

        def drawn(size: int, rng: np.random.Generator, mass: float = 1.0) -> Draws:
            return target(distribution, distribution.room_for(size), rng, mass)

        most = most_certain(size)
        if mass >= 1 or most == 0:
            return drawn(size, rng)
        if self.sequential:  # what reaches the mass comes twice: no algorithm has to know what is drawn behind it
            certain = len(drawn(most, deepcopy(rng), mass).heads)
            draws = drawn(size_for_mass(certain, size), rng)
        else:
            draws = drawn(size, rng)
            certain = min(most, draws.reach(mass))
            draws = draws.first(size_for_mass(certain, size))
        return replace(draws, certain=certain)


ALGORITHMS: Register[Algorithm] = Register(
    "SWOR algorithm",
    (
        Algorithm(
            "auto",
            "deptree_cli.core.cells:draw_auto",
            "n^3 + k min(h, n^2) while trees are new, k n^3 at worst",
            "this project: samples with replacement, and divides the space of trees where samples repeat; "
            "for projective trees a trie of their choices, n^3 + k n^2",
        ),
        Algorithm(
            "trie",
            "deptree_cli.core.conditionals:draw_trie",
            "k n^3",
            "Shi et al. 2020 over Colbourn's conditionals, or Eisner's chart",
        ),
        Algorithm(
            "beam",
            "deptree_cli.core.conditionals:draw_beam",
            "k n^3, all k at once",
            "stochastic beam search, Kool et al. 2019, over Colbourn's conditionals (Stanojevic 2022, section 5)",
            sequential=False,
        ),
        Algorithm(
            "zmigrod", "deptree_cli.core.conditionals:draw_zmigrod", "k n^4 + k^2 n", "Zmigrod et al. 2021a, Fig. 7"
        ),
    ),
    "deptree.swor",
)
