"""How the process ends when it is told to: at once, with nothing left behind and nothing printed.

An exception such as KeyboardInterrupt is not enough. Kernels run for minutes without a Python instruction, in which it
could be raised; compilers and callbacks swallow it or print a traceback. So a signal is answered by removing what is
unfinished (`core/undo.py`) and leaving: in the main thread where that runs Python, else in one that waits for signals.
One that comes when the results are there changes nothing: they are not left beside a status that says otherwise.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType

from deptree_cli.core.undo import is_done, undo_everything, when_whole

# Where a shell sees 128 + the signal's number: 130, 143 and 129.
SIGNALS = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

INTERRUPTED = 130

# What the main thread gets to answer by itself, in seconds, before the second thread does.
PATIENCE = 0.2


def end_on_signals() -> None:
    """Answer the signals that end a command; those that whoever started us had ignored (nohup) stay ignored.

    For processes of our own: in the main thread, once.
    """
    signals = [getattr(signal, name) for name in SIGNALS]
    owner = os.getpid()

    def answer(number: int, _: FrameType | None = None) -> None:
        when_whole(lambda: end(number))

    def end(number: int) -> None:
        if is_done():
            return
        if os.getpid() == owner:  # else a forked worker that has not yet set up its own handlers
            undo_everything()
        os._exit(128 + number)

    readable, writable = os.pipe()
    if hasattr(os, "set_blocking"):
        os.set_blocking(writable, False)
    for number in signals:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, answer)
    # Python's own C handler writes the signal's number there, also while the main thread is in a kernel.
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)

    def watch() -> None:
        while True:
            number = os.read(readable, 1)[0]
            if number in signals and signal.getsignal(number) is answer:
                time.sleep(PATIENCE)
                answer(number, None)

    threading.Thread(target=watch, name="deptree-signals", daemon=True).start()


def leave_in_peace() -> None:
    """Have signals change nothing any more: the process ends, and Python would let them kill it on its last steps."""
    for name in SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
