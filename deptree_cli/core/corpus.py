"""Work over the sentences of a file: in order, by any number of workers, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any, TypeVar

from deptree_cli.core.engines import ENGINES, Pending, Raised, Workers
from deptree_cli.core.workers import most_workers

Item = TypeVar("Item")
Result = TypeVar("Result")

# The most sentences that travel together: enough to make a journey worth it, few enough to keep all busy to the end.
CHUNK = 16

# Chunks under way per worker: enough to keep it busy past a long sentence, few enough to bound memory.
AHEAD = 3


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], engine: str | None = None, workers: Workers | None = None
) -> Iterator[Result]:
    """``map(function, items)`` by an engine of `ENGINES`, or here and now without one.

    Results come in order and few items are read ahead. An engine that leaves this process needs all of function, items
    and results picklable. What the function or the reading of items raises is raised when its turn comes.
    """
    if engine is None:
        yield from map(function, items)
        return
    workers = workers or Workers()
    jobs = workers.jobs if workers.scheduler is not None else min(workers.jobs, most_workers())
    chunks = _chunks(items, jobs)
    # No more workers than there are chunks: the first ones hold an item each.
    first = list(islice(chunks, jobs))
    workers = replace(workers, jobs=max(1, sum(isinstance(chunk, list) for chunk in first)))
    with ENGINES.get(engine).function(function, workers) as submit:
        waiting: deque[Pending] = deque()
        failure: Exception | None = None
        for chunk in chain(first, chunks):
            if isinstance(chunk, Raised):
                failure = chunk.error
                break
            waiting.append(submit(chunk))
            if len(waiting) >= AHEAD * workers.jobs:
                yield from _unpacked(waiting.popleft())
        while waiting:
            yield from _unpacked(waiting.popleft())
        if failure:
            raise failure


def _chunks(items: Iterable[Item], jobs: int) -> Iterator[list[Item] | Raised]:
    """The items, several at a time; at the end what reading them raised, which must not overtake their results.

    Chunks begin with one item and double every `jobs` chunks up to `CHUNK`, so that few sentences, which may be long,
    go to many workers too.
    """
    chunk: list[Item] = []
    growing = (repeat(1 << step, jobs) for step in range(CHUNK.bit_length() - 1))
    sizes = chain(*growing, repeat(CHUNK))
    size = next(sizes)
    try:
        for item in items:
            chunk.append(item)
            if len(chunk) == size:
                yield chunk
                chunk, size = [], next(sizes)
    except Exception as error:
        if chunk:
            yield chunk
        yield Raised(error)
        return
    if chunk:
        yield chunk


def _unpacked(pending: Pending) -> Iterator[Any]:
    for result in pending.result():
        if isinstance(result, Raised):
            raise result.error
        yield result
