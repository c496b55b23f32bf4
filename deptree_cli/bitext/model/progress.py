"""How far a long computation has come, told to whoever watches it in the same process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[str], object]

_watching: list[Tell] = []


@contextmanager
def watched(tell: Tell) -> Iterator[None]:
    """Have it called, within the block, with how far a computation has come, in a few words."""
    _watching.append(tell)
    try:
        yield
    finally:
        _watching.remove(tell)


def tell(how_far: str) -> None:
    """Tell all who watch."""
    for each in _watching:
        each(how_far)
