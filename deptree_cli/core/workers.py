"""Worker processes that end with the process they work for, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any

from deptree_cli.core.undo import forget_everything, whole

# Bytes that a pipe holds: what Linux allows to everyone.
PIPE = 1 << 20

# Seconds that killed processes get to be gone: those with much memory take a while.
GONE = 5.0

# In place of a scheduler's address: a cluster that is started for this run, and ends with it.
LOCAL = "local"

# More workers than this only wait for each other.
WORKERS_PER_CORE = 4

# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1


def most_workers() -> int:
    return WORKERS_PER_CORE * cores()


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
