"""How methods of randomized pruning are run: for how long, with how many chains, and what counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

from deptree_cli.core.errors import DeptreeError, one_of

COUNTS = ("soft", "hard")

# How many iterations there are where nothing else says when to end.
ITERATIONS = 1000

# The least value of every number among the settings.
LEAST = {"iterations": 1, "seconds": 0, "chains": 1, "burn_in": 0, "margin": 0, "kept": 1}


def never() -> bool:
    return False


def no_progress(iterations: int) -> None:
    """Tell nobody how many iterations are done."""


@dataclass(frozen=True)
class Settings:
    """How expectations are worked out; every method looks at what concerns it.

    Attributes:
        iterations: of each chain, or runs; None for `ITERATIONS`, with seconds for as many as there is time for.
        seconds: how long to go on for, None for as long as the iterations take.
        chains: how many chains are run and compared.
        burn_in: how many of a chain's first iterations do not count.
        counts: ``soft`` to average the expectations under masks, ``hard`` to average the structures drawn.
        margin: how much less, in nats, a state's merit may be than the best of its cell (tic-tac-toe).
        kept: how many of a cell's states are kept for their merits, and how many others, on average, by chance (rdp).
        stop: asked after every iteration whether to make do with what there is.
        tell: told after every iteration how many there are that count.

    Raises:
        DeptreeError: they do not make sense.
    """

    iterations: int | None = None
    seconds: float | None = None
    chains: int = 4
    burn_in: int = 10
    counts: str = "soft"
    margin: float = 10.0
    kept: int = 10
    stop: Callable[[], bool] = never
    tell: Callable[[int], object] = no_progress

    def __post_init__(self) -> None:
        if self.counts not in COUNTS:
            raise DeptreeError(f"unknown counts {self.counts!r}", one_of(COUNTS))
        for name, least in LEAST.items():
            number = getattr(self, name)
            if number is not None and not number >= least:  # NaN is not
                raise DeptreeError(f"{name} is {number}", f"Give {least} or more")

    def rounds(self, beforehand: int = 0) -> Iterator[bool]:
        """Iterate for as long as it is to go on; whether each iteration counts, which at least one does.

        `beforehand`: how many do not count, unless it is to end before.
        """
        end = math.inf if self.seconds is None else monotonic() + self.seconds
        enough = self.iterations or (ITERATIONS if self.seconds is None else math.inf)
        number = counted = 0
        while not counted or not (counted >= enough or monotonic() >= end or self.stop()):
            counts = number >= beforehand or monotonic() >= end or self.stop()
            yield counts
            number += 1
            counted += counts
            self.tell(counted)
