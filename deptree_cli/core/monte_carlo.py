"""Expectations that are estimated from independent draws, from chains, or from single masks."""

from __future__ import annotations

from dataclasses import dataclass

from deptree_cli.core.dtypes import Float


@dataclass(frozen=True, eq=False)
class MonteCarloEstimate:
    """Monte Carlo estimates of expectations, with standard errors.

    Attributes:
        expectations: those of the features.
        standard_errors: those of the expectations, of the same shape; None for exact sums or too few iterations.
        log_partition: log Z, if it is known exactly.
        iterations: the number of iterations of each chain after burn-in, or of runs; None if there is only one.
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
