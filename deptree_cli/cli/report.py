"""Talk: lines and tables for people on stderr."""

from __future__ import annotations

import os
import re
import sys

from deptree_cli.cli.status_line import clear_status
from deptree_cli.cli.tables import Table, drawn
from deptree_cli.core.errors import DeptreeError, readable
from deptree_cli.io.files.screen import width_of

# Python's arguments that messages of `core` name, in backticks: `nan_forbids=True`, `scale="log"`, `labels`.
ARGUMENTS = (
    *("nan_forbids", "scale", "space", "single_root", "projective", "labels"),
    *("resume", "tags", "oracle", "seed", "unlabelled", "iterations", "samples", "passes", "lexicalised", "particles"),
    *("kind", "engine", "scheduler", "jobs", "relax", "budget", "temperature", "criterion"),
)
ARGUMENT = re.compile(f'`(?P<name>{"|".join(ARGUMENTS)})(=(?P<value>"[a-z-]*"|[a-zA-Z0-9]+))?`')

# What the option of an argument is where it has another name.
OPTIONS = {"single_root=False": "--multi-root", 'kind="log"': "--score-kind log"}


def talk(line: str) -> None:
    """One line to the user."""
    clear_status()
    print(f"deptree: {readable(line)}", file=sys.stderr, flush=True)


def line_of(error: DeptreeError) -> str:
    """An error as a line: what `core` calls by the names of Python's arguments, in backticks, are options here."""
    return ARGUMENT.sub(_as_option, str(error))


def _as_option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"] or ""
    shown = "" if value == "True" else f" {value}".replace('"', "").rstrip()
    return OPTIONS.get(f"{name}={value}") or f"--{name.replace('_', '-')}{shown}"


def show(said: Table | str) -> None:
    """Show a table on stderr, no wider than the terminal, or say a line."""
    if isinstance(said, str):
        talk(said)
        return
    clear_status()
    styled = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    print(drawn(said, width_of(sys.stderr), styled), file=sys.stderr, end="", flush=True)
