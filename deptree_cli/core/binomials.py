"""Binomial tails that err on the safe side, the smallest p-value of many, and the power of a single test.

The exact probability of an event is known up to rounding: within `slack`. Each tail is taken at the end of that
interval where it is larger, and p-values are rounded up by more than the tails' own error, so that what is said about
them holds for the numbers as they are computed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deptree_cli.core.dtypes import Array, Float, Int

# Relative error of `betainc`, generously: 1.3e-10 at a billion draws down to tails of 1e-284, 2e-13 at 2,000.
ROUNDING = 1e-9

# Smaller tails lose digits to underflow inside `betainc` and count as this, which only makes a p-value larger.
SMALLEST_TAIL = 1e-250

# Rounding of one sum of weights and its normalisation, before what grows with the sentence.
LEAST_SLACK = 1e-12

# Trees this much less likely than e^-30 of the whole do not matter for an absolute error of 1e-12.
DEPTH = 30.0


def probability_slack(n: int) -> float:
    """How far the computed probability of an event of trees of n words may be from the true one, absolutely.

    Sums of weights have a relative error of a few epsilons a word, as have log-probabilities of trees that matter, down
    to e^-DEPTH; measured errors are below a thousandth of this.
    """
    return LEAST_SLACK + 8.0 * float(np.finfo(float).eps) * (n + 1) * DEPTH


def upper_tail(counts: Array, size: Array, probs: Array) -> Float:
    """P(X >= count) for X ~ Binomial(size, p), elementwise; p above 1 is 1, and a tail is 0 or at least 1e-250."""
    tail = special.betainc(np.maximum(counts, 1.0), np.maximum(size - counts, 0.0) + 1.0, np.minimum(probs, 1.0))
    tail = np.where(probs > 0.0, np.maximum(tail, SMALLEST_TAIL), tail)
    return np.where(counts <= 0.0, 1.0, tail)


def binomial_p_values(counts: ArrayLike, size: ArrayLike, probs: ArrayLike, slack: ArrayLike = 0.0) -> Float:
    """Two-sided exact p-values, twice the smaller tail, at most 1: valid for every probability within slack of probs.

    The lower tail is the upper one of what did not happen, so that probabilities near 1 lose nothing.
    """
    drawn, of, probs, slack = (np.asarray(values, dtype=float) for values in (counts, size, probs, slack))
    upper = upper_tail(drawn, of, probs + slack)
    lower = upper_tail(of - drawn, of, (1.0 - probs) + slack)
    return np.minimum(1.0, 2.0 * (1.0 + ROUNDING) * np.minimum(upper, lower))


def smallest_p_value(counts: Array, size: int, probs: Float, slack: float) -> float:
    """The smallest of the two-sided p-values of events (m,), 1 without any.

    With D = size * KL(count / size || p), a tail lies between exp(-D) / sqrt(2 size) and exp(-D) (Ash 1965, lemma
    4.7.2), so only events near the largest D can have the smallest tail, and only their tails are computed.
    """
    if not len(counts) or not size:
        return 1.0
    observed = counts / size
    nearest = np.clip(observed, np.maximum(probs - slack, 0.0), np.minimum(probs + slack, 1.0))
    divergence = size * (special.kl_div(observed, nearest) + special.kl_div(1.0 - observed, 1.0 - nearest))
    candidates = divergence >= divergence.max() - 0.5 * np.log(2.0 * size) - 2.0
    return float(binomial_p_values(counts[candidates], size, probs[candidates], slack).min())


def mean_deviation(probs: Float, size: int) -> Float:
    """E|X/size - p| for X ~ Binomial(size, p): 2 p (1-p) P(Binomial(size-1, p) = floor(size p)) (de Moivre)."""
    if size == 0:
        return np.zeros_like(probs)
    found = np.exp(special.xlog1py(size - 1, -np.minimum(probs, 0.5)))  # that none is drawn
    some = (size * probs >= 1.0) & (probs < 1.0)
    found[some] = _middle(size - 1, probs[some], np.floor(size * probs[some]))
    return 2.0 * probs * (1.0 - probs) * found


def _middle(size: int, probs: Float, counts: Float) -> Float:
    """P(Binomial(size, p) = count) for counts from 1 near the mean, to a few epsilons however large size is.

    Stirling's formula with its error (Loader 2000): log-factorials themselves would lose digits as they grow.
    """
    left = size - counts
    off = counts - size * probs
    exponent = _stirling_error(size) - _stirling_error(counts) - _stirling_error(left)
    with np.errstate(divide="ignore"):
        exponent -= counts * np.log1p(off / (size * probs)) + special.xlog1py(left, -off / (size * (1.0 - probs)))
        found = np.sqrt(size / (2.0 * np.pi * counts * left)) * np.exp(exponent)
    return np.where(left == 0.0, np.exp(special.xlogy(size, probs)), found)


def _stirling_error(counts: Array | int) -> Float:
    """log n! less Stirling's formula, elementwise; 0 for n = 0."""
    many = np.maximum(counts, len(_FEW))
    series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * many**2)) / many**2) / many**2) / many
    few = np.minimum(counts, len(_FEW) - 1).astype(np.int64)
    return np.where(counts < len(_FEW), _FEW[few], series)


# The same of the first sixteen numbers; for the others four terms of its series are exact.
_FEW = np.array(
    [0.0, *(math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(math.tau) for n in range(1, 16))]
)


def critical_counts(sizes: Int, probs: Float, levels: Float) -> Int:
    """The smallest counts whose upper tails make two-sided p-values smaller than levels; size + 1 where none does."""
    low, high = np.ones_like(sizes), sizes + 1
    while (low < high).any():
        middle = (low + high) // 2
        is_rare = 2.0 * (1.0 + ROUNDING) * upper_tail(middle, sizes, probs) < levels
        is_open = low < high
        high = np.where(is_open & is_rare, middle, high)
        low = np.where(is_open & ~is_rare, middle + 1, low)
    return low


def shares_found(sizes: Int, probs: Float, slacks: Float, levels: Float, power: float) -> Float:
    """The shares e of mixtures that tests of one event find with this power; above 1 where none is found.

    The mixture: (1-e) of the distribution under which the event has this probability, and e of one in which it is
    certain. Solves P(Binomial(size, prob + e (1 - prob)) >= critical count) = power.
    """
    counts = critical_counts(sizes, probs + slacks, levels)
    found = np.full(len(sizes), np.inf)
    some = (counts <= sizes) & (probs < 1.0)
    needed = special.betaincinv(counts[some], sizes[some] - counts[some] + 1, power)
    found[some] = np.maximum(0.0, (needed - probs[some]) / (1.0 - probs[some]))
    return found
