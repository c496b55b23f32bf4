"""Standard streams that can be relied on, also where whoever started us has closed them or their disk is full.

Nothing stands on stderr but what commands say.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from codecs import lookup
from typing import Any, BinaryIO, NoReturn

from deptree_cli.core.errors import DeptreeError


class Closed(io.TextIOBase):
    """In place of a standard output that is closed: an error for those who write, nothing for the others."""

    def write(self, text: str, /) -> NoReturn:
        """Refuse.

        Raises:
            DeptreeError: always.
        """
        raise DeptreeError("standard output is closed", "Name a file with -o")

    @property
    def buffer(self) -> BinaryIO:
        """Refuse, as `write` does."""
        self.write("")


class Lossy(io.FileIO):
    """A file whose writing never fails: what cannot be written (a full disk, a closed pipe) is dropped."""

    def write(self, data: bytes | bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Write what can be written; the length of all of it."""
        rest = memoryview(data).cast("B")
        try:
            while rest:
                rest = rest[super().write(rest) or len(rest) :]
        except OSError:
            pass
        return len(data)


def keep_warnings_back() -> None:
    """Let no warning of Python or of a library reach the terminal, in worker processes neither.

    They are for programmers, who ask for them: `python -W default -m deptree_cli`, or `PYTHONWARNINGS`.
    """
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        os.environ["PYTHONWARNINGS"] = "ignore"


def _encoding(stream: Any) -> str:
    """The encoding of a stream; UTF-8, as all data are, in place of the ASCII of a locale that knows no letters."""
    found = stream.encoding if stream else "utf-8"
    return "utf-8" if lookup(found).name == "ascii" else found


def repair() -> None:
    """Occupy what is closed of file descriptors 0, 1 and 2, and let nothing that happens to stderr end the command.

    Otherwise the next file to be opened would become standard output or error, with the talk of libraries in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = Closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=_encoding(sys.stdout), errors="backslashreplace")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(Lossy(2, "w", closefd=False)),
        _encoding(sys.stderr),
        errors="backslashreplace",
        line_buffering=True,
        write_through=True,
    )
