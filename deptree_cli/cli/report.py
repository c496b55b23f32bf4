"""Talk: lines and tables for people on stderr."""

from __future__ import annotations

import os
import sys

from deptree_cli.cli.status_line import status
from deptree_cli.cli.tables import Table, drawn
from deptree_cli.core.errors import readable
from deptree_cli.io.files.screen import width_of


def talk(line: str) -> None:
    """One line to the user."""
    status().clear()
    print(f"deptree: {readable(line)}", file=sys.stderr, flush=True)


def show(said: Table | str) -> None:
    """Show a table on stderr, no wider than the terminal, or say a line."""
    if isinstance(said, str):
        talk(said)
        return
    status().clear()
    styled = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    print(drawn(said, width_of(sys.stderr), styled), file=sys.stderr, end="", flush=True)
