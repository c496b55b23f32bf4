"""Sampling without replacement: speed by length and number of trees (Stanojevic 2022, Fig. 3 to 6), and its use."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks import peers
from benchmarks.scores import KINDS, fresh
from benchmarks.timing import print_table, seconds
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.estimate import arcs, estimate
from deptree_cli.core.swor import ALGORITHMS

LENGTHS = (14, 30, 45, 60, 100)
SIZES = (10, 100, 1000, 10_000)

# What is not waited for: operations of n^3 a tree, of n^4 for zmigrod; peers take k^2 n^2.
PATIENCE = {"auto": 10**11, "beam": 4 * 10**8, "trie": 3 * 10**7, "zmigrod": 3 * 10**6, "peer": 10**9}

PICTURE = Path(__file__).with_name("swor.svg")


def run() -> None:
    """Trees per second for each kind of scores and number of trees, then what an estimate gains."""
    speeds: dict[tuple[str, int, str], list[object]] = {}
    for kind in KINDS:
        for size in SIZES:
            title = f"Distinct trees per second, {kind} scores, k = {size:,}"
            print_table(title, ("algorithm", *(f"n = {n}" for n in LENGTHS)), _speeds(kind, size, speeds))
    columns = ("scores", "n", "with replacement", "unbiased", "normalised", "mass drawn")
    print_table("Mean squared error of arc marginals from 100 trees, summed over arcs", columns, _gains())
    _draw_picture(speeds)


def _speeds(kind: str, size: int, speeds: dict[tuple[str, int, str], list[object]]) -> Iterator[list[object]]:
    for name in ALGORITHMS.names:
        speeds[kind, size, name] = [_of_ours(name, KINDS[kind](n), size) for n in LENGTHS]
        yield [name, *speeds[kind, size, name]]
    for name, peer in peers.DISTINCT.items():
        draw = peers.installed(peer)
        speeds[kind, size, name] = [_of_peer(draw, KINDS[kind](n), size) for n in LENGTHS]
        yield [name, *speeds[kind, size, name]]


def _of_ours(name: str, distribution: TreeDistribution, size: int) -> float | None:
    """All preparation of the distribution included."""
    if distribution.n ** (4 if name == "zmigrod" else 3) * size > PATIENCE.get(name, PATIENCE["trie"]):
        return None
    rng = np.random.default_rng(1)
    return size / seconds(lambda: ALGORITHMS.get(name).draw(fresh(distribution), size, rng), repeats=3)


def _of_peer(draw: peers.Draw | None, distribution: TreeDistribution, size: int) -> object:
    """Trees per second, or how many trees came before it failed."""
    if draw is None or distribution.n**2 * size**2 > PATIENCE["peer"]:
        return None
    trees: list[object] = []
    try:
        spent = seconds(lambda: trees.__setitem__(slice(None), list(islice(draw(distribution, size), size))), repeats=1)
    except (ValueError, ZeroDivisionError, FloatingPointError, np.linalg.LinAlgError):
        return "fails"
    return size / spent if len(trees) == size else f"stops after {len(trees)}"


def _gains() -> Iterator[list[object]]:
    for kind in KINDS:
        for n in (14, 30):
            distribution, rng = KINDS[kind](n), np.random.default_rng(2)
            exact = distribution.marginals()
            errors = np.array([_errors(distribution, exact, rng) for _ in range(200)])
            yield [kind, n, *errors.mean(axis=0).tolist()]


def _errors(distribution: TreeDistribution, exact: np.ndarray, rng: np.random.Generator) -> list[float]:
    drawn = arcs(distribution.sample(100, rng, "elimination")).mean(axis=0)
    draws = distribution.sample_without_replacement(100, rng)
    found = estimate(draws, arcs)
    return [*(float(((one - exact) ** 2).sum()) for one in (drawn, found.unbiased, found.normalised)), draws.mass]


def _draw_picture(speeds: dict[tuple[str, int, str], list[object]]) -> None:
    """Speed by number of trees (their Fig. 3) and by length (Fig. 5 and 6), where matplotlib is installed."""
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    figure, panels = pyplot.subplots(len(KINDS), 2, figsize=(10, 7), sharey=True, layout="constrained")
    for kind, (left, right) in zip(KINDS, panels, strict=True):
        for name in (*ALGORITHMS.names, *peers.DISTINCT):
            by_size = [speeds[kind, size, name][0] for size in SIZES]
            left.loglog(SIZES, [_number(value) for value in by_size], "o-", label=name)
            right.loglog(LENGTHS, [_number(value) for value in speeds[kind, 1000, name]], "o-", label=name)
        left.set(title=f"{kind} scores, n = 14", xlabel="k", ylabel="distinct trees per second")
        right.set(title=f"{kind} scores, k = 1,000", xlabel="n", xticks=LENGTHS, xticklabels=LENGTHS)
        right.minorticks_off()
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.savefig(PICTURE)


def _number(value: object) -> float:
    return value if isinstance(value, float) else np.nan
