"""Score matrices from arc marginals: projective trees of a particle filter made into an arc-factored distribution.

Of all distributions over projective trees with given arc marginals the one of maximum entropy is arc-factored; its
scores theta maximise the concave dual  sum of mu * theta - log Z(theta), whose gradient is mu less the marginals of
theta (Berger et al. 1996; for trees: Smith and Eisner 2008). What a filter knows beyond the marginals of single arcs
is lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from deptree_cli.core.dtypes import Float, read_only
from deptree_cli.core.errors import DeptreeError, Setting, counted
from deptree_cli.core.factorisation import shift
from deptree_cli.core.register import Register
from deptree_cli.core.spaces import PROJECTIVE

# How far sums of marginals may be from 1, which rounding explains.
SUMS_WITHIN = 1e-6

# Evaluations: parsers' marginals take 20 to 60, of 200 words 200, five random trees over 150 words 600. They are O(n^3)
# each, so longer sentences have fewer: 125 of 400 words, in 4 s. Some word may then be farther off than the tolerance,
# up to 0.05 or it is an error; and for sentences that are longer still so few would not do.
MOST_EVALUATIONS = 3000
MOST_WORK = 125 * 400**3
LONGEST = 500
TOO_FAR = 0.05

# What is added to variances, so that certain arcs and nearly impossible ones do not take steps out of proportion.
CERTAIN = 0.01
IMPROBABLE = 1e-5

REMEDY = "Give the marginals of arcs, [head, dependent], of projective single-root trees"

PARTICLES = Setting("particles")
LOGARITHMS = Setting("kind", "log", "score-kind log")
INSTEAD = f"use the logarithms of the marginals ({LOGARITHMS})"


Notify = Callable[[str], object]


def log_scores(mu: Float, notify: Notify = warnings.warn) -> Float:
    """The logarithms of the marginals: a heuristic, whose own marginals differ and are often more peaked.

    mu: (n+1, n+1), ``[head, dependent]``: marginals of arcs in projective single-root trees.
    """
    _check(mu)
    return _log(mu)


def maxent_scores(mu: Float, smoothing: float = 0.01, tolerance: float = 1e-3, notify: Notify = warnings.warn) -> Float:
    """Scores whose projective trees have the same marginals, slightly smoothed: the maximum-entropy distribution.

    They are found by L-BFGS, each evaluation O(n^3). Constants for each word and for ROOT's arcs, which change
    no distribution, are such that the best of them is 0.

    Args:
        mu: (n+1, n+1), ``[head, dependent]``: marginals of arcs in projective single-root trees.
        smoothing: the share of the uniform distribution over projective trees that is mixed in. With 0, arcs of
            marginal 0 are forbidden, and scores may run far apart, as finite ones with these marginals need not exist.
        tolerance: the largest total variation between a word's distribution over heads and the smoothed one; most
            words are much closer. Rounding allows 1e-7 and more. Sentences of more than about 250 words are given up
            to 0.05.
        notify: called with a line where some word is farther off than the tolerance.

    Returns:
        (n+1, n+1) log-scores, ``-inf`` in column 0, on the diagonal and for forbidden arcs.
    """
    _check(mu)
    if not 0.0 <= smoothing <= 1.0:
        raise DeptreeError(f"smoothing is {smoothing:g}", "Pass a number from 0 to 1")
    n = len(mu) - 1
    if n > LONGEST:
        problem = f"maximum-entropy scores are computed for up to {LONGEST} words, but the sentence has {n:,}"
        raise DeptreeError(problem, f"Split it, or {INSTEAD}", options=[LOGARITHMS])
    from scipy.optimize import minimize

    dual = _Dual((1.0 - smoothing) * mu + smoothing * uniform_marginals(n))
    most = min(MOST_EVALUATIONS, MOST_WORK // n**3)

    def scaled(point: Float) -> tuple[float, Float]:
        value, gradient = dual(point * dual.units)
        return value, gradient * dual.units

    def stop_when_close(_: Float) -> None:
        if dual.distance <= tolerance:
            raise StopIteration

    end = {"maxfun": most, "maxiter": most, "ftol": 0.0, "gtol": 0.0}
    minimize(scaled, dual.start / dual.units, jac=True, method="L-BFGS-B", callback=stop_when_close, options=end)
    far = tolerance if most == MOST_EVALUATIONS else max(tolerance, TOO_FAR)
    if not dual.distance <= far:
        problem = f"no score matrix was found with these marginals: some word is {dual.distance:.2g} off"
        raise DeptreeError(problem, f"Use more {PARTICLES}, or {INSTEAD}", options=[PARTICLES, LOGARITHMS])
    if dual.distance > tolerance:
        taken = f"a long sentence: after {counted(dual.evaluations, 'step')}"
        notify(f"{taken} the marginals of its scores are up to {dual.distance:.2g} off")
    return shift(dual.scores, PROJECTIVE).log_weights


@lru_cache(maxsize=128)
def uniform_marginals(n: int) -> Float:
    """P(head -> dependent) if all projective single-root trees over n words are alike, (n+1, n+1), read-only. O(n^3)"""
    from deptree_cli.core.spaces import factorise_near  # loads kernels: when there is work
    from deptree_cli.kernels.charts import LOG_GROWTH

    weights = 1.0 - np.eye(n + 1)
    weights[:, 0] = 0.0
    return read_only(factorise_near(_log(weights), PROJECTIVE, np.full(n, LOG_GROWTH)).marginals())


class _Dual:
    """log Z(theta) less the sum of target * theta, with its gradient: a convex function of scores.

    `start` (arcs,) is the log of the target. `units` (arcs,) are one over the standard deviations of arcs: scaled by
    these the diagonal of the Hessian at the minimum is 1 almost everywhere, which saves three evaluations of four or
    more. `scores` (n+1, n+1) is theta of the evaluation that came closest to the target, `distance` its total variation
    from that, of the worst word.
    """

    def __init__(self, target: Float) -> None:
        self._size = len(target)
        self._arcs = np.nonzero(target)
        self._target = target[self._arcs]
        self.units: Float = 1.0 / np.sqrt(self._target * (1.0 - self._target + CERTAIN) + IMPROBABLE)
        self.start: Float = np.log(self._target)
        self.evaluations = 0
        self._value = 0.0
        self.scores = _log(target)
        self.distance = np.inf

    def __call__(self, values: Float) -> tuple[float, Float]:
        from deptree_cli.core.spaces import factorise_near  # loads kernels: when there is work

        self.evaluations += 1
        scores = np.full((self._size, self._size), -np.inf)
        scores[self._arcs] = values
        # What log Z is more than the average tree's score is the value itself, and that is much the same as before.
        average = np.bincount(self._arcs[1], values * self._target, self._size)[1:]
        typical = np.asarray(average + self._value / len(average), dtype=np.float64)
        sums = factorise_near(scores, PROJECTIVE, typical)
        self._value = value = sums.log_z - float(values @ self._target)
        if value < -SUMS_WITHIN * (1.0 + float(np.abs(values) @ self._target)):
            raise DeptreeError("no distribution over projective single-root trees has these marginals", REMEDY)
        excess: Float = sums.marginals()[self._arcs] - self._target
        distance = 0.5 * float(np.bincount(self._arcs[1], np.abs(excess)).max())
        if distance < self.distance:
            self.distance, self.scores = distance, scores
        return value, excess


def _log(weights: Float) -> Float:
    """Logarithms of weights, ``-inf`` for 0."""
    with np.errstate(divide="ignore"):
        return np.log(weights)


def _check(mu: Float) -> None:
    """Raise a DeptreeError unless mu has the sums and zeros of marginals of arcs in single-root trees."""
    if mu.ndim != 2 or mu.shape[0] != mu.shape[1] or len(mu) < 2:
        raise DeptreeError(f"the marginals have shape {mu.shape}, not (n+1, n+1) for n words", REMEDY)
    if not (mu >= 0.0).all() or mu[:, 0].any() or mu.diagonal().any():
        problem = "a marginal is negative or NaN, or an arc into ROOT or from a word to itself has a marginal"
        raise DeptreeError(problem, REMEDY)
    wrong = np.abs(mu[:, 1:].sum(axis=0) - 1.0) > SUMS_WITHIN
    if wrong.any():
        raise DeptreeError(f"the marginals of word {int(wrong.argmax()) + 1}'s heads do not sum to 1", REMEDY)
    if abs(mu[0].sum() - 1.0) > SUMS_WITHIN:
        raise DeptreeError("the marginals of ROOT's arcs do not sum to 1", REMEDY)


@dataclass(frozen=True)
class ScoreKind:
    """A way from marginals (n+1, n+1) to log-scores of that shape; its docstring begins with a line for users."""

    name: str
    function: Callable[..., Float]

    @property
    def summary(self) -> str:
        return (self.function.__doc__ or "").splitlines()[0]


# The first is the default.
SCORE_KINDS: Register[ScoreKind] = Register(
    "kind of scores", (ScoreKind("maxent", maxent_scores), ScoreKind("log", log_scores))
)
