"""The progress bar: how many sentences are done of how many, how fast, and how long it still takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Generic, TypeVar

from deptree_cli.cli.status_line import status
from deptree_cli.core.errors import plural

Item = TypeVar("Item")

# Seconds: what is over so soon after the first result needs no bar, and none is drawn faster than a reader can follow.
PATIENCE = 1.0
INTERVAL = 0.1

_WIDTH = 24


class Counted(Generic[Item]):
    """Items, to be iterated once, with what is known of their number.

    Args:
        total: the exact number, None if it is not known (yet).
        share: how much of the input has been read, from 0 to 1; None if that is not known.
        noun: what one item is called.
        note: what to show behind the numbers.
    """

    def __init__(
        self,
        items: Iterable[Item],
        total: Callable[[], int | None] = lambda: None,
        share: Callable[[], float | None] = lambda: None,
        noun: str = "sentence",
        note: Callable[[], str] = str,
    ) -> None:
        self._items = iter(items)
        self._total = total
        self._share = share
        self.noun = noun
        self.note = note
        self.read = 0

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self.read += 1
            yield item
        self._total = lambda: self.read

    def expected(self) -> tuple[int, bool] | None:
        """The number of items that there will be, and whether it is exact; None where nothing is known."""
        if (total := self._total()) is not None:
            return total, True
        share = self._share()
        return (max(round(self.read / share), self.read), False) if share else None


class Bar:
    """What the status line says of a run.

    Args:
        source: what the items are made of; a `Counted` one tells how many there will be.
        shard: which of the items of the source are worked on.
    """

    def __init__(self, source: object = None, shard: tuple[int, int] = (1, 1)) -> None:
        self._source = source if isinstance(source, Counted) else Counted[object](())
        self._shard, self._shards = shard
        self._first = self._drawn = 0.0
        self.done = 0

    def draw(self, at_work: str = "") -> None:
        """Draw if it is time to; `at_work`: how far the item at work has come."""
        if not status().is_open:
            return
        now = monotonic()
        self._first = self._first or now
        if now - self._first > PATIENCE and now - self._drawn > INTERVAL:
            self._drawn = now
            status().show(self.line(now - self._first) + (f"; {at_work}" if at_work else ""))

    def line(self, seconds: float) -> str:
        """What is drawn, `seconds` after the first item: compiling before it says nothing about the speed."""
        source, note = self._source, f", {text}" if (text := self._source.note()) else ""
        rate = max(self.done - 1, 0) / seconds if seconds else 0.0
        speed = f", {rate:,.0f}/s" if rate >= 10 else f", {rate:.2g}/s" if rate else ""
        expected = source.expected()
        if expected is None:
            return f"{self.done:,} {plural(self.done, source.noun)}{speed}{note}"
        total = max(-(-(expected[0] - self._shard + 1) // self._shards), self.done)
        left = f", {_clock((total - self.done) / rate)} left" if rate else ""
        about = "" if expected[1] else "about "
        bar = f"[{'=' * (_WIDTH * self.done // total):{_WIDTH}}]"
        return f"{bar} {self.done:,} of {about}{total:,} {plural(total, source.noun)}{speed}{left}{note}"


# That of the run in progress is the last.
_bars = [Bar()]


def progress(items: Iterable[Item], source: object = None, shard: tuple[int, int] = (1, 1)) -> Iterator[Item]:
    """The items as they pass, counted on the status line; `source`, `shard`: as of `Bar`."""
    bar = Bar(source, shard)
    _bars.append(bar)
    try:
        for item in items:
            yield item
            bar.done += 1
            bar.draw()
    finally:
        _bars.remove(bar)
        status().clear()


def report_progress(at_work: str) -> None:
    """Show how far the item at work has come, if it is time to draw."""
    _bars[-1].draw(at_work)


def _clock(seconds: float) -> str:
    """Seconds as 0:07, 12:34 or 5:06:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
