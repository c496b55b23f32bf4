"""Who works on chunks of sentences, by name: processes, threads, or a cluster.

An engine is a context manager ``engine(function, workers) -> submit``; ``submit(chunk)`` returns at once with something
whose ``result()`` is the list of the function's results. To add one, write it and give it an entry in `ENGINES`;
another package names its own by an entry point (`deptree.engines`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from typing import Any, Protocol, cast

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import NamedFunction, Register
from deptree_cli.core.undo import undone_at_once
from deptree_cli.core.workers import Workshop, die_with_parent


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
    together = getattr(function, "together", None)
    try:
        if together is not None:
            return list(together(chunk))
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
    """Processes run everything side by side, at the price of a journey for every item and result.

    They end with the block: after its results, or at once where it is left by an exception.
    """
    workshop = Workshop()
    in_main_thread = threading.current_thread() is threading.main_thread()
    context = cast(BaseContext, workshop)
    pool = ProcessPoolExecutor(
        workers.jobs, context, initializer=_adopt, initargs=(function, os.getpid(), in_main_thread)
    )
    with undone_at_once(workshop.kill):
        try:
            yield lambda chunk: pool.submit(_apply_adopted, chunk)
        except BaseException as error:
            workshop.kill()
            if isinstance(error, BrokenExecutor):
                remedy = "Run again with fewer `jobs`, or look for what ended it"
                raise DeptreeError("a worker process died", remedy) from None
            raise
        finally:
            pool.shutdown(cancel_futures=True)


# The function of a worker process: sent once, not with every chunk.
_adopted: list[Function] = []


def _adopt(function: Function, parent: int, at_once: bool) -> None:
    die_with_parent(parent, at_once)
    _adopted[:] = [function]


def _apply_adopted(chunk: list[Any]) -> list[Any]:
    return apply(_adopted[0], chunk)


@contextmanager
def on_dask(function: Function, workers: Workers) -> Iterator[Submit]:
    """A dask.distributed cluster, a local one unless a scheduler is named; others take over from a worker that dies."""
    from deptree_cli.core.cluster import connected  # asyncio is not for everyone to wait for

    with connected(workers.jobs, workers.scheduler) as submit:
        # A function may carry a model: as a result of its own it reaches every worker once, and is made again where a
        # worker took it along (what is scattered would be lost).
        shared = submit(_itself, function)
        yield lambda chunk: submit(apply, shared, chunk)


def _itself(function: Function) -> Function:
    return function


ENGINES = Register(
    "engine",
    (
        NamedFunction("processes", on_processes, "the default from 2 jobs on"),
        NamedFunction("threads", on_threads, "share what is compiled"),
        NamedFunction("dask", on_dask, "a cluster, a local one if no scheduler is named"),
    ),
    "deptree.engines",
)
