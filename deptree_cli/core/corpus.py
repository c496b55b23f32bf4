"""Work over the sentences of a file: in order, by any number of workers, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any, TypeVar

from deptree_cli.core.engines import HERE, Pending, Raised, Workers, apply
from deptree_cli.core.workers import most_workers

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
    picklable. What the function or the reading of items raises is raised when its turn comes. A function
    with an attribute `together` is asked for the results of many items at once, of a `weight` that it knows of each.

    Whoever leaves before the end should close it, lest it ends its workers whenever Python comes to collect it.

    Args:
        at_hand: whether the next item can be had without waiting; if not, those before it are worked on first.
    """
    together = getattr(function, "together", None) is not None
    if not (workers.are_elsewhere or together):
        yield from map(function, items)
        return
    jobs = workers.jobs if workers.scheduler is not None else min(workers.jobs, most_workers())
    weight = function.weight if together else _weightless  # type: ignore[attr-defined]
    chunks = _chunks(items, jobs, BATCH if together else CHUNK, weight, at_hand)
    if not workers.are_elsewhere:
        for chunk in chunks:
            yield from _unpacked([chunk] if isinstance(chunk, Raised) else apply(function, chunk))
        return
    yield from _elsewhere(function, chunks, replace(workers, jobs=jobs))


def _elsewhere(
    function: Callable[[Item], Result], chunks: Iterator[list[Item] | Raised], workers: Workers
) -> Iterator[Result]:
    """The results of chunks, of which some are under way for each worker."""
    # No more workers than there are chunks: the first ones hold an item each.
    first = list(islice(chunks, workers.jobs))
    workers = replace(workers, jobs=max(1, sum(isinstance(chunk, list) for chunk in first)))
    with workers.at_work(function) as submit:
        waiting: deque[Pending] = deque()
        failure: Exception | None = None
        for chunk in chain(first, chunks):
            if isinstance(chunk, Raised):
                failure = chunk.error
                break
            waiting.append(submit(chunk))
            if len(waiting) >= AHEAD * workers.jobs:
                yield from _unpacked(waiting.popleft().result())
        while waiting:
            yield from _unpacked(waiting.popleft().result())
        if failure:
            raise failure


def _weightless(_: object) -> int:
    return 0


def _chunks(
    items: Iterable[Item], jobs: int, most: int, weight: Callable[[Item], int], at_hand: Callable[[], bool]
) -> Iterator[list[Item] | Raised]:
    """The items, several at a time; at the end what reading them raised, which must not overtake their results.

    Chunks begin with one item and double every `jobs` chunks up to `most`, so that few sentences, which may be long,
    go to many workers too; and end once they weigh `HEAVY`.
    """
    chunk: list[Item] = []
    heaviness = 0
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
        if chunk:
            yield chunk
        yield Raised(error)
        return
    if chunk:
        yield chunk


def _unpacked(results: Iterable[Any]) -> Iterator[Any]:
    for result in results:
        if isinstance(result, Raised):
            raise result.error
        yield result
