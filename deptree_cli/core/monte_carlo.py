"""Expectations that are estimated from independent draws, from chains, or from single masks."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int


@dataclass(frozen=True, eq=False)
class MonteCarloEstimate:
    """Monte Carlo estimates of expectations, with standard errors.

    Attributes:
        expectations: those of the features.
        standard_errors: those of the expectations, of the same shape; None for exact sums or too few iterations.
        log_partition: log Z, if it is known exactly.
        iterations: how many each chain has after burn-in, or the number of runs, or of trees; None if none was drawn.
        r_hat: the potential scale reduction of the worst feature (Gelman and Rubin 1992), 1 if chains agree.
        effective_size: the effective sample size, in independent iterations.
        is_interrupted: whether the estimate was stopped early.
    """

    expectations: Float
    standard_errors: Float | None = None
    log_partition: float | None = None
    iterations: int | None = None
    r_hat: float | None = None
    effective_size: float | None = None
    is_interrupted: bool = False

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in ("log_partition", "iterations", "r_hat", "effective_size")}
        parts = [f"{name}={value:.4g}" for name, value in shown.items() if value is not None]
        return f"<MonteCarloEstimate of {self.expectations.shape}: {', '.join(parts) or 'one mask'}>"


def shares(heads: Heads, times: Int | None = None, labels: Heads | None = None, names: int = 1) -> MonteCarloEstimate:
    """The shares of independent trees (k, n), or (k,) times each, that have each arc, (n+1, n+1[, names]).

    A head below 0 is none, and no arc. Standard errors are 0 where all trees agree, and None of a single tree.
    """
    k, n = heads.shape
    size, each = (k, None) if times is None else (int(times.sum()), np.repeat(times, n))
    shape: tuple[int, ...] = (n + 1, n + 1)
    places = heads.astype(np.int64) * (n + 1) + np.arange(1, n + 1)
    if labels is not None:
        shape, places = (*shape, names), places * names + labels
    if heads.size and heads.min() < 0:
        each = np.ones(k * n) if each is None else each
        each, places = each * (heads >= 0).ravel(), np.maximum(places, 0)
    found = np.bincount(places.ravel(), each, minlength=prod(shape)).reshape(shape) / size
    errors = np.sqrt(found * (1 - found) / (size - 1)) if size > 1 else None
    return MonteCarloEstimate(found, errors, iterations=size)
