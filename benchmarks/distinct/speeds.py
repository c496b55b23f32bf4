"""Sampling without replacement: speed by length and number of trees (Stanojevic 2022, Fig. 3 to 6), and its use."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from benchmarks import pictures
from benchmarks.peers import installed
from benchmarks.peers.samplers import DISTINCT, Draw
from benchmarks.scores import KINDS, fresh
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points, seconds, times
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.estimate import estimate
from deptree_cli.core.swor import ALGORITHMS

LENGTHS = points(14, 30, 45, 60, 100)
SIZES = points(10, 100, 1000, 10_000)
ESTIMATED = points(14, 30)

# What is not waited for: operations of n^3 a tree, of n^4 for zmigrod; peers take k^2 n^2.
PATIENCE = {"auto": 10**11, "beam": 4 * 10**8, "trie": 3 * 10**7, "zmigrod": 3 * 10**6, "peer": 10**9}

# The number of trees whose speed is drawn by length.
PICTURED = SIZES[-2:][0]


def run() -> Iterator[Table]:
    """Trees per second for each kind of scores and number of trees, then what an estimate gains."""
    speeds: dict[tuple[str, int], Table] = {}
    columns: tuple[str, ...] = ("algorithm", *headings("n", LENGTHS))
    for kind in KINDS:
        for size in SIZES:
            name = f"{kind} scores, k = {size:,}"
            speeds[kind, size] = Table(name, columns, _speeds(kind, size), "distinct trees per second")
            yield speeds[kind, size]
    columns = "scores", "n", "with replacement", "unbiased", "normalised", "mass drawn"
    yield Table("mean squared error of arc marginals from 100 trees, summed over arcs", columns, _gains())
    pictures.draw("swor", lambda pyplot: _painted(pyplot, speeds))


def _speeds(kind: str, size: int) -> Iterator[list[Cell]]:
    for name in ALGORITHMS.names:
        yield [name, *(_of_ours(name, KINDS[kind](n), size) for n in LENGTHS)]
    for name, draw in installed(DISTINCT).items():
        yield [name, *(_of_peer(draw, KINDS[kind](n), size) for n in LENGTHS)]


def _of_ours(name: str, distribution: TreeDistribution, size: int) -> float | None:
    """All preparation of the distribution included."""
    if distribution.n ** (4 if name == "zmigrod" else 3) * size > PATIENCE.get(name, PATIENCE["trie"]):
        return None
    rng = np.random.default_rng(1)
    return size / seconds(lambda: ALGORITHMS.get(name).draw(fresh(distribution), size, rng), repeats=3)


def _of_peer(draw: Draw | None, distribution: TreeDistribution, size: int) -> Cell:
    """Trees per second, or how many trees came before it failed."""
    if draw is None or distribution.n**2 * size**2 > PATIENCE["peer"]:
        return None
    trees: list[object] = []
    try:
        spent = seconds(lambda: trees.__setitem__(slice(None), list(islice(draw(distribution, size), size))), repeats=1)
    except (ValueError, ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError):
        return "fails"
    return size / spent if len(trees) == size else f"stops after {len(trees)}"


def _gains() -> Iterator[list[Cell]]:
    for kind in KINDS:
        for n in ESTIMATED:
            distribution, rng = KINDS[kind](n), np.random.default_rng(2)
            exact = distribution.marginals()
            errors = np.array([_errors(distribution, exact, rng) for _ in range(times(200))])
            yield [kind, n, *errors.mean(axis=0).tolist()]


def _errors(distribution: TreeDistribution, exact: np.ndarray, rng: np.random.Generator) -> list[float]:
    drawn = arcs(distribution.sample(100, rng, "elimination")).mean(axis=0)
    draws = distribution.sample_without_replacement(100, rng)
    found = estimate(draws, arcs)
    return [*(float(((one - exact) ** 2).sum()) for one in (drawn, found.unbiased, found.normalised)), draws.mass]


def arcs(heads: Heads) -> Float:
    """Which arcs trees have: (k, n) -> (k, n + 1, n + 1)."""
    n = heads.shape[1]
    return (np.arange(n + 1)[:, None] == np.insert(heads, 0, -1, axis=1)[:, None]).astype(float)


def _painted(pyplot: Any, speeds: dict[tuple[str, int], Table]) -> Any:
    """Speed by number of trees (their Fig. 3) and by length (Fig. 5 and 6)."""
    figure, panels = pyplot.subplots(len(KINDS), 2, figsize=(10, 7), sharey=True, layout="constrained")
    for kind, (left, right) in zip(KINDS, panels, strict=True):
        by_size = [speeds[kind, size].rows for size in SIZES]
        for rows in zip(*by_size, strict=True):  # of one algorithm
            left.loglog(SIZES, [_number(row[1]) for row in rows], "o-", label=rows[0][0])
        for name, *values in speeds[kind, PICTURED].rows:
            right.loglog(LENGTHS, [_number(value) for value in values], "o-", label=name)
        left.set(title=f"{kind} scores, n = {LENGTHS[0]}", xlabel="k", ylabel="distinct trees per second")
        right.set(title=f"{kind} scores, k = {PICTURED:,}", xlabel="n", xticks=LENGTHS, xticklabels=LENGTHS)
        right.minorticks_off()
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _number(value: Cell) -> float:
    return float(value) if isinstance(value, (int, float)) else np.nan
