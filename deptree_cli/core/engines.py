"""Who works on chunks of sentences: processes of this machine, or a cluster.

Either is a context manager ``engine(function, workers) -> submit``; ``submit(chunk)`` returns at once with something
whose ``result()`` is the list of the function's results.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from typing import Any, Protocol, cast

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.settings import Setting
from deptree_cli.core.undo import undone_at_once
from deptree_cli.core.workers import LOCAL, Workshop, die_with_parent


class Pending(Protocol):
    """What `submit` returns."""

    def result(self) -> list[Any]:
        """Wait for the results of a chunk."""


Function = Callable[[Any], Any]
Submit = Callable[[list[Any]], Pending]

JOBS = Setting("jobs")


@dataclass(frozen=True)
class Workers:
    """How many workers, and where.

    Attributes:
        scheduler: the address of a cluster, or `LOCAL` for a cluster of its own; without one they are processes.
    """

    jobs: int = 1
    scheduler: str | None = None

    @property
    def are_elsewhere(self) -> bool:
        """Whether the work is done outside this process."""
        return self.jobs > 1 or self.scheduler is not None

    def at_work(self, function: Function) -> AbstractContextManager[Submit]:
        """Return what submits chunks to them while its block lasts."""
        return (on_processes if self.scheduler is None else on_cluster)(function, self)


# This process alone.
HERE = Workers()


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
                remedy = f"Run again with fewer {JOBS}, or look for what ended it"
                raise DeptreeError("a worker process died", remedy, options=[JOBS]) from None
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
def on_cluster(function: Function, workers: Workers) -> Iterator[Submit]:
    """Have a dask.distributed cluster work; others of it take over from a worker that dies."""
    from deptree_cli.core.cluster import connected  # asyncio is not for everyone to wait for

    with connected(workers.jobs, workers.scheduler or LOCAL) as submit:
        # A function may carry a model: as a result of its own it reaches every worker once, and is made again where a
        # worker took it along (what is scattered would be lost).
        shared = submit(_itself, function)
        yield lambda chunk: submit(apply, shared, chunk)


def _itself(function: Function) -> Function:
    return function
