"""Where tables begin to pay: k trees by scanning and by alias tables. `FEW` of samplers/costs.py is read off here."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.scores import KINDS
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points, seconds, times
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import costs, wilson

LENGTHS = points(10, 25, 60, 100)
SIZES = points(1, 4, 8, 16, 32)
CALLS = times(200)


def run() -> Iterator[Table]:
    """Two figures a cell: scanning / tables."""
    for kind in KINDS:
        name = f"scanning / tables, k trees, {kind} scores"
        yield Table(name, ("n", *headings("k", SIZES)), _rows(kind), "microseconds")


def _rows(kind: str) -> Iterator[list[Cell]]:
    for n in LENGTHS:
        distribution = KINDS[kind](n)
        yield [n, *(f"{_time(distribution, size, 10**6):.0f} / {_time(distribution, size, 0):.0f}" for size in SIZES)]


def _time(distribution: TreeDistribution, size: int, few: int) -> float:
    rng = np.random.default_rng(0)
    rule, costs.FEW = costs.FEW, few
    try:
        return seconds(lambda: [wilson.draw_marginal(distribution, size, rng) for _ in range(CALLS)]) / CALLS * 1e6
    finally:
        costs.FEW = rule
