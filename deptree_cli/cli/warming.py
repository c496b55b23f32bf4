"""Compile what commands need: the lines are run, here, that their help says to try."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from deptree_cli.cli.table import Entry
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import undone_at_once
from deptree_cli.kernels.budget import compile_kernels
from deptree_cli.kernels.cache import keep_in
from deptree_cli.kernels.portable import compile_portably

SPACES = ("", " --multi-root", " --projective")


def warm_up(
    names: Iterable[str], entries: Mapping[str, Entry], code: Path | None, portable: bool
) -> tuple[set[Path], set[Path]]:
    """Run the lines of commands so that their machine code is kept, in `code` or the user's folder.

    portable: whether it is compiled for any processor of this machine's level. Returns the files that were written, and
    those that were there.

    Raises:
        DeptreeError: a line failed.
    """
    from deptree_cli.cli.example_files import write_examples  # loads NumPy: when there is work

    if portable:
        compile_portably()
    if code:
        keep_in(code)
    compile_kernels()
    chosen = [name for name in names if entries[name].reads not in ("text", "")]  # it takes a parser; it is `warm`
    wants_model = any(entries[name].reads == "model" for name in chosen)
    first = [name for name, each in entries.items() if each.writes == "model" and (wants_model or name in chosen)]
    program = click.get_current_context().find_root().command
    with TemporaryDirectory(prefix="deptree-warm-") as folder, _at_work_in(folder):
        write_examples(Path(folder))
        for name in dict.fromkeys([*first, *chosen]):
            _warm(name, entries[name].line, program)
    from deptree_cli.kernels.stored import FILES

    return {path for path in FILES if FILES[path]}, {path for path in FILES if not FILES[path]}


@contextmanager
def _at_work_in(folder: str) -> Iterator[None]:
    """Work in a folder, which goes at once on Ctrl-C and the like; what commands have to tell goes nowhere."""
    undone = undone_at_once(partial(shutil.rmtree, folder, ignore_errors=True))
    with undone, chdir(folder), redirect_stderr(io.StringIO()):
        yield


def _warm(name: str, line: str, program: click.Command) -> None:
    """Run a command's line, over each of the spaces that it knows."""
    try:
        for space in SPACES:
            with suppress(*(click.UsageError, DeptreeError) if space else ()):  # its sampler may not serve it
                run_line(line.replace(f"deptree {name}", f"deptree {name}{space}"), program)
    except (click.ClickException, DeptreeError) as error:
        raise DeptreeError(f"{line} failed ({error})", "Report it, please") from None


def run_line(line: str, program: click.Command) -> None:
    """Run the commands of a line, each of which reads what the one before it wrote; other programs are left out."""
    streams, written = (sys.stdin, sys.stdout), os.devnull
    try:
        for number, stage in enumerate(line.split(" | ")):
            name, *args = shlex.split(stage)
            if name == "deptree":
                read, written = written, f"stage-{number}"
                with Path(read).open() as sys.stdin, Path(written).open("w") as sys.stdout, suppress(SystemExit):
                    program(args, standalone_mode=False)
    finally:
        sys.stdin, sys.stdout = streams
