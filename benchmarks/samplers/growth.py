"""How cost grows with the number of words and of trees."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.samplers.speeds import trees_per_second
from benchmarks.scores import KINDS
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points

SIZES = points(1, 10, 100, 1000, 10_000)
LENGTHS = points(10, 20, 40, 80, 160)


def run() -> Iterator[Table]:
    """By n and k."""
    for kind in KINDS:
        yield Table(f"a tree, auto, {kind} scores", ("n", *headings("k", SIZES)), _by_size(kind), "microseconds")


def _by_size(kind: str) -> Iterator[list[Cell]]:
    for n in LENGTHS:
        distribution = KINDS[kind](n)
        yield [n, *(1e6 / trees_per_second("auto", distribution, size) for size in SIZES)]
