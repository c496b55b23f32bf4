"""What people see on a terminal: messages, a status line, tables, and a word about kernels that are compiled."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from pathlib import Path
from select import select
from threading import Thread
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from deptree_cli.core.errors import plural, printable, readable
from deptree_cli.core.undo import undone_at_once
from deptree_cli.io.files.streams import cells, width_of
from deptree_cli.kernels.kept import tell_if_not_kept, watch_compiling

ID, LEAST_ID = "sent_id", 12  # the column that names the rows, and the columns of a terminal that a name keeps at least
LONGEST = 24  # a longer word of a text (of a path, say) may be folded; no number is as long, and no verdict

# What is tried in turn: columns of the terminal between those of the table, and how wide headings may be.
TRIES = ((1, sys.maxsize), (1, 12), (1, 0), (0, 0))

BOLD, ITALIC = 1, 3


class Table(NamedTuple):
    """Rows under their headings; the first column is text, the others are right-aligned."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


class Column:
    """A column of text: the lines of its heading, its cells, and its width, which is the least and may grow to `most`.

    Names of sentences are shortened where there is less room than that, other texts go on in further lines.
    """

    def __init__(self, name: str, texts: list[str], room: int) -> None:
        self.is_id, self.texts = name == ID, texts
        word = max((cells(word) for text in texts for word in text.split()), default=0)
        least = min(word, LEAST_ID if self.is_id else LONGEST)
        pieces = [name] if self.is_id else re.findall(r"[^ _]*_+|[^ _]+ *| +", name)
        self.heading = _broken(pieces, max(least, room))
        widest = max(map(cells, self.heading))
        self.width, self.most = max(least, widest), max(widest, *map(cells, texts), 0)

    def cell(self, row: int) -> list[str]:
        text = self.texts[row]
        if self.is_id:
            return [shortened(text, self.width)]
        return _broken(re.findall(r"\S+ *| +", text), self.width, folds=True)


def drawn(table: Table, width: int, styled: bool = False) -> str:
    """Return a table as text, at most `width` columns wide, ending in a newline.

    Headings are broken where the terminal is narrow; if numbers had to be cut even so, rows become records.
    """
    texts = [(name, [_cell(row[at]) for row in table.rows]) for at, name in enumerate(table.columns)]
    tries = ((gap, [Column(*each, room) for each in texts]) for gap, room in TRIES)
    gap, columns = next((each for each in tries if _whole(*each) <= width), (1, _records(texts, width)))
    spare = width - _whole(gap, columns)
    while spare > 0 and (short := [each for each in columns if each.width < each.most]):
        for each in short[:spare]:
            each.width += 1
        spare -= len(short)
    whole, has_headings = _whole(gap, columns), any(any(each.heading) for each in columns)

    def lines_of(parts: Sequence[Sequence[str]], style: int = 0) -> Iterator[str]:
        for texts in zip_longest(*parts, fillvalue=""):
            line = " "
            for column, text in zip(columns, texts, strict=True):
                blank, right = " " * (column.width - cells(text)), has_headings and column is not columns[0]
                line += (blank + _styled(text, style) if right else _styled(text, style) + blank) + " " * (gap + 1)
            yield line

    lines = [_styled(shortened(printable(table.title), width), ITALIC * styled)] if table.title else []
    lines.append(" " * whole)
    if has_headings:
        tallest = max(len(each.heading) for each in columns)
        headings = [[""] * (tallest - len(each.heading)) + each.heading for each in columns]
        lines += [*lines_of(headings, BOLD * styled), f" {'─' * (whole - 2)} "]
    for row in range(len(columns[0].texts)):
        lines += lines_of([each.cell(row) for each in columns])
    return "\n".join([*lines, " " * whole, ""])


def _whole(gap: int, columns: Sequence[Column]) -> int:
    """How wide a table is, with this many columns of a terminal between its own, and edges."""
    return 1 + sum(each.width + gap + 1 for each in columns)


def _records(columns: Sequence[tuple[str, list[str]]], width: int) -> list[Column]:
    """The rows as records: a line of name and value for each cell, an empty one between two records."""
    rows = [*zip(*(texts for _, texts in columns), strict=True)]
    names = [each for _ in rows for each in ("", *(name for name, _ in columns))][1:]
    values = [each for row in rows for each in ("", *row)][1:]
    left = Column("", names, 0)
    room = max(LEAST_ID, width - _whole(1, [left]) - 2)
    values = [shortened(value, room) if name == ID else value for name, value in zip(names, values, strict=True)]
    return [left, Column("", values, 0)]


def _cell(value: object) -> str:
    """A value as it is drawn: floats to three digits, tuples with commas, None as a dash."""
    if value is None:
        return "-"
    value = ",".join(map(str, value)) if isinstance(value, tuple) else value
    return f"{value:.3g}" if isinstance(value, float) else printable(str(value))


def _styled(text: str, style: int) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


def _broken(pieces: Iterable[str], width: int, folds: bool = False) -> list[str]:
    """The pieces of a text in lines of that width, if they are not longer; `folds`: even then."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and cells(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
        while folds and cells(lines[-1].rstrip()) > width:
            kept = next((at for at in range(len(lines[-1]), 1, -1) if cells(lines[-1][:at]) <= width), 1)
            lines[-1:] = [lines[-1][:kept], lines[-1][kept:]]
    return [line.rstrip() for line in lines]


def shortened(text: str, width: int) -> str:
    """Return a text in at most `width` columns; where that is too few, an ellipsis stands for its middle."""
    if cells(text) <= width:
        return text
    ahead, behind = text[: width // 2], text[len(text) - (width - 1) // 2 :]
    while cells(ahead) + cells(behind) >= width:  # characters of two columns
        ahead, behind = (ahead[:-1], behind) if cells(ahead) > cells(behind) else (ahead, behind[1:])
    return f"{ahead}…{behind}"


Item = TypeVar("Item")


@dataclass(eq=False)
class Counted(Generic[Item]):
    """Items, to be iterated once, with what is known of their number."""

    items: Iterable[Item]
    total: Callable[[], int | None] = lambda: None  # the exact number, None if it is not known (yet)
    share: Callable[[], float | None] = lambda: None  # of the input that has been read, from 0 to 1, if that is known
    noun: str = "sentence"
    note: Callable[[], str] = str  # what to show behind the numbers
    read: int = 0

    def __iter__(self) -> Iterator[Item]:
        for item in self.items:
            self.read += 1
            yield item
        self.total = lambda: self.read

    def expected(self) -> tuple[int, bool] | None:
        """The number of items that there will be, and whether it is exact; None where nothing is known."""
        if (total := self.total()) is not None:
            return total, True
        share = self.share()
        return (max(round(self.read / share), self.read), False) if share else None


# Seconds: what is over so soon after the first result needs no bar, and none is drawn faster than a reader can follow.
PATIENCE, INTERVAL = 1.0, 0.1

_WIDTH = 24


class StatusLine:
    """The line of a run, which counts what is done; nothing is drawn where nobody would see it.

    `shared`: data may go to the same terminal; then it ends before the first of them.
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
        if self.is_open:
            self._shown = True
            print(f"\r{text[: width_of(sys.stderr) - 1]}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take it off the screen, until it is drawn again: past streams, one of which a signal may have interrupted."""
        if self._shown:
            self._shown = False
            os.write(2, b"\r\x1b[K")

    def close(self) -> None:
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


# Seconds: of compiling before it is told on a terminal and elsewhere, and between two lines.
COMPILING_PATIENCE, LONG, COMPILING_INTERVAL = 0.5, 3.0, 0.2

BEGINS, ENDS = b"+", b"-"


@contextmanager
def kernels_told(quiet: bool) -> Iterator[None]:
    """Tell within the block what there is to tell of kernels, whichever process forked from this one knows it."""
    if quiet:
        yield
        return
    (events, pocket), (token, once) = os.pipe(), os.pipe()
    os.write(once, b".")
    os.close(once)

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
    """Draw the status line while kernels are compiled, until nobody is left who could send `BEGINS` and `ENDS`."""
    at_work = done = 0
    spent = 0.0
    while True:
        before = monotonic()
        ready = select([events], [], [], COMPILING_INTERVAL if at_work else None)[0]
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
        elif spent > COMPILING_PATIENCE:
            status().show(f"compiling kernels: {done} done, {spent:.0f} s")
