"""Ctrl-C as a wish to make do with what there is: whatever is running may end its work and keep it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Item = TypeVar("Item")


class Interrupt:
    """Whether Ctrl-C was pressed while somebody listened; the second one ends the process as always."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        """Whether to stop."""
        return self.asked

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the first Ctrl-C within the block for a wish; in the main thread only."""
        before = signal.getsignal(signal.SIGINT)

        def note(number: int, frame: FrameType | None) -> None:
            self.asked = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def until(self, items: Iterator[Item]) -> Iterator[Item]:
        """The items up to the wish."""
        for item in items:
            if self.asked:
                return
            yield item
