"""Work over the sentences of a file: in order, on several cores, in bounded memory."""

from __future__ import annotations

import multiprocessing
import signal
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeVar

from deptree_cli.core.errors import DeptreeError

Item = TypeVar("Item")
Result = TypeVar("Result")

# Sentences that travel together: enough to make a journey worth it, few enough to keep all cores busy to the end.
CHUNK = 16

# Chunks under way per worker: enough to keep it busy past a long sentence, few enough to bound memory.
AHEAD = 3


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 1, engine: str = "processes"
) -> Iterator[Result]:
    """``map(function, items)`` by `jobs` workers: results in order, few items read ahead.

    Args:
        engine: a name in `ENGINES`; with one job there is none. For `processes` function, items and results must
            be picklable.

    Raises:
        what the function raises, when its turn comes.
    """
    if jobs == 1:
        return map(function, items)
    return ENGINES[engine](function, items, jobs)


def on_threads(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Threads share all memory and what is compiled; kernels run side by side, the Python between them does not."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from _through(pool, lambda chunk: pool.submit(_apply, function, chunk), items, jobs)


def on_processes(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Processes run everything side by side, at the price of a journey for every item and result."""
    start = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(jobs, context, _adopt, (function,)) as pool:
        try:
            yield from _through(pool, lambda chunk: pool.submit(_apply_adopted, chunk), items, jobs)
        except BrokenExecutor:
            raise DeptreeError(
                "a worker process died", "Run again with fewer --jobs, or look for what killed it"
            ) from None


ENGINES: dict[str, Callable[..., Iterator[Any]]] = {"processes": on_processes, "threads": on_threads}


def _through(
    pool: Executor, submit: Callable[[list[Item]], Future[list[Result]]], items: Iterable[Item], jobs: int
) -> Iterator[Result]:
    """Chunks of items in, results out in order."""
    waiting: deque[Future[list[Result]]] = deque()
    source = iter(items)
    try:
        while chunk := list(islice(source, CHUNK)):
            waiting.append(submit(chunk))
            if len(waiting) >= AHEAD * jobs:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _apply(function: Callable[[Item], Result], chunk: list[Item]) -> list[Result]:
    return [function(item) for item in chunk]


# The function of a worker process: sent once, not with every chunk.
_adopted: list[Callable[[Any], Any]] = []


def _adopt(function: Callable[[Any], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _adopted[:] = [function]


def _apply_adopted(chunk: list[Any]) -> list[Any]:
    return _apply(_adopted[0], chunk)


class Occurrences:
    """Counts how often a name came before, in about 16 bytes a name: a file has any number of sentences.

    Names are told apart by 64-bit hashes in a table with linear probing; only repeated ones are kept with their counts.
    """

    def __init__(self) -> None:
        self._table = array("Q", bytes(8 * 1024))
        self._filled = 0
        self._repeats: Counter[int] = Counter()

    def before(self, name: str) -> int:
        """How often `before` was asked for this name already."""
        digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=8).digest()
        key = int.from_bytes(digest, "little") or 1  # 0 marks an empty place
        if self._insert(key):
            return 0
        self._repeats[key] += 1
        return self._repeats[key]

    def _insert(self, key: int) -> bool:
        """Put a key into the table unless it is there; whether it was new."""
        table, mask = self._table, len(self._table) - 1
        place = key & mask
        while table[place]:
            if table[place] == key:
                return False
            place = (place + 1) & mask
        table[place] = key
        self._filled += 1
        if 2 * self._filled > len(table):
            self._grow()
        return True

    def _grow(self) -> None:
        old, self._table = self._table, array("Q", bytes(16 * len(self._table)))
        self._filled = 0
        for key in old:
            if key:
                self._insert(key)
