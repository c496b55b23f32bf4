"""What distinct trees say about all trees: expectations estimated from a sample without replacement.

A tree of probability p is among those drawn before time tau with probability q = 1 - exp(-p tau), independently of the
others given tau; weighted by p / q the trees drawn give unbiased sums (priority sampling: Duffield, Lund, Thorup 2007;
for sampling without replacement: Vieira 2017, Kool et al. 2019).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.register import Register

# Trees whose values are held at once: a matrix per tree, where arcs are asked for.
CHUNK = 256


@dataclass(frozen=True)
class Estimate:
    """An expectation, twice, each with its standard error: a number or an array each.

    Attributes:
        unbiased: sum of weight * value; right on average however few trees there are.
        normalised: the same divided by the sum of weights; slightly biased, and much less spread on flat scores.
    """

    unbiased: Float
    unbiased_error: Float
    normalised: Float
    normalised_error: Float


def weights(log_probs: Float, tau: float) -> Float:
    """p / (1 - exp(-p tau)) of each tree, (k,); p itself where no tree is left (tau infinite)."""
    probs = np.exp(log_probs)
    if np.isinf(tau):
        return probs
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(probs * tau > 1e-16, probs / -np.expm1(-probs * tau), 1.0 / tau)


class Timed(Protocol):
    """Distinct trees of a distribution, from `sample_without_replacement` or from a file."""

    @property
    def heads(self) -> Heads:
        """The trees, (k, n)."""

    @property
    def log_probs(self) -> Float:
        """Their log-probabilities, (k,)."""

    @property
    def tau(self) -> float:
        """When the next one would have come."""


def estimate(draws: Timed, functional: Callable[[Heads], Float]) -> Estimate:
    """Estimate the expectation of a functional under the distribution that distinct trees were drawn from.

    The errors come from Var = sum over all trees of (p f)^2 (1 - q) / q, estimated from those drawn.

    Args:
        draws: what `TreeDistribution.sample_without_replacement` returns, or trees from a file.
        functional: trees (k, n) -> a number (k,) or an array for each.
    """
    weight = weights(draws.log_probs, draws.tau)
    missed = np.zeros_like(weight) if np.isinf(draws.tau) else np.exp(-np.exp(draws.log_probs) * draws.tau)
    noise = weight**2 * missed
    first, cross, second = np.asarray(0.0), np.asarray(0.0), np.asarray(0.0)
    for start in range(0, len(draws.heads), CHUNK):
        part = slice(start, start + CHUNK)
        values = functional(draws.heads[part])
        first = first + np.tensordot(weight[part], values, axes=1)
        cross = cross + np.tensordot(noise[part], values, axes=1)
        second = second + np.tensordot(noise[part], values**2, axes=1)
    total = weight.sum()
    mean = first / total
    spread = np.maximum(second - 2 * mean * cross + mean**2 * noise.sum(), 0.0)
    return Estimate(first, np.sqrt(second), mean, np.sqrt(spread) / total)


def arcs(heads: Heads) -> Float:
    """Each arc: its expectation is its marginal probability.

    (k, n+1, n+1), ``[head, dependent]``, 1 where a tree has the arc.
    """
    k, n = heads.shape
    values = np.zeros((k, n + 1, n + 1))
    values[np.arange(k)[:, None], heads, np.arange(1, n + 1)] = 1.0
    return values


def depth(heads: Heads) -> Float:
    """Arcs from ROOT to the deepest word."""
    return _steps_to_root(heads).max(axis=1).astype(np.float64)


def dependency_length(heads: Heads) -> Float:
    """The mean distance of words from their heads, ROOT's arcs left out."""
    words = np.arange(1, heads.shape[1] + 1)
    counted = heads > 0
    return (np.abs(heads - words) * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)


def non_projective_arcs(heads: Heads) -> Float:
    """Arcs with a word between their ends that does not descend from the head."""
    k, n = heads.shape
    trees, words = np.arange(k)[:, None], np.arange(1, n + 1)
    above = np.zeros((k, n + 1, n + 1), dtype=bool)  # [tree, ancestor or self, word]
    climber = np.broadcast_to(words, heads.shape)
    padded = np.concatenate([np.zeros((k, 1), dtype=heads.dtype), heads], axis=1)
    for _ in range(n + 1):
        above[trees, climber, words] = True
        climber = padded[trees, climber]
    reached = np.cumsum(above, axis=2)
    low, high = np.minimum(heads, words), np.maximum(heads, words)
    between = reached[trees, heads, high - 1] - reached[trees, heads, low]
    return (between < high - low - 1).sum(axis=1).astype(np.float64)


def _steps_to_root(heads: Heads) -> Int:
    """The depth of each word, (k, n)."""
    k, n = heads.shape
    padded = np.concatenate([np.zeros((k, 1), dtype=heads.dtype), heads], axis=1)
    climber = np.broadcast_to(np.arange(1, n + 1), heads.shape)
    steps = np.zeros((k, n), dtype=np.int64)
    for _ in range(n):
        steps += climber > 0
        climber = padded[np.arange(k)[:, None], climber]
    return steps


@dataclass(frozen=True)
class Functional:
    """An entry of the register: what can be estimated.

    Attributes:
        function: trees (k, n) -> a number (k,) or an array for each; its docstring begins with a line for users.
        scalar: whether it is a number, which a table can show.
    """

    name: str
    function: Callable[[Heads], Float]
    scalar: bool = True

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return (self.function.__doc__ or "").splitlines()[0]


FUNCTIONALS: Register[Functional] = Register(
    "functional",
    (
        Functional("non_projective_arcs", non_projective_arcs),
        Functional("depth", depth),
        Functional("dependency_length", dependency_length),
        Functional("arcs", arcs, scalar=False),
    ),
)
