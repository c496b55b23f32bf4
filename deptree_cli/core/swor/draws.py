"""What sampling without replacement gives: distinct trees, when they came, and what an estimator needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Float, Heads


@dataclass(frozen=True, eq=False)
class Draws:
    """Distinct trees in the order drawn, and when they came.

    With replacement, at one draw per unit of time on average and at random times, a tree of probability p first comes
    at a time ~ Exp(p): the arrival times are these, and what an estimator needs (`core/estimate.py`).

    Attributes:
        heads: (m, n) int32, m at most the size asked for.
        log_probs: (m,) log-probability of each under the sentence's distribution.
        arrivals: (m,) when each came, increasing.
        tau: when the next one would have come, infinite where there is none.
        exhausted: whether every tree of positive weight has been returned.
    """

    heads: Heads
    log_probs: Float
    arrivals: Float
    tau: float
    exhausted: bool

    @classmethod
    def timed(cls, heads: Heads, log_probs: Float, log_left: Float, clock: np.random.Generator) -> Draws:
        """The draws with arrival times made up from the mass left: T_(i+1) = T_i + Exp(1) / left_i.

        log_left: (m+1,), the logarithm of the mass not drawn before each tree and after the last.
        """
        with np.errstate(over="ignore"):
            times = np.cumsum(clock.standard_exponential(len(log_left)) * np.exp(-log_left))
        return cls(heads, log_probs, times[:-1], float(times[-1]), bool(log_left[-1] == -np.inf))

    @property
    def mass(self) -> float:
        """The probability of the trees drawn, all together."""
        return min(float(np.exp(self.log_probs).sum()), 1.0)

    def __repr__(self) -> str:
        left = "all there are" if self.exhausted else f"tau={self.tau:.4g}"
        return f"<Draws: {len(self.heads)} distinct trees, mass={self.mass:.4g}, {left}>"


def clock_of(rng: np.random.Generator) -> np.random.Generator:
    """A stream for arrival times, so that they do not depend on how many trees are drawn."""
    return np.random.Generator(np.random.PCG64(rng.bit_generator.random_raw(2).tolist()))
