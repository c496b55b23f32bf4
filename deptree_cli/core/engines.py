"""Who works on chunks of sentences, by name: processes, threads, or a cluster.

An engine is a context manager ``engine(function, workers) -> submit``; ``submit(chunk)`` returns at once with something
whose ``result()`` is the list of the function's results. To add one, write it and give it a line in `ENGINES`.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from deptree_cli.core.errors import DeptreeError


class Pending(Protocol):
    """What `submit` returns."""

    def result(self) -> list[Any]:
        """Wait for the results of a chunk."""


Function = Callable[[Any], Any]
Submit = Callable[[list[Any]], Pending]


@dataclass(frozen=True)
class Workers:
    """How many workers, and where: a scheduler's address for engines that have one."""

    jobs: int = 1
    scheduler: str | None = None


@dataclass(frozen=True)
class Raised:
    """In place of a result: what the function raised, to be raised again when its turn comes."""

    error: Exception


def apply(function: Function, chunk: list[Any]) -> list[Any]:
    """The function's results for a chunk, up to the first item for which it raises."""
    results: list[Any] = []
    try:
        for item in chunk:
            results.append(function(item))
    except Exception as error:
        results.append(Raised(error))
    return results


@contextmanager
def on_threads(function: Function, workers: Workers) -> Iterator[Submit]:
    """Threads share all memory and what is compiled; kernels run side by side, the Python between them does not."""
    with ThreadPoolExecutor(workers.jobs) as pool:
        try:
            yield lambda chunk: pool.submit(apply, function, chunk)
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def on_processes(function: Function, workers: Workers) -> Iterator[Submit]:
    """Processes run everything side by side, at the price of a journey for every item and result."""
    start = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    with ProcessPoolExecutor(workers.jobs, multiprocessing.get_context(start), _adopt, (function,)) as pool:
        try:
            yield lambda chunk: pool.submit(_apply_adopted, chunk)
        except BrokenExecutor:
            remedy = "Run again with fewer --jobs, or look for what ended it"
            raise DeptreeError("a worker process died", remedy) from None
        finally:
            pool.shutdown(cancel_futures=True)


# The function of a worker process: sent once, not with every chunk.
_adopted: list[Function] = []


def _adopt(function: Function) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _adopted[:] = [function]


def _apply_adopted(chunk: list[Any]) -> list[Any]:
    return apply(_adopted[0], chunk)


def _itself(function: Function) -> Function:
    return function


@contextmanager
def on_dask(function: Function, workers: Workers) -> Iterator[Submit]:
    """A dask.distributed cluster, a local one unless a scheduler is named; others take over from a worker that dies."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise DeptreeError("the engine dask is not installed", "pip install 'deptree-cli[dask]'") from None
    own = None if workers.scheduler else LocalCluster(workers.jobs, threads_per_worker=1, dashboard_address=None)
    try:
        with Client(workers.scheduler or own, set_as_default=False) as client:
            # A function may carry a model: as a result of its own it reaches every worker once, and is made again
            # where a worker took it along (what is scattered would be lost).
            shared = client.submit(_itself, function, pure=False, retries=RETRIES)
            yield lambda chunk: client.submit(apply, shared, chunk, pure=False, retries=RETRIES)
    except OSError as error:
        raise DeptreeError(
            f"the scheduler {workers.scheduler} cannot be reached ({error})", "Check --scheduler"
        ) from None
    finally:
        if own:
            own.close()


# How often a chunk is tried again where it, or what it ran on, came to grief.
RETRIES = 3

ENGINES: dict[str, Callable[[Function, Workers], AbstractContextManager[Submit]]] = {
    "processes": on_processes,
    "threads": on_threads,
    "dask": on_dask,
}
