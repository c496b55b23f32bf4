"""How the benchmarks take time, and how they are cut short for a smoke test."""

from __future__ import annotations

import gc
import os
import time
import timeit
from collections.abc import Callable, Mapping
from typing import TypeVar

Value = TypeVar("Value")

# Whether a benchmark only shows that it runs (`--quick`): its figures mean nothing.
QUICK = bool(os.environ.get("DEPTREE_BENCH_QUICK"))

# How long one of several actions has its turn, in seconds.
TURN = 0.01


def points(*values: Value) -> tuple[Value, ...]:
    """Where a benchmark measures: everywhere, or at the first place only for a smoke test."""
    return values[:1] if QUICK else values


def times(count: int, least: int = 1) -> int:
    """How often something is repeated: so often, or as little as goes for a smoke test."""
    return least if QUICK else count


def seconds(action: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.process_time) -> float:
    """The median time of one call, that of the processor unless another clock is given, after a first that compiles.

    Garbage is not collected meanwhile, as in `timeit`: what other libraries have loaded would be gone through too.
    """
    action()
    spent = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(times(repeats)):
            start = clock()
            action()
            spent.append(clock() - start)
    finally:
        gc.enable()
    return sorted(spent)[len(spent) // 2]


def by_turns(actions: Mapping[str, Callable[[], object]], rounds: int = 40) -> dict[str, float]:
    """The least time of one call of each action, of rounds in which all have a turn of some milliseconds.

    A clock that slows down for a while meets all alike, and what others do on the machine counts for none.
    """
    for action in actions.values():
        seconds(action, repeats=3)
    calls = {name: max(1, int(TURN / seconds(action, repeats=3))) for name, action in actions.items()}
    least = dict.fromkeys(actions, float("inf"))
    for _ in range(times(rounds)):
        for name, action in actions.items():
            least[name] = min(least[name], min(timeit.repeat(action, number=1, repeat=calls[name])))
    return least
