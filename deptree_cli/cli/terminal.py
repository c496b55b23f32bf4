"""What people see on a terminal: messages, a status line, tables, and a word about kernels that are compiled."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from select import select
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from deptree_cli.core.errors import plural, printable, readable
from deptree_cli.core.undo import undone_at_once
from deptree_cli.io.files.streams import width_of
from deptree_cli.kernels.kept import tell_if_not_kept, watch_compiling

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.measure import Measurement
    from rich.table import Table as Grid


# The column that names the rows, and the columns of a terminal that a name keeps at least.
ID, LEAST_ID = "sent_id", 12

# A longer word of a text (of a path, say) may be folded; no number is as long, and no verdict.
LONGEST = 24

# Columns that no table takes.
UNCUT = 1 << 20

# What is tried in turn: columns of the terminal between those of the table, and how wide headings may be.
TRIES = ((1, UNCUT), (1, 12), (1, 0), (0, 0))


class Table(NamedTuple):
    """Rows under their headings; the first column is text, the others are right-aligned."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


class ShortId(NamedTuple):
    """A name for which rich may find less room than it takes."""

    text: str

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement(min(LEAST_ID, _width(self.text)), _width(self.text))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield shortened(self.text, options.max_width)


class Column(NamedTuple):
    """A column: what stands in it, whether that may be wrapped or shortened, and the room that it takes even so."""

    heading: str
    cells: list[str | ShortId]
    wraps: bool
    least: int

    @classmethod
    def of(cls, heading: str, cells: list[str | ShortId]) -> Column:
        words = [_width(word) for each in cells if isinstance(each, str) for word in each.split()]
        longest = max(words, default=0)
        has_ids = any(isinstance(each, ShortId) for each in cells)
        wraps = has_ids or longest > LONGEST or any(" " in each for each in cells if isinstance(each, str))
        return cls(heading, cells, wraps, max(LEAST_ID * has_ids, min(longest, LONGEST)))

    def broken(self, room: int) -> Column:
        title = _broken(self.heading, max(self.least, room))
        return self._replace(heading=title, least=max([self.least, *map(_width, title.split("\n"))]))


def drawn(table: Table, width: int, styled: bool = False) -> str:
    """Return a table as text, at most `width` columns wide, ending in a newline.

    Headings are broken where the terminal is narrow; if numbers had to be cut even so, rows become records.
    """
    from rich.console import Console
    from rich.text import Text

    file = StringIO()
    console = Console(file=file, markup=False, emoji=False, highlight=False, width=UNCUT, force_terminal=styled)
    rows = [[_cell(*each) for each in zip(table.columns, row, strict=True)] for row in table.rows]
    columns = [Column.of(heading, [row[number] for row in rows]) for number, heading in enumerate(table.columns)]
    tries = ((gap, [each.broken(room) for each in columns]) for gap, room in TRIES)
    gap, shown = next((each for each in tries if _least(*each) <= width), (1, _records(columns, width)))
    if table.title:
        console.print(Text(shortened(printable(table.title), width), style="italic"))
    console.print(_grid(gap, shown), width=max(width, _least(gap, shown)))
    return file.getvalue()


def _least(gap: int, columns: Sequence[Column]) -> int:
    """How wide the table is at least, with so many columns of a terminal between its own, and edges."""
    return 1 + sum(each.least + gap + 1 for each in columns)


def _grid(gap: int, columns: Sequence[Column]) -> Grid:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid

    has_headings = any(each.heading for each in columns)
    grid = Grid(box=SIMPLE_HEAD, padding=(0, gap, 0, 0), show_header=has_headings)
    for number, each in enumerate(columns):
        least = None if each.wraps else each.least
        grid.add_column(
            each.heading,
            justify="right" if number and has_headings else "left",
            min_width=least,
            no_wrap=not each.wraps,
            overflow="fold",
        )
    for row in zip(*(each.cells for each in columns), strict=True):
        grid.add_row(*row)
    return grid


def _records(columns: Sequence[Column], width: int) -> list[Column]:
    """The rows as records: a line of name and value for each cell, an empty one between two records."""
    names, values = list[str | ShortId](), list[str | ShortId]()
    for row in zip(*(each.cells for each in columns), strict=True):
        names += [""] * bool(names) + [_broken(each.heading, width // 2) for each in columns]
        values += [""] * bool(values) + [*row]
    return [Column.of("", names), Column.of("", values)]


def _cell(heading: str, value: object) -> str | ShortId:
    """A value as it is drawn: floats to three digits, tuples with commas, None as a dash."""
    if value is None:
        return "-"
    value = ",".join(map(str, value)) if isinstance(value, tuple) else value
    text = f"{value:.3g}" if isinstance(value, float) else printable(str(value))
    return ShortId(text) if heading == ID else text


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _broken(heading: str, width: int) -> str:
    """A heading in lines of that width, if it can be broken: between words, and behind the underscores of a field."""
    lines = [""]
    for piece in [heading] if heading == ID else re.findall(r"[^ _]*_+|[^ _]+ *| +", heading):
        if lines[-1] and _width(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def shortened(text: str, width: int) -> str:
    """Return a text in at most `width` columns; where that is too few, an ellipsis stands for its middle."""
    if _width(text) <= width:
        return text
    ahead, behind = text[: width // 2], text[len(text) - (width - 1) // 2 :]
    while _width(ahead) + _width(behind) >= width:  # characters of two columns
        ahead, behind = (ahead[:-1], behind) if _width(ahead) > _width(behind) else (ahead, behind[1:])
    return f"{ahead}…{behind}"


Item = TypeVar("Item")

Each = TypeVar("Each")


class Counted(Generic[Each]):
    """Items, to be iterated once, with what is known of their number.

    Args:
        total: the exact number, None if it is not known (yet).
        share: how much of the input has been read, from 0 to 1; None if that is not known.
        note: what to show behind the numbers.
    """

    def __init__(
        self,
        items: Iterable[Each],
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

    def __iter__(self) -> Iterator[Each]:
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
