"""How cost grows with the number of words and of trees."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.samplers import trees_per_second
from benchmarks.scores import KINDS
from benchmarks.timing import print_table

SIZES = (1, 10, 100, 1000, 10_000)
LENGTHS = (10, 20, 40, 80, 160)


def run() -> None:
    """By n and k."""
    for kind in KINDS:
        columns = ("n", *(f"k = {size}" for size in SIZES))
        print_table(f"Microseconds per tree, auto, {kind} scores", columns, _by_size(kind))


def _by_size(kind: str) -> Iterator[list[object]]:
    for n in LENGTHS:
        distribution = KINDS[kind](n)
        yield [n, *(1e6 / trees_per_second("auto", distribution, size) for size in SIZES)]
