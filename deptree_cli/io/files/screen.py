"""What text may look like where it goes: as wide as the terminal, coloured on one that may be."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NamedTuple, TextIO

# Columns of what is no terminal, or of one that does not say how wide it is.
USUAL = 80


class Screen(NamedTuple):
    """Columns that text may take, and whether it is coloured."""

    width: int
    colour: bool


def screen_of(output: str | None) -> Screen:
    """Return what there is for text that goes to an output, None for standard output."""
    colour = output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return Screen(width_of(sys.stdout), colour)


def width_of(stream: TextIO) -> int:
    """Return how many columns text on a stream may take, at least 1: COLUMNS, or else as many as its terminal has.

    What is no positive number is no width.
    """
    found = 0
    with suppress(ValueError):
        found = int(os.environ.get("COLUMNS", ""))
    if found < 1:
        with suppress(OSError, ValueError, AttributeError):  # no terminal, or no descriptor
            found = os.get_terminal_size(stream.fileno()).columns
    return found if found >= 1 else USUAL
