"""Sentences on which random walks take too long: trees beside one factorisation, and beside the better sampler."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.scores import fresh
from benchmarks.table import Cell, Table
from benchmarks.timing import points
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.swor import ALGORITHMS

LENGTHS = points(50, 100, 200, 500, 1000)
SIZES = points(10, 100, 1000)
GAPS = points(5.0, 20.0, 100.0, 800.0)
SCALES = points(20.0, 50.0, 100.0, 200.0)

PATIENCE = 60.0  # seconds of a call that is expected to take longer by those before it, and is left out
REPEATS = 3
LONG = 1.0  # a call of so many seconds is not repeated
WARM = 30  # words of the sentences by which all is compiled


def saturated(n: int, gap: float) -> TreeDistribution:
    """Words 1 and 2, 3 and 4, ... choose each other, all other heads by a log-score that is `gap` lower in sum."""
    scores = np.full((n + 1, n + 1), -gap - np.log(max(n - 1, 1)))
    for word in range(1, n, 2):
        scores[word, word + 1] = scores[word + 1, word] = np.log1p(-np.exp(-gap))
    return TreeDistribution(scores, id=f"saturated-{n}-{gap}")


def gaussian(n: int, scale: float) -> TreeDistribution:
    """Normal log-scores times a scale."""
    return TreeDistribution(np.random.default_rng(0).normal(size=(n + 1, n + 1)) * scale, id=f"gaussian-{n}-{scale}")


KINDS: dict[str, Callable[[int], TreeDistribution]] = {
    **{f"2-cycles, gap {gap:.0f}": partial(saturated, gap=gap) for gap in GAPS},
    **{f"gaussian, scale {scale:.0f}": partial(gaussian, scale=scale) for scale in SCALES},
}


def run() -> Iterator[Table]:
    """Two tables: without replacement, then with."""
    for kind in KINDS.values():
        for of_case in (_without, _with):
            of_case(kind(WARM), SIZES[-1])
    columns = ("scores", "n", "k")
    distinct = (*columns, "one factorisation", "a distinct tree after it")
    yield Table("distinct trees, swor, auto", distinct, _rows(_without, 2), "ms")
    sampled = (*columns, "wilson-marginal", "elimination", "auto", "auto / the better of the two")
    yield Table("trees, sample, whole calls", sampled, _rows(_with, 4), "ms")


def _rows(of_case: Callable[[TreeDistribution, int], tuple[float, list[Cell]]], width: int) -> Iterator[list[Cell]]:
    """A dash where patience is at its end."""
    for name, kind in KINDS.items():
        for n in LENGTHS:
            distribution, seconds = kind(n), [0.0]
            for size in SIZES:
                if len(seconds) > 2 and seconds[-1] + 10 * (seconds[-1] - seconds[-2]) > PATIENCE:
                    yield [name, n, size, *[None] * width]
                    continue
                spent, row = of_case(distribution, size)
                seconds.append(spent)
                yield [name, n, size, *row]


def _without(distribution: TreeDistribution, size: int) -> tuple[float, list[Cell]]:
    """The factorisation in the numbers that the sentence needs; the trees after it, marginals included."""

    def draw() -> float:
        given = fresh(distribution)
        _ = given.factorisation
        start = time.process_time()
        ALGORITHMS.get("auto").draw(given, size, np.random.default_rng(1))
        return time.process_time() - start

    factorisation, trees = _least(lambda: fresh(distribution).factorisation), _least(draw)
    return trees, [factorisation * 1e3, trees / size * 1e3]


def _with(distribution: TreeDistribution, size: int) -> tuple[float, list[Cell]]:
    """All preparation of the sentence included."""

    def draw(name: str) -> None:
        SAMPLERS.get(name).draw(fresh(distribution), size, np.random.default_rng(1))

    walking, elimination, auto = (_least(partial(draw, name)) for name in ("wilson-marginal", "elimination", "auto"))
    row: list[Cell] = [walking * 1e3, elimination * 1e3, auto * 1e3, auto / min(walking, elimination)]
    return max(walking, elimination, auto), row


def _least(action: Callable[[], object]) -> float:
    """The least processor time of some calls; what an action returns, if that is a time."""
    times: list[float] = []
    while len(times) < REPEATS and (not times or times[0] < LONG):
        start = time.process_time()
        found = action()
        spent = time.process_time() - start
        times.append(found if isinstance(found, float) else spent)
    return min(times)
