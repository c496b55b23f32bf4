"""Best trees and entropies with gradients, beside peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.peers import installed
from benchmarks.peers.decoding import BEST, ENTROPY, Action
from benchmarks.scores import KINDS, fresh, uniform
from benchmarks.table import Cell, Table, headings
from benchmarks.timing import points, seconds, times
from deptree_cli.core.batches import batch
from deptree_cli.core.decoding import best_trees, maximum_tree
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.expectations import entropy, entropy_gradient

LENGTHS = points(10, 20, 40, 70, 100)
TREES = times(1000)


def run() -> Iterator[Table]:
    """A row for each library."""
    columns = "", *headings("n", LENGTHS)
    for kind, make in KINDS.items():
        yield Table(f"single-root maximum trees, {kind} scores", columns, _best(make), "per second")
    yield Table("entropy and its gradient, uniform scores", columns, _entropy(), "microseconds")


def _best(make: Callable[[int], TreeDistribution]) -> Iterator[list[Cell]]:
    yield ["deptree", *(_per_second(maximum_tree, make(n)) for n in LENGTHS)]
    yield ["deptree, each of a batch of 1,000", *(_in_a_batch(make(n)) for n in LENGTHS)]
    yield ["deptree, each of the 1,000 best", *(_of_many(make(n)) for n in LENGTHS)]
    for name, best in installed(BEST).items():
        yield [name, *(best and _per_second(best, make(n)) for n in LENGTHS)]


def _per_second(best: Callable[[TreeDistribution], object], distribution: TreeDistribution) -> float:
    return 20 / seconds(lambda: [best(distribution) for _ in range(20)])


def _in_a_batch(distribution: TreeDistribution) -> float:
    """From bare scores."""
    scores = [np.array(distribution.log_scores) for _ in range(TREES)]
    return TREES / seconds(lambda: batch(scores).argmax(), repeats=3)


def _of_many(distribution: TreeDistribution) -> float:
    return TREES / seconds(lambda: best_trees(distribution, TREES), repeats=1)


def _entropy() -> Iterator[list[Cell]]:
    yield ["deptree", *(_microseconds(_ours, n, 10) for n in LENGTHS)]
    for name, theirs in installed(ENTROPY).items():  # not waited for beyond 20 words: it takes seconds
        yield [name, *((theirs and n <= 20 and _microseconds(theirs, n, 1)) or None for n in LENGTHS)]


def _microseconds(action: Action, n: int, calls: int) -> float:
    distribution = uniform(n)
    return seconds(lambda: [action(distribution) for _ in range(calls)], repeats=min(calls, 5)) * 1e6 / calls


def _ours(distribution: TreeDistribution) -> object:
    """From bare scores."""
    twin = fresh(distribution)
    return entropy(twin), entropy_gradient(twin)
