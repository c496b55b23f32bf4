"""What distinct trees say about all trees: expectations estimated from a sample without replacement.

A tree of probability p is among those drawn before time tau with probability q = 1 - exp(-p tau), independently of the
others given tau; weighted by p / q the trees drawn give unbiased sums (priority sampling: Duffield, Lund, Thorup 2007;
for sampling without replacement: Vieira 2017, Kool et al. 2019). Trees drawn to reach a mass are certain: q = 1, and
the time of the others starts with the last of them. Proofs, and how errors were measured: docs/estimates.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.quantities import OF_TREES
from deptree_cli.core.swor import Draws

# Trees whose values are held at once: a matrix per tree, where arcs are asked for.
CHUNK = 256

# By how much sums of probabilities may be off: files of CoNLL-U have six decimals of their logarithms.
ROUNDING = 1e-5

_WHOLE = "Give what one call drew, whole and in its order"

# An error takes this many trees that are not certain: with one, the variance of its weight is infinite.
FEWEST = 2


@dataclass(frozen=True)
class Estimate:
    """Two estimates of an expectation with their standard errors, numbers or arrays.

    Errors are widened if few trees carry them: the expectation is within 1.96 errors with probability 0.95. They are 0
    if every tree was sampled, and NaN if the trees cannot tell them.

    Attributes:
        unbiased: the sum of weight * value; unbiased for any number of trees.
        unbiased_error: NaN for one tree, or if all values are 0.
        normalised: this sum divided by the sum of weights; slightly biased, with much less spread on flat scores.
        normalised_error: NaN for one tree, or if all trees have the same value.
    """

    unbiased: Float
    unbiased_error: Float
    normalised: Float
    normalised_error: Float


def weights(log_probs: Float, window: float, certain: int = 0) -> Float:
    """The weight of each tree, (k,): p of certain trees, p / (1 - exp(-p window)) of the others (Duffield et al. 2007).

    Args:
        window: the time in which the others arrived; infinite if no tree is left, which makes every weight p.
        certain: the number of first trees that are certain.
    """
    probs = np.exp(log_probs)
    if np.isinf(window):
        return probs
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.where(probs * window > 1e-16, probs / -np.expm1(-probs * window), 1.0 / window)
    return np.where(np.arange(len(probs)) < certain, probs, others)


def estimate(draws: Draws, functional: Callable[[Heads], Float] | str) -> Estimate:
    """Estimate the expectation of a functional under the distribution from which distinct trees were sampled.

    Errors estimate Var = sum over all trees of (p f)^2 (1 - q) / q from the sampled trees. For the normalised estimate,
    f minus the mean takes the place of f, and every term is divided by 1 - (the tree's share of all weights), because
    the mean is estimated from the same trees. They are scaled by Student's quantile in place of 1.96, for the number of
    trees that carry the error.

    Args:
        draws: what `TreeDistribution.sample_without_replacement` returns.
        functional: the name of a quantity of trees, or a function: trees (k, n) -> a number (k,) or an array for each.

    Returns:
        an `Estimate`: `unbiased` (Vieira 2017) and `normalised`, each with its standard error.

    Raises:
        DeptreeError: the trees are not a whole sample in its order, or there is no such quantity.
    """
    check_draws(draws)
    value_of = OF_TREES.get(functional).of_sentence if isinstance(functional, str) else functional
    weight = weights(draws.log_probs, draws.window, draws.certain)
    noise, total = np.zeros_like(weight), weight.sum()
    if not np.isinf(draws.window):  # the part of each tree in the variance of the sum: its weight squared times 1 - q
        noise = weight**2 * np.exp(-np.exp(draws.log_probs) * draws.window)
        noise[: draws.certain] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(noise > 0, noise / (1 - weight / total), 0.0) if len(noise) > 1 else noise
    heaviest = int(weight.argmax())
    centre = value_of(draws.heads[heaviest : heaviest + 1])[0]  # values are taken from here, so that little cancels
    sums = [np.asarray(0.0)] * 5
    for start in range(0, len(draws.heads), CHUNK):
        part = slice(start, start + CHUNK)
        values = value_of(draws.heads[part])
        shifted = values - centre
        each = (weight, values), (noise, values**2), (weight, shifted), (own, shifted), (own, shifted**2)
        sums = [before + np.tensordot(by[part], of, axes=1) for before, (by, of) in zip(sums, each, strict=True)]
    first, second, shift, cross, square = sums
    mean = shift / total
    spread = square - 2 * mean * cross + mean**2 * own.sum()
    unbiased_error = _error(second, _widening(draws, noise, 0))
    return Estimate(first, unbiased_error, first / total, _error(spread, _widening(draws, noise, 1)) / total)


def check_draws(draws: Draws) -> None:
    """Raise unless these may be distinct trees of one distribution, whole and in the order in which they came.

    Arrivals are NaN if they are not known.
    """
    count, log_probs, arrivals = len(draws.heads), np.asarray(draws.log_probs), np.asarray(draws.arrivals)
    if not count:
        raise DeptreeError("there are no trees to estimate from", "Draw at least one")
    for name, numbers in (("log_probs", log_probs), ("arrivals", arrivals)):
        if numbers.shape != (count,):
            raise DeptreeError(f"there are {count} trees, but {name} has the shape {numbers.shape}", _WHOLE)
    with np.errstate(over="ignore"):
        mass = float(np.exp(log_probs).sum())
    if not (log_probs <= ROUNDING).all() or mass > 1 + ROUNDING:
        raise DeptreeError(f"the probability of the trees is {mass:.6g} in all, not 0 to 1", _WHOLE)
    if np.isinf(draws.window) and mass < 1 - ROUNDING:
        problem = f"these are declared to be all trees, but their probability is {mass:.6g} in all, not 1"
        raise DeptreeError(problem, _WHOLE)
    if not draws.window > 0 or not 0 <= draws.certain <= count:
        problem = f"{draws.certain} of {count} trees are certain, and the others had the time {draws.window:g} to come"
        raise DeptreeError(problem, _WHOLE)
    if not (np.isnan(arrivals).all() or (arrivals[0] >= 0 and (arrivals[:-1] <= arrivals[1:]).all())):
        raise DeptreeError("the arrival times are not in order: trees are missing or were moved", _WHOLE)


def _widening(draws: Draws, noise: Float, means: int) -> float:
    """By how much a standard error is widened for an interval of 0.95; 0 without noise, NaN for too few trees.

    A few trees may have nearly all of the noise: (sum)^2 / (sum of squares) says how many count. As many degrees of
    freedom are lost as means were estimated; one is always left.
    """
    if not noise.any():
        return 0.0
    if len(noise) - draws.certain < FEWEST:
        return np.nan
    from scipy.special import stdtrit  # a tenth of a second, where there is something to estimate

    shares = noise / noise.max()
    freedom = shares.sum() ** 2 / (shares**2).sum() - means
    return float(stdtrit(max(freedom, 1.0), 0.975) / stdtrit(np.inf, 0.975))


def _error(variance: Float, widening: float) -> Float:
    """The error from an estimated variance; NaN where the trees do not show any although others were missed."""
    seen = np.sqrt(np.maximum(variance, 0.0)) * widening
    return np.where((seen > 0) | (widening == 0), seen, np.nan)[()]  # a number, where it is one
