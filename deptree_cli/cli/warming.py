"""Compile what commands need: their example lines are run in processes of their own, over all cores."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from multiprocessing import active_children, get_all_start_methods, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from deptree_cli.cli.table import Entry
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import undone_at_once
from deptree_cli.core.workers import WORKERS_PER_CORE, die_with_parent, most_workers

SPACES = ("--multi-root", "--projective")


class Task(NamedTuple):
    """The example line of a command, to be run in a process of its own, in each of the spaces that it has.

    Attributes:
        name: the command.
        line: its example line.
        data: the folder of its files, where it runs.
        code: the folder for machine code, None for the user's.
        portable: whether it is compiled for any processor of this machine's level.
    """

    name: str
    line: str
    data: str
    code: Path | None
    portable: bool


class Warmed(NamedTuple):
    """The files of machine code that were written, and those that were there."""

    compiled: set[str]
    there: set[str]


def warm_up(names: Iterable[str], entries: Mapping[str, Entry], code: Path | None, portable: bool) -> Warmed:
    """Run the example lines of commands so that their machine code is kept, in `code` or the user's folder.

    Raises:
        DeptreeError: one of them failed.
    """
    from deptree_cli.cli.example_files import write_examples  # loads NumPy: when there is work

    found = Warmed(set(), set())
    names = [name for name in names if entries[name].reads not in ("text", "")]  # it takes a parser; it is `warm`
    reads_model = any(entries[name].reads == "model" for name in names)
    first = [name for name in entries if entries[name].writes == "model" and (name in names or reads_model)]
    # Not forked where there is no fork: then nobody hears of kernels before the end.
    context = get_context("fork" if "fork" in get_all_start_methods() else None)
    with TemporaryDirectory(prefix="deptree-warm-") as folder, _removed_at_once(folder):
        write_examples(Path(folder))
        for each in (first, [name for name in names if name not in first]):
            tasks = [Task(name, entries[name].line, folder, code, portable) for name in each]
            workers = min(most_workers() // WORKERS_PER_CORE, len(tasks) or 1)
            with context.Pool(workers, _quietly, (os.getpid(),), maxtasksperchild=1) as pool:
                for compiled, there in pool.imap_unordered(_run, tasks):
                    found.compiled.update(compiled)
                    found.there.update(there)
    return found._replace(there=found.there - found.compiled)


@contextlib.contextmanager
def _removed_at_once(folder: str) -> Iterator[None]:
    """Within the block Ctrl-C and the like end the workers, and then remove the folder that they write to.

    What a worker gets before it has handlers of its own, such as the end of the pool, must not be read by our watcher.
    """

    def end_workers() -> None:
        for worker in active_children():
            worker.kill()

    watched = signal.set_wakeup_fd(-1)
    try:
        with undone_at_once(partial(shutil.rmtree, folder, ignore_errors=True)), undone_at_once(end_workers):
            yield
    finally:
        signal.set_wakeup_fd(watched, warn_on_full_buffer=False)


def _quietly(parent: int) -> None:
    """Leave Ctrl-C to the process that started this one, end with it, and write nowhere."""
    die_with_parent(parent, at_once=False)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _run(task: Task) -> Warmed:
    """Run a line in this process, which has run none; the files of machine code that it wrote and read."""
    from deptree_cli.kernels.budget import compile_kernels
    from deptree_cli.kernels.cache import keep_in
    from deptree_cli.kernels.portable import compile_portably

    os.chdir(task.data)
    if task.portable:
        compile_portably()
    if task.code:
        keep_in(task.code)
    compile_kernels()
    try:
        run_line(task.line)
    except (click.ClickException, DeptreeError) as error:
        raise DeptreeError(f"{task.line} failed ({error})", "Report it, please") from None
    for space in SPACES:
        with contextlib.suppress(click.ClickException, DeptreeError):  # it may have none, or its sampler not serve it
            run_line(task.line.replace(f"deptree {task.name}", f"deptree {task.name} {space}"))
    from deptree_cli.kernels.stored import FILES

    return Warmed(*({str(path) for path, written in FILES.items() if written == wanted} for wanted in (True, False)))


def run_line(line: str) -> None:
    """Run the commands of a line, of which each reads what the one before it wrote; other programs are left out."""
    from deptree_cli.cli.app import deptree

    written = os.devnull
    for number, stage in enumerate(line.split(" | ")):
        program, *args = shlex.split(stage)
        if program == "deptree":
            read, written = written, f"{os.getpid()}-{number}"
            with open(read) as sys.stdin, open(written, "w") as sys.stdout, contextlib.suppress(SystemExit):  # noqa: PTH123
                deptree(args, standalone_mode=False)
