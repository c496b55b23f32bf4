"""How the benchmarks time and print."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence


def seconds(action: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.process_time) -> float:
    """The median time of one call, that of the processor unless another clock is given, after a first that compiles.

    Garbage is not collected meanwhile, as in `timeit`: what other libraries have loaded would be gone through too.
    """
    action()
    spent = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            start = clock()
            action()
            spent.append(clock() - start)
    finally:
        gc.enable()
    return sorted(spent)[repeats // 2]


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A Markdown table on standard output, a row as soon as it is measured."""
    print(f"\n### {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(shown(cell) for cell in row)} |", flush=True)


def shown(cell: object) -> str:
    """Three digits of a number, as people write it (485,000); a dash for None."""
    if cell is None:
        return "-"
    if not isinstance(cell, float):
        return str(cell)
    rounded = float(f"{cell:.3g}")
    return f"{rounded:,.0f}" if 1000 <= abs(rounded) < 1e9 else f"{rounded:.3g}"
