"""What is told of kernels: that they are being compiled, whenever it takes a while, and that they cannot be kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from select import select
from threading import Thread
from time import monotonic

from deptree_cli.cli.status_line import message, status
from deptree_cli.kernels.cache import tell_if_not_kept, watch_compiling

# Seconds: of compiling before it is told on a terminal and elsewhere, and between two lines.
PATIENCE, LONG, INTERVAL = 0.5, 3.0, 0.2

BEGINS, ENDS = b"+", b"-"


@contextmanager
def kernels_told(quiet: bool) -> Iterator[None]:
    """Tell within the block what there is to tell of kernels, whichever process forked from this one knows it."""
    if quiet:
        yield
        return
    (events, pocket), (token, once) = os.pipe(), os.pipe()
    with os.fdopen(once, "wb") as only:
        only.write(b".")

    def send(begins: bool) -> None:
        os.write(pocket, BEGINS if begins else ENDS)

    def tell(reason: str) -> None:
        if os.read(token, 1):  # nothing where another process has taken it
            line = f"the machine code of kernels cannot be kept ({reason}): every run compiles anew"
            message(f"{line}. Set NUMBA_CACHE_DIR.")

    tell_if_not_kept(tell)
    if hasattr(os, "fork"):  # elsewhere nobody can wait for a pipe
        watch_compiling(send)
        Thread(target=_keep_drawing, args=(events, not status().is_open), name="deptree-compiling", daemon=True).start()
    try:
        yield
    finally:
        watch_compiling(None)
        tell_if_not_kept(lambda _: None)
        for end in (pocket, token) if hasattr(os, "fork") else (pocket, token, events):
            os.close(end)


def _keep_drawing(events: int, in_words: bool) -> None:
    """Draw the status line while kernels are compiled, until nobody is left who could send `BEGINS` and `ENDS`.

    in_words: say it once instead, where no line can be drawn.
    """
    at_work = done = 0
    spent = 0.0
    while True:
        before = monotonic()
        ready = select([events], [], [], INTERVAL if at_work else None)[0]
        happened = os.read(events, 1 << 10) if ready else b""
        if ready and not happened:
            os.close(events)
            return
        spent += monotonic() - before if at_work else 0.0
        done += happened.count(ENDS)
        at_work += happened.count(BEGINS) - happened.count(ENDS)
        if in_words and spent > LONG:
            in_words = False
            message("compiling kernels, which may take a minute; later runs find them compiled")
        elif not at_work:
            status().clear()
        elif spent > PATIENCE:
            status().show(f"compiling kernels: {done} done, {spent:.0f} s")
