"""What sampling without replacement gives: distinct trees, when they came, and what an estimator needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import counted
from deptree_cli.core.streams import kernel_state

# Behind the trees that reach a mass come so many, and one for every so many of them if those are more.
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
        """The total probability of the trees."""
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
