"""Work over the sentences of a file: in order, by any number of workers, in bounded memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, TypeVar

Function = Callable[[Any], Any]

# More workers than this only wait for each other.
WORKERS_PER_CORE = 4


@dataclass(frozen=True)
class Workers:
    """How many workers, and where: processes, or those of a cluster's address, `LOCAL` for a cluster of its own."""

    jobs: int = 1
    scheduler: str | None = None

    @property
    def are_elsewhere(self) -> bool:
        return self.jobs > 1 or self.scheduler is not None


# This process alone.
HERE = Workers()


def most_workers() -> int:
    return WORKERS_PER_CORE * cores()


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Raised:
    """In place of a chunk or a result: what was raised, to be raised again when its turn comes."""

    error: Exception

    def result(self) -> list[Any]:
        return [self]


def apply(function: Function, chunk: list[Any]) -> list[Any]:
    """The function's results for a chunk, up to the first item for which it raises."""
    results: list[Any] = []
    together = getattr(function, "together", None) or partial(map, function)
    try:
        for result in together(chunk):
            results.append(result)
    except Exception as error:
        results.append(Raised(error))
    return results


Item = TypeVar("Item")
Result = TypeVar("Result")

# The most sentences that travel together: enough to make a journey worth it, few enough to keep all busy to the end.
CHUNK = 16

# The same where they are worked on together, and how much they may weigh: numbers that fit a core's cache.
BATCH = 256
HEAVY = 1 << 16

# Chunks under way per worker: enough to keep it busy past a long sentence, few enough to bound memory.
AHEAD = 3


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: Workers = HERE,
    at_hand: Callable[[], bool] = lambda: True,
) -> Generator[Result]:
    """``map(function, items)`` by workers, or here and now where it is one that is not elsewhere.

    Results come in order and few items are read ahead. For work elsewhere, function, items and results have to be
    picklable. What the function or the reading of items raises is raised when its turn comes. A function with an
    attribute `together` is asked for the results of many items at once, of a `weight` that it knows of each.

    Whoever leaves before the end should close it, lest it ends its workers whenever Python comes to collect it.

    Args:
        at_hand: whether the next item can be had without waiting; if not, those before it are worked on first.
    """
    together = getattr(function, "together", None) is not None
    jobs = workers.jobs if workers.scheduler is not None else min(workers.jobs, most_workers())
    most = BATCH if together else CHUNK if workers.are_elsewhere else 1
    weight = function.weight if together else lambda _: 0  # type: ignore[attr-defined]
    chunks = _chunks(items, jobs, most, weight, at_hand)
    if not workers.are_elsewhere:
        for chunk in chunks:
            yield from _unpacked(chunk.result() if isinstance(chunk, Raised) else apply(function, chunk))
        return
    # No more workers than there are chunks: the first ones hold an item each.
    first = list(islice(chunks, jobs))
    jobs = max(1, sum(isinstance(chunk, list) for chunk in first))
    if workers.scheduler is None:
        from deptree_cli.core.workers import on_processes  # multiprocessing is not for everyone to wait for

        at_work = on_processes(partial(apply, function), jobs)
    else:
        from deptree_cli.core.cluster import on_cluster  # asyncio is not for everyone to wait for

        at_work = on_cluster(partial(apply, function), jobs, workers.scheduler)
    with at_work as submit:
        waiting: deque[Any] = deque()
        for chunk in chain(first, chunks):
            waiting.append(chunk if isinstance(chunk, Raised) else submit(chunk))
            if len(waiting) >= AHEAD * jobs:
                yield from _unpacked(waiting.popleft().result())
        while waiting:
            yield from _unpacked(waiting.popleft().result())


def _chunks(
    items: Iterable[Item], jobs: int, most: int, weight: Callable[[Item], int], at_hand: Callable[[], bool]
) -> Iterator[list[Item] | Raised]:
    """The items, several at a time; at the end what reading them raised, which must not overtake their results.

    Chunks begin with one item and double every `jobs` chunks up to `most`, so that few sentences, which may be long,
    go to many workers too; and end once they weigh `HEAVY`.
    """
    chunk: list[Item] = []
    heaviness, failed = 0, list[Raised]()
    growing = (repeat(1 << step, jobs) for step in range(most.bit_length() - 1))
    sizes = chain(*growing, repeat(most))
    size = next(sizes)
    try:
        for item in items:
            chunk.append(item)
            heaviness += weight(item)
            if len(chunk) == size or heaviness >= HEAVY or not at_hand():
                yield chunk
                chunk, size, heaviness = [], next(sizes), 0
    except Exception as error:
        failed.append(Raised(error))
    yield from filter(None, (chunk, *failed))


def _unpacked(results: Iterable[Any]) -> Iterator[Any]:
    for result in results:
        if isinstance(result, Raised):
            raise result.error
        yield result
