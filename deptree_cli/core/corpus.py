"""Work over the sentences of a file: in order, on several threads, in bounded memory."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import blake2b
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items under way per thread: enough to keep threads busy past a long sentence, few enough to bound memory.
AHEAD = 16


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], jobs: int = 1) -> Iterator[Result]:
    """``map(function, items)`` on `jobs` threads: results in order, at most a few items per thread read ahead.

    Kernels release the global interpreter lock, so threads share the compiled code and the memory. An exception of the
    function is raised when its turn comes.
    """
    if jobs == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


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
