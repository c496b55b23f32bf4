"""The progress bar: how many sentences are done of how many, how fast, and how long it still takes.

One line on stderr, drawn by hand: the one of rich takes over both streams, wraps what is printed beside it, and leaves
a terminal without a cursor when the process is killed.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import Generic, TypeVar

from deptree_cli.core.undo import undone_at_once

Item = TypeVar("Item")

# Seconds: what is over so soon after the first result needs no bar, and none is drawn faster than a reader can follow.
PATIENCE = 1.0
INTERVAL = 0.1

_WIDTH = 24


class Sized(Generic[Item]):
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
    """The bar of one run; it keeps quiet where nobody would see it, or where it would stand among data.

    Attributes:
        shared: whether data may go to the same terminal; then it ends before the first of them.
    """

    def __init__(self, source: object, output: str | None, shard: tuple[int, int], quiet: bool) -> None:
        self._source = source if isinstance(source, Sized) else None
        self._shard, self._shards = shard
        self._closed = quiet or not _is_screen()
        self._shown = False
        self._first = self._drawn = 0.0
        self._done = 0
        self.shared = not self._closed and _may_meet_data(output)

    def step(self) -> None:
        """Count an item, and draw if it is time to."""
        self._done += 1
        self.draw()

    def draw(self, at_work: str = "") -> None:
        """Draw if it is time to.

        Args:
            at_work: how far the item at work has come.
        """
        if self._closed:
            return
        now = monotonic()
        self._first = self._first or now
        if now - self._first > PATIENCE and now - self._drawn > INTERVAL:
            self._drawn = now
            self._shown = True
            line = self._line(now - self._first) + (f"; {at_work}" if at_work else "")
            print(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take it off the screen, until it is drawn again."""
        if self._shown:
            self._shown = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def wipe(self) -> None:
        """Take it off the screen as the process ends: past streams, one of which a signal may have interrupted."""
        if self._shown:
            os.write(2, b"\r\x1b[K")

    def close(self) -> None:
        """Take it off the screen for good."""
        self.clear()
        self._closed = True

    def _line(self, seconds: float) -> str:
        """What is drawn, `seconds` after the first item: compiling before it says nothing about the speed."""
        noun = self._source.noun if self._source else "sentence"
        note = f", {text}" if self._source and (text := self._source.note()) else ""
        rate = max(self._done - 1, 0) / seconds if seconds else 0.0
        speed = f", {rate:,.0f}/s" if rate >= 10 else f", {rate:.2g}/s" if rate else ""
        expected = self._source.expected() if self._source else None
        if expected is None:
            return f"{self._done:,} {noun}s{speed}{note}"
        total = max(-(-(expected[0] - self._shard + 1) // self._shards), self._done)
        filled = _WIDTH * self._done // total
        left = f", {_clock((total - self._done) / rate)} left" if rate else ""
        about = "" if expected[1] else "about "
        bar = f"[{'=' * filled}{' ' * (_WIDTH - filled)}]"
        return f"{bar} {self._done:,} of {about}{total:,} {noun}s{speed}{left}{note}"


# The bar of the run in progress: whoever writes to the terminal has to clear it first.
_bars: list[Bar] = []


def progress(
    items: Iterable[Item],
    source: object = None,
    *,
    output: str | None = None,
    shard: tuple[int, int] = (1, 1),
    quiet: bool = False,
) -> Iterator[Item]:
    """The items as they pass, counted on stderr.

    Args:
        source: what the items are made of; a `Sized` one tells how many there will be.
        output: where results go; None is standard output.
        shard: which of the items of the source are worked on.
    """
    bar = Bar(source, output, shard, quiet)
    _bars.append(bar)
    try:
        with undone_at_once(bar.wipe):
            for item in items:
                yield item
                bar.step()
    finally:
        bar.close()
        _bars.remove(bar)


def tell_at_work(at_work: str) -> None:
    """Show how far the item at work has come, if it is time to draw."""
    for bar in _bars:
        bar.draw(at_work)


def clear_progress() -> None:
    """Make way for a line on stderr."""
    for bar in _bars:
        bar.clear()


def data_follows() -> None:
    """Make way for data: for good where they may go to the same terminal."""
    for bar in _bars:
        if bar.shared:
            bar.close()


def _is_screen() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _may_meet_data(output: str | None) -> bool:
    """Whether results go to a terminal, or into a pipe whose reader may write to one."""
    try:
        found = os.fstat(sys.stdout.fileno()) if output in (None, "-") else Path(output or "").stat()
        is_device = stat.S_ISCHR(found.st_mode) and found.st_rdev != Path(os.devnull).stat().st_rdev
    except (OSError, AttributeError, ValueError):
        return False
    return is_device or stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)


def _clock(seconds: float) -> str:
    """Seconds as 0:07, 12:34 or 5:06:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
