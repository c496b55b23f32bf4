"""Trees per second of every sampler, beside peers and beside the limit of a random walk."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.peers import installed
from benchmarks.peers.samplers import SAMPLERS as PEERS
from benchmarks.samplers import limit
from benchmarks.scores import KINDS, fresh
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points, seconds
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.samplers import SAMPLERS, names
from deptree_cli.core.spaces import SINGLE_ROOT

LENGTHS = points(10, 20, 40, 70, 100, 200)
SIZES = points(1, 100, 1000)

# Slow ways are not waited for beyond so many words drawn (peers), and so many operations (n^3 a tree).
PEERS_PATIENCE = 40_000
CUBIC_PATIENCE = 200_000_000


def run() -> Iterator[Table]:
    """A table per kind of scores and number of trees, then the walk beside its limit."""
    columns = "sampler", *headings("n", LENGTHS)
    for kind in KINDS:
        for size in SIZES:
            yield Table(f"{kind} scores, k = {size:,}", columns, _rows(kind, size), "trees per second")
    columns = "scores", "n", "steps per tree", "auto", "limit", "share"
    yield Table("steps of the walk beside the limit, auto, k = 1,000", columns, _shares(), "millions per second")


def _rows(kind: str, size: int) -> Iterator[list[Cell]]:
    """Ours draw from a distribution of which nothing is known yet: all preparation is in the figure."""
    for name in names(SINGLE_ROOT):
        yield [name, *(_of_ours(name, kind, n, size) for n in LENGTHS)]
    for name, draw in installed(PEERS).items():
        yield [name, *_of_peer(draw, kind, size)]


def _of_ours(name: str, kind: str, n: int, size: int) -> float | None:
    if name == "colbourn" and n**3 * size > CUBIC_PATIENCE:
        return None
    return trees_per_second(name, KINDS[kind](n), size)


def trees_per_second(name: str, distribution: TreeDistribution, size: int) -> float:
    """Of one of our samplers, log Z and all tables included."""
    rng = np.random.default_rng(1)
    calls = max(1, 100 // size)

    def draw() -> None:
        for _ in range(calls):
            SAMPLERS.get(name).draw(fresh(distribution), size, rng)

    return calls * size / seconds(draw)


def _of_peer(draw: Callable[..., object] | None, kind: str, size: int) -> Iterator[Cell]:
    for n in LENGTHS:
        if draw is None or n * size > PEERS_PATIENCE:
            yield None
        else:
            distribution = KINDS[kind](n)
            yield size / seconds(lambda s=distribution: draw(s, size), repeats=1)  # type: ignore[misc]


def _shares() -> Iterator[list[Cell]]:
    for kind in KINDS:
        for n in LENGTHS:
            distribution = KINDS[kind](n)
            steps = limit.steps_per_tree(distribution)
            ours = trees_per_second("auto", distribution, 1000) * steps / 1e6
            bound = limit.steps_per_second(distribution) / 1e6
            yield [kind, n, steps, ours, bound, ours / bound]
