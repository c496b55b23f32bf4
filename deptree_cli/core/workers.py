"""Worker processes that end with the process they work for, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, cast

from deptree_cli.core.errors import DeptreeError, Setting
from deptree_cli.core.undo import forget_everything, undone_at_once, whole

# Bytes that a pipe holds: what Linux allows to everyone.
PIPE = 1 << 20

# Seconds that killed processes get to be gone: those with much memory take a while.
GONE = 5.0

# In place of a scheduler's address: a cluster that is started for this run, and ends with it.
LOCAL = "local"

JOBS = Setting("jobs")

# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1


class Workshop:
    """A multiprocessing context that knows the processes started by it, so that they can be killed together.

    Forks where the system can, which is quick and carries along what has been compiled.
    """

    def __init__(self) -> None:
        start = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
        self._context: BaseContext = multiprocessing.get_context(start)
        self._started: list[BaseProcess] = []
        self._results: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def Process(self, *args: Any, **options: Any) -> BaseProcess:  # noqa: N802 (multiprocessing's name)
        process: BaseProcess = self._context.Process(*args, **options)  # type: ignore[attr-defined]

        def start() -> None:
            del process.start  # a process may be pickled, which this cannot
            with whole():  # `kill` does not find one that is there but not yet noted
                process.start()

        process.start = start  # type: ignore[method-assign]
        self._started.append(process)
        return process

    def SimpleQueue(self) -> Any:  # noqa: N802 (multiprocessing's name)
        """Make a queue of results, as the context does, through a wide pipe: trees are a megabyte a sentence."""
        queue: Any = self._context.SimpleQueue()
        with suppress(ImportError, AttributeError, OSError):  # not Linux, or not allowed
            import fcntl

            fcntl.fcntl(queue._writer.fileno(), fcntl.F_SETPIPE_SZ, PIPE)
        self._results.append(queue)
        return queue

    def kill(self) -> None:
        """Kill every process at once, and wait until they are gone.

        One may be in the middle of a result: whoever reads that waits for the rest as long as anybody could write it,
        so our own end of the pipe is closed too.
        """
        for process in list(self._started):
            with suppress(Exception):  # not started yet, or already gone
                process.kill()
        for queue in self._results:
            with suppress(Exception):
                queue._writer.close()
        until = monotonic() + GONE
        for process in list(self._started):
            with suppress(Exception):
                process.join(max(0.0, until - monotonic()))


# The results of a chunk.
Work = Callable[[list[Any]], list[Any]]


@contextmanager
def on_processes(work: Work, jobs: int) -> Iterator[Callable[[list[Any]], Any]]:
    """Processes run everything side by side, at the price of a journey for every item and result.

    They end with the block: after its results, or at once where it is left by an exception.
    """
    workshop = Workshop()
    in_main_thread = threading.current_thread() is threading.main_thread()
    context = cast(BaseContext, workshop)
    pool = ProcessPoolExecutor(jobs, context, initializer=_adopt, initargs=(work, os.getpid(), in_main_thread))
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


# The work of a worker process: sent once, not with every chunk.
_adopted: list[Work] = []


def _adopt(work: Work, parent: int, at_once: bool) -> None:
    die_with_parent(parent, at_once)
    _adopted[:] = [work]


def _apply_adopted(chunk: list[Any]) -> list[Any]:
    return _adopted[0](chunk)


def die_with_parent(parent: int, at_once: bool) -> None:
    """Make this worker process end when its parent does, and leave signals from the terminal to the parent.

    parent: its process id; at_once: whether Linux may kill us, which it does when the *thread* that forked us ends.
    """
    forget_everything()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def outlive_no_parent() -> None:
        if process := multiprocessing.parent_process():
            process.join()
            os._exit(1)

    threading.Thread(target=outlive_no_parent, name="deptree-parent", daemon=True).start()
    if at_once and sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before we asked
            os._exit(1)
