"""Sentences of a batch spread over threads: kernels release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, partial
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np

from deptree_cli.core.dtypes import Int

# Numbers of a block of sentences that are worked on one after another: they stay in a core's cache. Of short sentences
# a block has whole groups, as many as go side by side (`kernels/batches/lanes.py`): 8 in float64, 16 in float32.
BLOCK = 1 << 18
GROUP = 16

# From how much work on a thread more pays, which takes a twentieth of a millisecond to wake: sums of costs, which are
# (n + 8)^3 a sentence. 10^6 of these take 0.15 ms.
COST = 1e6

Result = TypeVar("Result")
Action = Callable[[int, int], Result]


def spread(action: Action[Result], lengths: Int, threads: int) -> list[Result]:
    """What action(first, stop) returns for blocks of sentences that cover a batch, on up to `threads` threads.

    Every thread takes neighbouring sentences of about the same cost, n^3 each; what is computed does not depend on how
    they are shared out.
    """
    if min(len(lengths), threads) <= 1:
        return _in_blocks(action, lengths, 0, len(lengths))
    costs = (lengths + 8.0) ** 3
    shares = _shares(costs, min(threads, len(lengths), 1 + int(costs.sum() / COST)))
    waiting = [
        _pool(threads - 1, os.getpid()).submit(partial(_in_blocks, action, lengths, *share)) for share in shares[1:]
    ]
    try:
        first = _in_blocks(action, lengths, *shares[0])
    finally:
        wait(waiting)
    return [*first, *chain.from_iterable(future.result() for future in waiting)]


def _shares(costs: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return neighbouring stretches of about equal cost, none of them empty."""
    if count == 1:
        return [(0, len(costs))]
    ends = np.searchsorted(np.cumsum(costs), costs.sum() * np.arange(1, count) / count, side="right")
    borders = [0, *ends.tolist(), len(costs)]
    return [(first, stop) for first, stop in pairwise(borders) if first < stop]


def _in_blocks(action: Action[Result], lengths: Int, first: int, stop: int) -> list[Result]:
    if first == stop:
        return []
    size = max(1, BLOCK // int(lengths[first:stop].max() + 1) ** 2)
    size = size // GROUP * GROUP or size
    return [action(start, min(start + size, stop)) for start in range(first, stop, size)]


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return the threads beside the one that asks; those of a process do not survive a fork, hence its number."""
    return ThreadPoolExecutor(threads, thread_name_prefix="deptree")
