"""log Z and marginals: elimination beside the Laplacian inverse (LAPACK), speed and error.

Peers take a sentence alone, and in batches as their users run them: alone they look up to 30 times slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import installed
from benchmarks.peers.batches import LAPLACIAN, Contender
from benchmarks.scores import uniform
from benchmarks.sums import exact, matrix_tree
from benchmarks.table import Cell, Table
from benchmarks.timing import points, seconds, times
from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import SINGLE_ROOT

Float = NDArray[np.float64]

LENGTHS = points(10, 20, 40, 70, 100)
SCALES = points(1, 10, 20, 40, 80, 100)
SENTENCES = 32
CALLS = times(100)

# What is compared: scores in, marginals (n+1, n+1) out.
Route = Callable[[TreeDistribution], Float]


def run() -> Iterator[Table]:
    """Three tables: microseconds alone and in batches, and the worst error of a marginal."""
    peers = installed(LAPLACIAN)
    routes: dict[str, Route | None] = {"elimination": _elimination, "Laplacian inverse": _inverse}
    routes |= {name: peer and partial(_alone, peer) for name, peer in peers.items()}
    name = "log Z and marginals of a sentence alone, uniform scores"
    yield Table(name, ("n", *routes, "elimination / inverse"), _speed(routes), "microseconds").turned()
    name = f"log Z and marginals in batches of {SENTENCES}, float32 given"
    yield Table(name, ("n", "elimination", *peers), _in_batches(peers), "microseconds a sentence").turned()
    name = "worst error of a marginal, n = 15, Gaussian logits times a scale"
    yield Table(name, ("scale", *routes), _errors(routes)).turned()


def _elimination(distribution: TreeDistribution) -> Float:
    return SINGLE_ROOT.factorise(distribution.log_scores).marginals()


def _inverse(distribution: TreeDistribution) -> Float:
    return matrix_tree.marginals(distribution.log_scores)


def _alone(peer: Contender, distribution: TreeDistribution) -> Float:
    """Through automatic differentiation, in double precision."""
    return peer.by_arc(peer.gradient(peer.given(distribution.log_scores[None])))[0]


def _speed(routes: dict[str, Route | None]) -> Iterator[list[Cell]]:
    for n in LENGTHS:
        distribution = uniform(n)
        spent = [route and _microseconds(route, distribution) for route in routes.values()]
        yield [n, *spent, (spent[0] or 0.0) / (spent[1] or 1.0)]


def _microseconds(route: Route, distribution: TreeDistribution) -> float:
    return seconds(lambda: [route(distribution) for _ in range(CALLS)]) / CALLS * 1e6


def _in_batches(theirs: dict[str, Contender | None]) -> Iterator[list[Cell]]:
    for n in LENGTHS:
        scores = np.random.default_rng(n).uniform(size=(SENTENCES, n + 1, n + 1)).astype(np.float32)
        batch = TreeBatch(scores, np.full(SENTENCES, n), SINGLE_ROOT)
        ours = _per_sentence(batch.log_partitions_and_marginals)
        yield [n, ours, *(_of(each, scores) for each in theirs.values())]


def _of(peer: Contender | None, scores: NDArray[np.float32]) -> float | None:
    return peer and _per_sentence(partial(peer.gradient, peer.given(scores)))


def _per_sentence(action: Callable[[], object]) -> float:
    return seconds(lambda: [action() for _ in range(20)]) / 20 / SENTENCES * 1e6


def _errors(routes: dict[str, Route | None]) -> Iterator[list[Cell]]:
    """Against multi-precision arithmetic; five random graphs a scale."""
    for scale in SCALES:
        scores = (np.random.default_rng(seed).normal(size=(16, 16)) * scale for seed in range(5))
        cases = [(s, exact.marginals(s)) for s in (TreeDistribution(each) for each in scores)]
        yield [scale, *(route and _worst(route, cases) for route in routes.values())]


def _worst(route: Route, cases: list[tuple[TreeDistribution, Float]]) -> float:
    """The largest error, infinite where the route gives up or gives NaN."""
    try:
        errors = [float(np.abs(route(distribution) - truth).max()) for distribution, truth in cases]
    except (np.linalg.LinAlgError, RuntimeError, ValueError):
        return float("inf")
    return float("inf") if np.isnan(errors).any() else max(errors)
