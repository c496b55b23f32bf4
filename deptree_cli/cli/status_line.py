"""Lines on stderr that are drawn over and over while a command runs, and never among data on a terminal.

Drawn by hand: those of rich take over both streams, wrap what is printed beside them, and leave a terminal without a
cursor when the process is killed.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from deptree_cli.core.undo import undone_at_once
from deptree_cli.io.files.screen import width_of


class StatusLine:
    """A line that says how far a run has come; it keeps quiet where nobody would see it.

    Args:
        output: where results go; None is standard output.
        quiet: whether nothing is shown.

    Attributes:
        is_closed: whether nothing is shown (any more).
        shared: whether data may go to the same terminal; then it ends before the first of them.
    """

    def __init__(self, output: str | None, quiet: bool) -> None:
        self.is_closed = quiet or not _is_screen()
        self.shared = not self.is_closed and _may_meet_data(output)
        self._shown = False

    def show(self, text: str) -> None:
        """Draw it, in the place of whatever was drawn before."""
        if not self.is_closed:
            self._shown = True
            print(f"\r{text[: width_of(sys.stderr) - 1]}\x1b[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take it off the screen, until it is drawn again."""
        if self._shown:
            self._shown = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def wipe(self) -> None:
        """Take it off the screen as the process ends: past streams, one of which a signal may have interrupted."""
        self.is_closed = True
        if self._shown:
            os.write(2, b"\r\x1b[K")

    def close(self) -> None:
        """Take it off the screen for good."""
        self.is_closed = True
        self.clear()

    @contextmanager
    def in_place(self) -> Iterator[Self]:
        """Within the block it makes way for what else is written; behind it, or if the process ends, it is gone."""
        _lines.append(self)
        try:
            with undone_at_once(self.wipe):
                yield self
        finally:
            self.close()
            _lines.remove(self)


# The lines of the run in progress: whoever writes to the terminal has to clear them first.
_lines: list[StatusLine] = []


def clear_status() -> None:
    """Make way for a line on stderr."""
    for line in _lines:
        line.clear()


def data_follows() -> None:
    """Make way for data: for good where they may go to the same terminal."""
    for line in _lines:
        if line.shared:
            line.close()


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
