"""Projective trees: log Z and marginals, samples and maximum trees beside peers, and how right marginals are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import installed
from benchmarks.peers.projective import PEERS, Peer
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points, seconds, times
from deptree_cli.core.distribution import TreeDistribution
from tests.oracle import Oracle

Float = NDArray[np.float64]

LENGTHS = points(10, 20, 40, 70, 100)
SCALES = points(1, 10, 20, 40, 80, 100)
BATCH = 32
SIZE = times(1000)

# Peers are not waited for beyond so many words drawn.
PATIENCE = 45_000


def run() -> Iterator[Table]:
    """Microseconds of processor time of a sentence or a tree, then the worst error of a marginal."""
    peers, unit = installed(PEERS), "microseconds a sentence"
    columns: tuple[str, ...] = ("", *headings("n", LENGTHS))
    yield Table("log Z", columns, [["deptree", *(_ours(_log_z, n) for n in LENGTHS)]], unit)
    yield Table("log Z and marginals", columns, _rows(_marginals, peers, lambda peer: peer.marginals), unit)
    yield Table("the maximum tree", columns, _rows(_best, peers, lambda peer: peer.best), unit)
    yield Table("1,000 trees of a sentence", columns, _samples(peers), "microseconds a tree")
    columns = "logit scale", "deptree", *peers
    yield Table("worst error of a marginal, n = 6, Gaussian logits times a scale", columns, _errors(peers))


def _scores(n: int, scale: float = 2.0, batch: int = BATCH) -> Float:
    """Log-scores (b, n+1, n+1)."""
    return np.random.default_rng(n).normal(size=(batch, n + 1, n + 1)) * scale


def _log_z(distribution: TreeDistribution) -> object:
    return distribution.log_partition


def _marginals(distribution: TreeDistribution) -> object:
    return distribution.log_partition, distribution.marginals()


def _best(distribution: TreeDistribution) -> object:
    return distribution.argmax()


def _ours(action: Callable[[TreeDistribution], object], n: int) -> float:
    """One sentence after another, each from bare scores."""
    batch = _scores(n)
    return seconds(lambda: [action(TreeDistribution(each, projective=True)) for each in batch]) * 1e6 / BATCH


def _rows(
    ours: Callable[[TreeDistribution], object],
    peers: dict[str, Peer | None],
    theirs: Callable[[Peer], Callable[[Float], object]],
) -> Iterator[list[Cell]]:
    yield ["deptree", *(_ours(ours, n) for n in LENGTHS)]
    for name, peer in peers.items():
        yield [name, *(peer and _of_batch(theirs(peer), n) for n in LENGTHS)]


def _of_batch(action: Callable[[Float], object], n: int) -> float:
    batch = _scores(n)
    return seconds(lambda: action(batch), repeats=3) * 1e6 / BATCH


def _samples(peers: dict[str, Peer | None]) -> Iterator[list[Cell]]:
    """The sums are in the figure; of further trees of the same sentence they are not."""
    yield ["deptree", *(_per_tree(n) for n in LENGTHS)]
    yield ["deptree, each further tree", *(_per_further_tree(n) for n in LENGTHS)]
    for name, peer in peers.items():
        draw = peer and peer.sample
        yield [name, *(draw and _of_peer(draw, n) for n in LENGTHS)]


def _per_tree(n: int) -> float:
    scores = _scores(n)[0]
    return seconds(lambda: TreeDistribution(scores, projective=True).sample(SIZE, 1)) * 1e6 / SIZE


def _per_further_tree(n: int) -> float:
    distribution, rng = TreeDistribution(_scores(n)[0], projective=True), np.random.default_rng(1)
    return seconds(lambda: distribution.sample(100 * SIZE, rng)) * 1e6 / (100 * SIZE)


def _of_peer(draw: Callable[[Float, int], object], n: int) -> float:
    size = min(SIZE, PATIENCE // n)
    scores = _scores(n)[:1]
    return seconds(lambda: draw(scores, size), repeats=1) * 1e6 / size


def _errors(peers: dict[str, Peer | None]) -> Iterator[list[Cell]]:
    """Against enumeration; ten random graphs a scale."""
    for scale in SCALES:
        checked = [TreeDistribution(each, projective=True) for each in _scores(6, scale, 10)]
        truth = np.array([Oracle(each).marginals() for each in checked])
        ours = np.array([each.marginals() for each in checked])
        given = np.array([each.log_scores for each in checked])
        yield [scale, _worst(ours, truth), *(peer and _worst(peer.marginals(given), truth) for peer in peers.values())]


def _worst(found: Float, truth: Float) -> float:
    """The largest error, infinite where there is NaN."""
    errors = np.abs(found - truth)[:, :, 1:]
    return float("inf") if np.isnan(errors).any() else float(errors.max())
