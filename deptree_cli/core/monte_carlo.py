"""Expectations that are estimated from independent draws, from chains, or from single masks."""

from __future__ import annotations

from dataclasses import dataclass

from deptree_cli.core.dtypes import Float


@dataclass(frozen=True, eq=False)
class MonteCarloEstimate:
    """Expectations as Monte Carlo estimates them, with standard errors.

    Attributes:
        expectations: of the features.
        standard_errors: of the same shape; None where there is no randomness, or too little to tell.
        log_partition: where it is exact.
        iterations: of each chain that count, or runs; None where there is but one.
        r_hat: how far chains and their halves differ (Gelman and Rubin 1992), 1 at best, of the worst feature.
        effective_size: as good as how many independent iterations they all are.
        is_interrupted: whether it was asked to stop.
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
