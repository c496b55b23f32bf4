"""What people see on stderr: messages, tables, and the line that is drawn over and over while a command runs.

The line is never among data on a terminal. It is drawn by hand: those of rich take over both streams, wrap what is
printed beside them, and leave a terminal without a cursor when the process is killed.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from deptree_cli.cli.tables import Table, drawn
from deptree_cli.cli.work import Counted
from deptree_cli.core.errors import plural, readable
from deptree_cli.core.undo import undone_at_once
from deptree_cli.io.files.screen import width_of

Item = TypeVar("Item")

# Seconds: what is over so soon after the first result needs no bar, and none is drawn faster than a reader can follow.
PATIENCE, INTERVAL = 1.0, 0.1

_WIDTH = 24


class StatusLine:
    """The line of a run, which counts what is done; nothing is drawn where nobody would see it.

    Args:
        output: where results go; None is standard output.
        quiet: whether nothing is shown.

    Attributes:
        is_open: whether it can be drawn (still).
        shared: whether data may go to the same terminal; then it ends before the first of them.
        done: how many items are.
    """

    def __init__(self, output: str | None = None, quiet: bool = True) -> None:
        seen = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.is_open = seen and not quiet
        self.shared = self.is_open and _may_meet_data(output)
        self._shown = False
        self.begin(Counted[object](()))

    def begin(self, source: Counted[Any], shard: tuple[int, int] = (1, 1)) -> None:
        """Count from 0 what is made of the items of a source, of which those of a shard are worked on."""
        self._source, self._shard = source, shard
        self._first = self._drawn = 0.0
        self.done = 0

    def show(self, text: str) -> None:
        """Draw it, in the place of whatever was drawn before."""
        if self.is_open:
            self._shown = True
            print(f"\r{text[: width_of(sys.stderr) - 1]}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take it off the screen, until it is drawn again: past streams, one of which a signal may have interrupted."""
        if self._shown:
            self._shown = False
            os.write(2, b"\r\x1b[K")

    def close(self) -> None:
        """Take it off the screen for good."""
        self.is_open = False
        self.clear()

    def make_way(self) -> None:
        """Data follow: close it where they may go to the same terminal."""
        if self.shared:
            self.close()

    def draw(self, at_work: str = "") -> None:
        """Draw what is done if it is time to; `at_work`: how far the item at work has come."""
        if not self.is_open:
            return
        now = monotonic()
        self._first = self._first or now
        if now - self._first > PATIENCE and now - self._drawn > INTERVAL:
            self._drawn = now
            self.show(self.text(now - self._first) + (f"; {at_work}" if at_work else ""))

    def text(self, seconds: float) -> str:
        """What is done, `seconds` after the first item: compiling before it says nothing about the speed."""
        source, (shard, shards) = self._source, self._shard
        note = f", {said}" if (said := source.note()) else ""
        rate = max(self.done - 1, 0) / seconds if seconds else 0.0
        speed = f", {rate:,.0f}/s" if rate >= 10 else f", {rate:.2g}/s" if rate else ""
        expected = source.expected()
        if expected is None:
            return f"{self.done:,} {plural(self.done, source.noun)}{speed}{note}"
        total = max(-(-(expected[0] - shard + 1) // shards), self.done)
        left = f", {timedelta(seconds=round((total - self.done) / rate))} left" if rate else ""
        about = "" if expected[1] else "about "
        bar = f"[{'=' * (_WIDTH * self.done // total):{_WIDTH}}]"
        return f"{bar} {self.done:,} of {about}{total:,} {plural(total, source.noun)}{speed}{left}{note}"


# That of the command that runs is the last; outside of commands there is nothing to see.
_lines = [StatusLine()]


def status() -> StatusLine:
    """The line of the run in progress: whoever else writes to the terminal has to clear it first."""
    return _lines[-1]


@contextmanager
def status_shown(output: str | None, quiet: bool) -> Iterator[None]:
    """Within the block there is a line, as `StatusLine` has it; behind it, or if the process ends, it is gone."""
    line = StatusLine(output, quiet)
    _lines.append(line)
    try:
        with undone_at_once(line.close):
            yield
    finally:
        line.close()
        _lines.remove(line)


def progress(items: Iterable[Item], source: Counted[Any], shard: tuple[int, int] = (1, 1)) -> Iterator[Item]:
    """The items as they pass, counted on the status line; `source`, `shard`: as of `StatusLine.begin`."""
    line = status()
    line.begin(source, shard)
    try:
        for item in items:
            yield item
            line.done += 1
            line.draw()
    finally:
        line.clear()


def message(line: str) -> None:
    """Tell the user a line."""
    status().clear()
    print(f"deptree: {readable(line)}", file=sys.stderr, flush=True)


def show(table: Table | str) -> None:
    """Show a table on stderr, no wider than the terminal, or tell a line."""
    if isinstance(table, str):
        message(table)
        return
    status().clear()
    styled = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    print(drawn(table, width_of(sys.stderr), styled), file=sys.stderr, end="", flush=True)


def _may_meet_data(output: str | None) -> bool:
    """Whether results go to a terminal, or into a pipe whose reader may write to one."""
    try:
        found = os.fstat(sys.stdout.fileno()) if output in (None, "-") else Path(output or "").stat()
        is_device = stat.S_ISCHR(found.st_mode) and found.st_rdev != Path(os.devnull).stat().st_rdev
    except (OSError, AttributeError, ValueError):
        return False
    return is_device or stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)
