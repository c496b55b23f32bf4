"""What must be undone when the process ends at once: unfinished files are removed, worker processes killed.

A signal may come in the middle of a kernel that runs for minutes, or of a library that swallows exceptions, so that
`finally` is not enough. Whoever starts what must not be left behind registers how to undo it; whoever ends the process
(`cli/signals.py`) calls `undo_everything` before. Once results have their final names nothing can be undone, so that
the process has to end by itself (`is_done`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

Undo = Callable[[], object]

# In order of registration; a dict of callables each under a key of its own, for the same may be registered twice.
_registered: dict[object, Undo] = {}

# When results got their final names, and for how many seconds a process that has them may go on.
_done: list[float] = []
SOON = 3.0

# The blocks that run whole, and what waits for their end.
_whole: list[object] = []
_waiting: list[Undo] = []


def mark_done() -> None:
    _done[:] = [monotonic()]  # the results of this process have their final names, or are about to get them


def is_done() -> bool:
    """Whether they got them a moment ago: whoever ended the process now would leave them beside a wrong status."""
    return bool(_done) and monotonic() - _done[0] < SOON


def register(undo: Undo) -> Undo:
    """Have something undone if the process ends at once; returns the function that takes this back."""
    key = object()
    _registered[key] = undo
    return lambda: _registered.pop(key, None)


@contextmanager
def undone_at_once(undo: Undo) -> Iterator[None]:
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


@contextmanager
def whole() -> Iterator[None]:
    """Have the process not end within the block, which is short: a process that starts is not known to anybody yet."""
    _whole.append(None)
    try:
        yield
    finally:
        _whole.pop()
        while _waiting and not _whole:
            _waiting.pop(0)()


def when_whole(end: Undo) -> None:
    """Call what ends the process, after the block that runs whole if there is one."""
    if _whole:
        _waiting.append(end)
    else:
        end()


def forget_everything() -> None:
    """Drop what a forked process inherits: it is its parent's to undo."""
    for inherited in (_registered, _whole, _waiting):
        inherited.clear()
