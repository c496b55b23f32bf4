"""How the process ends when it is told to: at once, with nothing left behind and nothing printed.

An exception such as KeyboardInterrupt is not enough. Kernels run for minutes without a Python instruction, in which it
could be raised; compilers and callbacks swallow it or print a traceback. So a signal is answered by removing what is
unfinished (`core/undo.py`) and leaving: in the main thread where that runs Python, else in one that waits for signals.
One that comes when the results are there changes nothing: they are not left beside a status that says otherwise.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
import warnings
from codecs import lookup
from contextlib import suppress
from types import FrameType
from typing import Any, BinaryIO, NoReturn

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import is_done, undo_everything, when_whole

# Where a shell sees 128 + the signal's number: 130, 143 and 129.
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

INTERRUPTED = 130
PATIENCE = 0.2  # what the main thread gets to answer by itself, in seconds, before the second thread does


def end_on_signals() -> None:
    """Answer the signals that end a command; those that whoever started us had ignored (nohup) stay ignored.

    For processes of our own: in the main thread, once.
    """
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
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, answer)
    # Python's own C handler writes the signal's number there, also while the main thread is in a kernel.
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)

    def watch() -> None:
        while True:
            number = os.read(readable, 1)[0]
            if number in SIGNALS and signal.getsignal(number) is answer:
                time.sleep(PATIENCE)
                answer(number, None)

    threading.Thread(target=watch, name="deptree-signals", daemon=True).start()


def leave_in_peace() -> None:
    """Have signals change nothing any more: the process ends, and Python would let them kill it on its last steps."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


class Closed(io.TextIOBase):
    """In place of a standard output that is closed: an error for those who write, nothing for the others."""

    def write(self, text: str, /) -> NoReturn:
        raise DeptreeError("standard output is closed", "Name a file with -o")

    @property
    def buffer(self) -> BinaryIO:
        self.write("")


class Lossy(io.FileIO):
    """A file whose writing never fails: what cannot be written (a full disk, a closed pipe) is dropped."""

    def write(self, data: bytes | bytearray | memoryview, /) -> int:  # type: ignore[override]
        rest = memoryview(data).cast("B")
        with suppress(OSError):
            while rest:
                rest = rest[super().write(rest) or len(rest) :]
        return len(data)


def keep_warnings_back() -> None:
    """Let no warning of Python or of a library reach the terminal, in worker processes neither.

    They are for programmers, who ask for them: `python -W default -m deptree_cli`, or `PYTHONWARNINGS`.
    """
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        os.environ["PYTHONWARNINGS"] = "ignore"


def _encoding(stream: Any) -> str:
    """The encoding of a stream; UTF-8, as all data are, in place of the ASCII of a locale that knows no letters."""
    found = stream.encoding if stream else "utf-8"
    return "utf-8" if lookup(found).name == "ascii" else found


def repair() -> None:
    """Occupy what is closed of file descriptors 0, 1 and 2, and let nothing that happens to stderr end the command.

    Otherwise the next file to be opened would become standard output or error, with the talk of libraries in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = Closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=_encoding(sys.stdout), errors="backslashreplace")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(Lossy(2, "w", closefd=False)),
        _encoding(sys.stderr),
        errors="backslashreplace",
        line_buffering=True,
        write_through=True,
    )
