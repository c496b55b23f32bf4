"""What must be undone when the process ends at once: unfinished files are removed, worker processes killed.

A signal may come in the middle of a kernel that runs for minutes, or of a library that swallows exceptions, so that
`finally` is not enough. Whoever starts what must not be left behind registers how to undo it; whoever ends the process
(`cli/signals.py`) calls `undo_everything` before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Undo = Callable[[], object]

# In order of registration; a dict of callables each under a key of its own, for the same may be registered twice.
_registered: dict[object, Undo] = {}


def register(undo: Undo) -> Undo:
    """Have something undone if the process ends at once; returns the function that takes this back."""
    key = object()
    _registered[key] = undo
    return lambda: _registered.pop(key, None)


@contextmanager
def undone_at_once(undo: Undo) -> Iterator[None]:
    """Have something undone if the process ends at once within the block."""
    forget = register(undo)
    try:
        yield
    finally:
        forget()


def undo_everything() -> None:
    """Call all that is registered, the latest first; what fails does not keep the others from being undone.

    Safe in a signal handler and in a second thread at the same time: nothing here waits for a lock.
    """
    for undo in reversed(list(_registered.values())):
        with suppress(Exception):
            undo()


def forget_everything() -> None:
    """Drop the registrations, which a forked process inherits: they are its parent's to undo."""
    _registered.clear()
