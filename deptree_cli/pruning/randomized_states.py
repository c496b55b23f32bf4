"""Randomized dynamic programming (Fu, Cunningham and Lapata 2022): the best states of a cell, and others by chance."""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.pruning.program import AnyCellProgram
from deptree_cli.pruning.settings import Settings


def randomized_states(program: AnyCellProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """MonteCarloEstimate expectations by runs that keep the best states of each cell and draw some of the others.

    States are drawn independently of each other, and what is drawn weighs one over its probability. No structure has a
    state twice, so every structure's weight is right on average: Z, and the sums of features, are unbiased, their
    ratio over all runs is so in the limit.

    Raises:
        DeptreeError: no run kept a structure.
    """
    chances = inclusion_probabilities(program.merits(), settings.kept)
    with np.errstate(divide="ignore"):
        log_weights = np.where(chances > 0, -np.log(chances), 0.0)
    ratio, done = Ratio(), 0
    for _ in settings.rounds():
        log_z, chart = program.inside(program.keep(rng.random(chances.shape) < chances, log_weights))
        if log_z > -np.inf:
            ratio.add(log_z, program.outside(chart))
        done += 1
    if not ratio.runs:
        raise DeptreeError("no run kept a structure", "Keep more states (kept)")
    return MonteCarloEstimate(
        ratio.mean(),
        ratio.standard_errors(),
        iterations=done,
        effective_size=ratio.effective_size,
        is_interrupted=settings.stop(),
    )


def inclusion_probabilities(merits: Float, kept: int) -> Float:
    """With which probability each state is kept, (cells, states): certainly the best ones, by merits of +inf or rank.

    Of the others of a cell `kept` are drawn on average, half of them by their merits, half by chance alone, so that
    none that matters after all weighs too much.
    """
    chances = np.where(merits == np.inf, 1.0, 0.0)
    for cell, row in zip(chances, np.where(np.isfinite(merits), merits, -np.inf), strict=True):
        ranked = np.argsort(-row, kind="stable")[: int(np.isfinite(row).sum())]
        others = ranked[kept:]
        cell[ranked[:kept]] = 1.0
        if len(others):
            shares = np.exp(row[others] - row[others[0]])
            cell[others] = np.minimum(1.0, kept * (shares / shares.sum() + 1.0 / len(others)) / 2)
    return chances


class Ratio:
    """The ratio of two averages over runs: features times Z over Z, with the weights of runs known by logarithms."""

    def __init__(self) -> None:
        self.runs = 0
        self._highest = -math.inf
        self._weight = self._weight_squared = 0.0
        self._sums: list[Float | float] = [0.0, 0.0, 0.0]

    def add(self, log_weight: float, features: Float) -> None:
        """Count a run of this weight."""
        if log_weight > self._highest:
            factor = math.exp(self._highest - log_weight)
            self._weight *= factor
            self._weight_squared *= factor**2
            self._sums = [total * factor**power for total, power in zip(self._sums, (1, 2, 2), strict=True)]
            self._highest = log_weight
        weight = math.exp(log_weight - self._highest)
        self.runs += 1
        self._weight += weight
        self._weight_squared += weight**2
        first, second, third = self._sums
        self._sums = [first + weight * features, second + weight**2 * features, third + (weight * features) ** 2]

    def mean(self) -> Float:
        """The features' average by weight; there is a run."""
        return np.asarray(self._sums[0] / self._weight)

    def standard_errors(self) -> Float | None:
        """The standard errors of the ratio, by the delta method; None for fewer than two runs."""
        if self.runs < 2:
            return None
        mean, (_, second, third) = self.mean(), self._sums
        squares = np.asarray(third - 2 * mean * second + mean**2 * self._weight_squared)
        return np.sqrt(np.maximum(squares, 0.0)) / self._weight

    @property
    def effective_size(self) -> float:
        """As good as how many runs of equal weight they are (Kish)."""
        return self._weight**2 / self._weight_squared
