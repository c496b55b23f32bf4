"""Where walks begin to pay: whole calls by elimination and by Wilson-Marginal. `auto`'s rule is read off here."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.scores import fresh, gaussian, peaked
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points, seconds, times
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import SAMPLERS, WORDS
from deptree_cli.core.walks import least_steps

LENGTHS = points(10, 20, 40, 80)
SIZES = points(8, 32, 100, 300, 1000)
SCALES = 1.0, 5.0, 20.0
REPEATS = times(30)


def run() -> Iterator[Table]:
    """A cell: how many times as long walks take as elimination; `auto` walks from WORDS / n trees on."""
    columns = "scores", "n", "steps a word", "WORDS / n", *headings("k", SIZES)
    yield Table("wilson-marginal / elimination, k trees, whole calls", columns, _rows(), "")


def _rows() -> Iterator[list[Cell]]:
    for n in LENGTHS:
        kinds = {"peaked": peaked(n), **{f"gaussian, scale {scale:.0f}": gaussian(n, scale) for scale in SCALES}}
        for name, distribution in kinds.items():
            yield [name, n, least_steps(distribution) / n, WORDS // n, *(_ratio(distribution, k) for k in SIZES)]


def _ratio(distribution: TreeDistribution, size: int) -> float:
    walks, elimination = (_time(distribution, size, name) for name in ("wilson-marginal", "elimination"))
    return walks / elimination


def _time(distribution: TreeDistribution, size: int, name: str) -> float:
    return seconds(
        lambda: SAMPLERS.get(name).draw(fresh(distribution), size, np.random.default_rng(0)), repeats=REPEATS
    )
