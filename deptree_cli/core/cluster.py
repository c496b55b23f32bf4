"""A dask.distributed cluster: one of its own, or whoever listens at a scheduler's address."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from operator import call as call_with
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import undone_at_once
from deptree_cli.core.workers import LOCAL

# The results of a chunk.
Work = Callable[[list[Any]], list[Any]]

# How long a scheduler may take to answer, in seconds, at first and when it has gone silent.
PATIENCE = 4

# Whose loggers write pages on stderr when a cluster goes.
TALKERS = ("distributed", "tornado", "asyncio")

# How often a chunk is tried again where it, or what it ran on, came to grief.
RETRIES = 3


@dataclass(frozen=True)
class Promise:
    future: Any
    whose: str

    def result(self) -> list[Any]:
        try:
            return self.future.result()
        except (CancelledError, OSError, TimeoutError) as error:
            raise _gone(self.whose, error) from None


@contextmanager
def on_cluster(work: Work, jobs: int, scheduler: str) -> Iterator[Callable[[list[Any]], Promise]]:
    """Have a cluster work, its own with `jobs` workers if `scheduler` is `LOCAL`; if one dies, others take over."""
    try:
        import distributed
    except ImportError:
        raise DeptreeError("dask is not installed", "pip install 'deptree-cli[dask]'") from None
    _set_up(scheduler != LOCAL)
    whose = "the dask cluster" if scheduler == LOCAL else f"the scheduler {scheduler}"
    folder = tempfile.mkdtemp(prefix="deptree-dask-") if scheduler == LOCAL else None

    def submit(function: Callable[..., Any], *arguments: object) -> Promise:
        try:
            return Promise(client.submit(function, *arguments, pure=False, retries=RETRIES), whose)
        except (CancelledError, OSError, RuntimeError) as error:  # a client that has lost its scheduler sends nothing
            raise _gone(whose, error) from None

    with _elsewhere() as call, undone_at_once(partial(_leave_nothing, folder)):
        try:
            cluster = call(_local_cluster, distributed, jobs, folder) if folder else None
            client = call(_client, distributed, cluster, scheduler, whose)
            try:
                # Work may carry a model: as a result of its own it reaches every worker once, and is made again where
                # a worker took it along (what is scattered would be lost).
                shared = submit(_itself, work).future
                yield lambda chunk: submit(call_with, shared, chunk)
            finally:
                with suppress(Exception):
                    call(client.close, PATIENCE)
                if cluster:
                    with suppress(Exception):
                        call(cluster.close, PATIENCE)
        finally:
            if folder:
                shutil.rmtree(folder, ignore_errors=True)


def _local_cluster(distributed: Any, jobs: int, folder: str) -> Any:
    settings = {"dashboard_address": ":0", "local_directory": folder, "silence_logs": logging.CRITICAL + 1}
    try:
        return distributed.LocalCluster(jobs, threads_per_worker=1, **settings)
    except Exception as error:  # of any kind: it opens ports, writes files, starts processes
        problem = f"no dask cluster can be started here ({_reason(error)})"
        raise DeptreeError(problem, "Work without a cluster") from None


def _client(distributed: Any, cluster: Any, scheduler: str, whose: str) -> Any:
    try:
        if not cluster:
            asyncio.run(_reach(scheduler))  # a client that reaches nobody takes a long time to go
        return distributed.Client(cluster or scheduler, set_as_default=False, timeout=PATIENCE)
    except Exception as error:  # of any kind: an address may be wrong in many ways
        raise DeptreeError(f"{whose} cannot be reached ({_reason(error)})", "Check its address") from None


def _itself(work: Work) -> Work:
    return work


async def _reach(address: str) -> None:
    from distributed.comm.core import connect

    await (await connect(address, timeout=PATIENCE)).close()


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _gone(whose: str, error: BaseException) -> DeptreeError:
    return DeptreeError(f"{whose} is gone ({type(error).__name__})", "Look at its log, and run again")


def _set_up(remote: bool) -> None:
    """Keep dask from talking on stderr, as what goes wrong is one line, ours; and from trying long to reach others."""
    import dask

    for name in [*TALKERS, *logging.root.manager.loggerDict]:  # dask gives some of its loggers levels of their own
        if name.partition(".")[0] in TALKERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})  # a model is large, and travels once
    if remote:
        dask.config.set({"distributed.comm.timeouts.connect": f"{PATIENCE}s", "distributed.comm.retry.count": 0})
    # multiprocessing's tracker of semaphores, which outlives us for a moment, would report those of killed workers.
    quiet = "ignore:resource_tracker"
    if quiet not in sys.warnoptions:
        sys.warnoptions.append(quiet)


@contextmanager
def _elsewhere() -> Iterator[Callable[..., Any]]:
    """A function that calls another one in a thread to which no signal comes, nor to threads and processes it starts.

    So Ctrl-C, which a terminal sends to workers too, is left to the main thread of this process.
    """
    with ThreadPoolExecutor(1, "deptree-dask", _block_signals) as thread:
        yield lambda function, *arguments: thread.submit(function, *arguments).result()


def _block_signals() -> None:
    if hasattr(signal, "pthread_sigmask"):
        from multiprocessing.resource_tracker import ensure_running

        ensure_running()  # when it is started on the way, it lets the signals through again
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})


def _leave_nothing(folder: str | None) -> None:
    for process in multiprocessing.active_children():
        process.kill()
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
