"""Compile what commands need, by small runs of them in processes of their own, over all cores."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import active_children, get_all_start_methods, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from deptree_cli.cli.interpreting import VARIABLE
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.undo import undone_at_once
from deptree_cli.core.workers import WORKERS_PER_CORE, die_with_parent, most_workers


class Task(NamedTuple):
    """Command lines to run in one process, where each finds the kernels of those before it.

    Attributes:
        data: the folder of its data, where it runs.
        code: the folder for machine code, None for the user's.
        portable: whether it is compiled for any processor of this machine's level.
        interpreted: whether nothing is compiled: they run for the files that they write.
    """

    lines: Sequence[str]
    data: str
    code: Path | None
    portable: bool
    interpreted: bool = False


class Warmed(NamedTuple):
    """The files of machine code that were written, and those that were there."""

    compiled: set[str]
    there: set[str]


def warm_up(recipes: Iterable[Sequence[str]], code: Path | None, portable: bool) -> Warmed:
    """Run the lines of each command (`recipes.py`) so that their machine code is kept, in `code` or the user's folder.

    Raises:
        DeptreeError: one of them failed.
    """
    from deptree_cli.cli.recipes import DATA, write_data

    found = Warmed(set(), set())
    # Not forked where there is no fork: then nobody hears of kernels before the end.
    context = get_context("fork" if "fork" in get_all_start_methods() else None)
    with TemporaryDirectory(prefix="deptree-warm-") as folder, _removed_at_once(folder):
        write_data(Path(folder))
        data = [Task([line], folder, code, portable, interpreted=True) for line in DATA]
        tasks = [Task(lines, folder, code, portable) for lines in recipes]
        for each in (data, tasks):
            workers = min(most_workers() // WORKERS_PER_CORE, len(each) or 1)
            with context.Pool(workers, _quietly, (os.getpid(),), maxtasksperchild=1) as pool:
                for compiled, there in pool.imap_unordered(_run, each):
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
    """Run commands in this process, which has run none; the files of machine code that they wrote and read."""
    from deptree_cli.cli.app import deptree
    from deptree_cli.kernels.cache import keep_in
    from deptree_cli.kernels.portable import compile_portably

    os.environ[VARIABLE] = str(int(task.interpreted))
    os.chdir(task.data)
    if task.portable:
        compile_portably()
    if task.code:
        keep_in(task.code)
    for line in task.lines:
        try:
            with contextlib.suppress(SystemExit):
                deptree(shlex.split(line), standalone_mode=False)
        except (click.ClickException, DeptreeError) as error:
            raise DeptreeError(f"deptree {line} failed ({error})", "Report it, please") from None
    if task.interpreted:
        return Warmed(set(), set())
    from deptree_cli.kernels.stored import FILES

    return Warmed(*({str(path) for path, written in FILES.items() if written == wanted} for wanted in (True, False)))
