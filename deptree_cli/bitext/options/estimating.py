"""Runs that estimate: Ctrl-C makes do with what there is, and what is not to be trusted is named."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from deptree_cli.cli.run import Fold, RunOptions
from deptree_cli.cli.signals import INTERRUPTED
from deptree_cli.cli.terminal import status
from deptree_cli.core.errors import plural
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.pruning.methods import Method
from deptree_cli.pruning.program import AnyProgram
from deptree_cli.pruning.settings import Settings

Item = TypeVar("Item")


class Interrupt:
    """Whether Ctrl-C was pressed while somebody listened; the second one ends the process as always."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        """Whether to stop."""
        return self.asked

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the first Ctrl-C within the block for a wish; in the main thread only."""
        before = signal.getsignal(signal.SIGINT)

        def note(number: int, frame: FrameType | None) -> None:
            self.asked = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def until(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items up to the wish."""
        for item in items:
            if self.asked:
                return
            yield item


# Chains that differ by more than this have not come to the same distribution (Gelman et al. 2013, section 11.4).
HIGHEST_R_HAT = 1.1


@dataclass(frozen=True)
class Estimator:
    """A method with its settings; it travels to worker processes."""

    method: Method
    settings: Settings

    def __call__(self, program: AnyProgram, rng: np.random.Generator) -> MonteCarloEstimate:
        """The expectations of a program's features."""
        return self.method.estimate(program, rng, self.settings)


def convergence(estimate: MonteCarloEstimate) -> dict[str, Any]:
    """What an estimate tells of its errors, by the names of its fields; what there is."""
    errors = estimate.standard_errors
    found = {
        "standard_errors": None if errors is None else errors.tolist(),
        **{name: getattr(estimate, name) for name in ("iterations", "effective_size", "r_hat")},
        "interrupted": estimate.is_interrupted or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _tell(iterations: int) -> None:
    status().draw(f"{iterations:,} {plural(iterations, 'iteration')}")


class Estimating(Fold[float]):
    """One run; with workers Ctrl-C ends it at once, as it ends all others. Counts how far the chains of results differ.

    Attributes:
        work: program, random numbers -> MonteCarloEstimate.
    """

    attribute = "r_hat"

    def __init__(self, method: Method, settings: Settings, run: RunOptions) -> None:
        self._interrupt = Interrupt() if method.goes_on and not run.workers.are_elsewhere else None
        if self._interrupt:
            settings = replace(settings, stop=self._interrupt, tell=_tell)
        self.work = Estimator(method, settings)
        self._done = self._apart = 0

    def until_stopped(self, tasks: Iterator[Item]) -> Iterator[Item]:
        """The tasks that are still to be done."""
        return self._interrupt.until(tasks) if self._interrupt else tasks

    def listening(self) -> AbstractContextManager[None]:
        """Within the block Ctrl-C makes do with what there is."""
        return self._interrupt.listening() if self._interrupt else nullcontext()

    def add(self, counts: float) -> None:
        self._done += 1
        self._apart += counts > HIGHEST_R_HAT

    def lines(self) -> Iterator[str]:
        if self._was_stopped:
            yield f"interrupted: {self._done} done, the last of them with the iterations so far"
        if self._apart:
            apart = f"{self._apart} of {self._done}"
            yield f"{apart}: chains differ (r_hat above {HIGHEST_R_HAT}). Give more --iterations"

    @property
    def _was_stopped(self) -> bool:
        return self._interrupt is not None and self._interrupt.asked

    def exit_code(self, otherwise: int) -> int:
        """130 after Ctrl-C, else another one."""
        return INTERRUPTED if self._was_stopped else otherwise
