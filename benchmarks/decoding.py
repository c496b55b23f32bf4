"""Best trees and entropies with gradients, beside peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks import peers
from benchmarks.scores import KINDS, fresh, uniform
from benchmarks.timing import print_table, seconds
from deptree_cli.core.decoding import best_trees, maximum_tree
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.expectations.entropies import entropy, entropy_gradient

LENGTHS = (10, 20, 40, 70, 100)


def run() -> None:
    """Sentences per second, and microseconds."""
    columns = tuple(f"n = {n}" for n in LENGTHS)
    for kind in KINDS:
        print_table(f"Single-root maximum trees per second, {kind} scores", ("", *columns), _best(KINDS[kind]))
    print_table("Microseconds for entropy and its gradient, uniform scores", ("", *columns), _entropy())


def _best(make: Callable[[int], TreeDistribution]) -> Iterator[list[object]]:
    yield ["deptree", *(_per_second(maximum_tree, make(n)) for n in LENGTHS)]
    yield ["deptree, each of the 1,000 best", *(_of_many(make(n)) for n in LENGTHS)]
    for name, peer in peers.BEST.items():
        best = peers.installed(peer)
        yield [name, *(best and _per_second(best, make(n)) for n in LENGTHS)]


def _per_second(best: Callable[[TreeDistribution], object], distribution: TreeDistribution) -> float:
    return 20 / seconds(lambda: [best(distribution) for _ in range(20)])


def _of_many(distribution: TreeDistribution) -> float:
    return 1000 / seconds(lambda: best_trees(distribution, 1000), repeats=1)


def _entropy() -> Iterator[list[object]]:
    yield ["deptree", *(_microseconds(_ours, n, 10) for n in LENGTHS)]
    for name, peer in peers.ENTROPY.items():
        theirs = peers.installed(peer)  # not waited for beyond 20 words: it takes seconds
        yield [name, *((theirs and n <= 20 and _microseconds(theirs, n, 1)) or None for n in LENGTHS)]


def _microseconds(action: peers.Action, n: int, calls: int) -> float:
    distribution = uniform(n)
    return seconds(lambda: [action(distribution) for _ in range(calls)], repeats=min(calls, 5)) * 1e6 / calls


def _ours(distribution: TreeDistribution) -> object:
    """From bare scores."""
    twin = fresh(distribution)
    return entropy(twin), entropy_gradient(twin)
