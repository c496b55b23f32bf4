"""How the benchmarks take time, and how they are cut short for a smoke test."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

# Whether a benchmark only shows that it runs (`--quick`): its figures mean nothing.
QUICK = bool(os.environ.get("DEPTREE_BENCH_QUICK"))


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
