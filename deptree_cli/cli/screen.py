"""What text may look like where it goes: as wide as the terminal, coloured on one that may be."""

from __future__ import annotations

import os
import shutil
import sys
from typing import NamedTuple


class Screen(NamedTuple):
    """Columns that text may take, and whether it is coloured."""

    width: int
    colour: bool


def screen_of(output: str | None) -> Screen:
    """Return what there is for text that goes to an output, None for standard output."""
    colour = output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return Screen(shutil.get_terminal_size().columns, colour)
