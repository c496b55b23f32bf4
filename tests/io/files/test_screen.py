"""How wide a terminal is: what COLUMNS says, or the terminal itself, but never less than one column."""

from __future__ import annotations

import fcntl
import io
import os
import struct
import termios
from collections.abc import Iterator

import pytest

from deptree_cli.io.files.streams import USUAL, width_of

NO_WIDTHS = ["0", "-3", "", " ", "²", "80x24", "1e3", "9" * 5000]


@pytest.fixture
def screen() -> Iterator[io.TextIOWrapper]:
    """A terminal of 100 columns."""
    outside, inside = os.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    with os.fdopen(inside, "w") as stream:
        yield stream
    os.close(outside)


@pytest.mark.parametrize(("columns", "width"), [("1", 1), ("132", 132), *((each, USUAL) for each in NO_WIDTHS)])
def test_columns_are_a_width_if_they_are_a_positive_number(monkeypatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width_of(io.StringIO()) == width


@pytest.mark.parametrize("columns", NO_WIDTHS)
def test_else_the_stream_itself_is_asked(monkeypatch, screen, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width_of(screen) == 100


def test_a_terminal_without_a_size_has_the_usual_one(monkeypatch, screen) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
    assert width_of(screen) == USUAL
