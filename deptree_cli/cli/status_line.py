"""What people see on stderr: messages, tables, and the line that is drawn over and over while a command runs.

The line is never among data on a terminal. It is drawn by hand: those of rich take over both streams, wrap what is
printed beside them, and leave a terminal without a cursor when the process is killed.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deptree_cli.cli.tables import Table, drawn
from deptree_cli.core.errors import readable
from deptree_cli.core.undo import undone_at_once
from deptree_cli.io.files.screen import width_of

GONE = "\r\x1b[K"


class StatusLine:
    """The line of a run; nothing is drawn where nobody would see it.

    Args:
        output: where results go; None is standard output.
        quiet: whether nothing is shown.

    Attributes:
        is_open: whether it can be drawn (still).
        shared: whether data may go to the same terminal; then it ends before the first of them.
    """

    def __init__(self, output: str | None = None, quiet: bool = True) -> None:
        seen = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.is_open = seen and not quiet
        self.shared = self.is_open and _may_meet_data(output)
        self._shown = False

    def show(self, text: str) -> None:
        """Draw it, in the place of whatever was drawn before."""
        if self.is_open:
            self._shown = True
            print(f"\r{text[: width_of(sys.stderr) - 1]}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take it off the screen, until it is drawn again."""
        if self._shown:
            self._shown = False
            print(GONE, end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take it off the screen for good."""
        self.is_open = False
        self.clear()

    def wipe(self) -> None:
        """The same as the process ends: past streams, one of which a signal may have interrupted."""
        self.is_open = False
        if self._shown:
            os.write(2, GONE.encode())


# That of the command that runs is the last; outside of commands there is nothing to see.
_lines = [StatusLine()]


def status() -> StatusLine:
    """Return the line of the run in progress: whoever else writes to the terminal has to clear it first."""
    return _lines[-1]


@contextmanager
def status_shown(output: str | None, quiet: bool) -> Iterator[None]:
    """Within the block there is a line, as `StatusLine` has it; behind it, or if the process ends, it is gone."""
    line = StatusLine(output, quiet)
    _lines.append(line)
    try:
        with undone_at_once(line.wipe):
            yield
    finally:
        line.close()
        _lines.remove(line)


def data_follows() -> None:
    """Make way for data: for good where they may go to the same terminal."""
    if status().shared:
        status().close()


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
