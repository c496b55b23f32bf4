"""A command on a terminal: all that comes to it, byte for byte or as it reads."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(command: Sequence[object], folder: Path, columns: int = 200, **environment: str) -> tuple[int, str]:
    """Run a command in a folder with a terminal for all its streams: its exit status and what it sent there."""
    outside, inside = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": str(columns), **environment}
    streams = {"stdin": inside, "stdout": inside, "stderr": inside}
    process = subprocess.Popen([*map(str, command)], cwd=folder, env=env, **streams)
    os.close(inside)
    shown = b"".join(iter(lambda: _read(outside), b""))
    os.close(outside)
    return process.wait(60), shown.decode()


def as_it_reads(shown: str) -> str:
    """Without the codes for styles and cursors."""
    return STYLE.sub("", shown)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that nobody is at the other end
        return b""
