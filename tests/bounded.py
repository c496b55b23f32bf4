"""Work that must come to an end: where it hangs, a test fails, and the others go on."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

Found = TypeVar("Found")

# Compiling included.
SECONDS = 200.0


def bounded(work: Callable[[], Found]) -> Found:
    """Return what work returns, in a thread that the program does not wait for."""
    found: list[Found] = []
    thread = Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "it hangs"
    return found[0]
