"""How a command runs, whatever it reads: workers, errors, messages, and where the results go."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field

import click

from deptree_cli.cli.params import RESULTS, IntRange
from deptree_cli.cli.sections import bound, running_option, writing_option
from deptree_cli.cli.status_line import message
from deptree_cli.core.corpus import Workers
from deptree_cli.core.errors import DeptreeError, counted, printable
from deptree_cli.core.workers import WORKERS_PER_CORE, most_workers

# How many errors are named, and how many kinds of the others.
NAMED = 10

# What is of one error and not of its kind: numbers, and texts in quotes.
_OWN = re.compile(r"'[^']*'|[-+]?\d[\d,.]*(?<=\d)")


class Messages:
    """The one way to stderr for what is neither a result nor the error that ends the run.

    Args:
        quiet: whether warnings are left out.

    Attributes:
        skips: whether errors are skipped; else the first of them ends the run.
        skipped: how many errors were.
    """

    def __init__(self, quiet: bool = False, skips: bool = False) -> None:
        self.skips = skips
        self._quiet = quiet
        self._keys: set[str] = set()
        self._waiting: list[str] | None = []
        self._nouns, self._kinds = Counter[str](), Counter[str]()
        self.skipped = 0

    def warn(self, key: str, line: str) -> None:
        """Tell a line, once for each key; an empty one says nothing.

        Before there are results it waits for the first of them: what fails gives one line, the error.
        """
        if not line or self._quiet or key in self._keys:
            return
        self._keys.add(key)
        if self._waiting is None:
            message(line)
        else:
            self._waiting.append(line)

    def tell(self) -> None:
        """Tell what waits: there is a result."""
        waiting, self._waiting = self._waiting, None
        for line in waiting or ():
            message(line)

    def skip(self, error: DeptreeError, noun: str) -> None:
        """Name an error, or count it among the others of its kind; raise it if errors are not skipped.

        Args:
            noun: what the thing is called that cannot be used.
        """
        if not self.skips:
            raise error
        self.skipped += 1
        self._nouns[noun] += 1
        if self._nouns.total() <= NAMED:
            message(f"skipped: {error.on_command_line}")
        else:
            self._kinds[_OWN.sub("...", error.problem)] += 1

    def conclude(self) -> None:
        """Tell what still waits, how many errors were skipped, and what was wrong where they are not named."""
        self.tell()
        for kind, number in self._kinds.most_common(NAMED):
            message(printable(f"skipped: {number:,} more: {kind}."))
        if rest := sum(number for _, number in self._kinds.most_common()[NAMED:]):
            message(f"skipped: {rest:,} more with other errors")
        for noun, number in self._nouns.items():
            message(f"{counted(number, noun)} skipped")
        self._nouns.clear()
        self._kinds.clear()


@dataclass(frozen=True)
class RunOptions:
    """How a command runs.

    Attributes:
        output: where results go; None is standard output.
        workers: who does the work.
        shard: (i, N): the sentences i, i + N, i + 2 N, ... only.
        quiet: say nothing on stderr but errors.
        messages: what is told beside results.
    """

    output: str | None = None
    workers: Workers = field(default_factory=Workers)
    shard: tuple[int, int] = (1, 1)
    quiet: bool = False
    messages: Messages = field(default_factory=Messages)

    def warn(self, key: str, line: str) -> None:
        """Tell a line, once for each key."""
        self.messages.warn(key, line)

    def skip(self, error: DeptreeError, noun: str = "sentence") -> None:
        """Leave out what cannot be used, which is called so; raise the error if errors are not skipped."""
        self.messages.skip(error, noun)

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        return {"shard": None if self.shard == (1, 1) else "{}/{}".format(*self.shard)}


def _shard(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, int]:
    """``I/N`` as two numbers; without it all sentences are the one shard of one."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text or "1/1")
    if not match or int(match[1]) > int(match[2]):
        raise click.BadParameter(f"{text!r} is not I/N with I from 1 to N, such as 1/8.")
    return int(match[1]), int(match[2])


def _sensible(jobs: int, messages: Messages) -> int:
    """The number of workers, or as many as this machine keeps busy."""
    most = most_workers()
    if jobs > most:
        messages.warn("jobs", f"--jobs {jobs}: {counted(most, 'worker')}, {WORKERS_PER_CORE} for every core")
    return min(jobs, most)


on_error_option = running_option(
    "--on-error",
    type=click.Choice(["fail", "skip"]),
    default="fail",
    help="Stop at the first bad sentence, or leave it out and report it.  [default: fail]",
)
quiet_option = running_option("--quiet", "-q", is_flag=True, envvar="DEPTREE_QUIET", help="Only errors on stderr.")

_OUTPUT = writing_option(
    "--output",
    "-o",
    type=RESULTS,
    often=True,
    help="Write to FILE, which appears when complete; .gz compresses.",
)

_SHARING = [
    running_option(
        "--jobs",
        "-j",
        type=IntRange(1),
        default=1,
        envvar="DEPTREE_JOBS",
        metavar="N",
        help="Number of processes; DEPTREE_SCHEDULER=ADDRESS: work on that dask cluster.  [default: 1]",
    ),
    running_option(
        "--shard", metavar="I/N", callback=_shard, help="Only sentences I, I+N, I+2N, ... (for job arrays)."
    ),
]


def _run(
    *,
    output: str | None,
    jobs: int = 1,
    shard: tuple[int, int] = (1, 1),
    on_error: str,
    quiet: bool,
) -> RunOptions:
    messages, scheduler = Messages(quiet, on_error == "skip"), os.environ.get("DEPTREE_SCHEDULER") or None
    workers = Workers(jobs if scheduler else _sensible(jobs, messages), scheduler)
    return RunOptions(output, workers, shard, quiet, messages)


# Gives a command the options of running, as one `run: RunOptions`.
run_options = bound("run", [_OUTPUT, *_SHARING, on_error_option, quiet_option], _run)

# The same for a command of one sentence, which nobody can share.
one_run_options = bound("run", [_OUTPUT, on_error_option, quiet_option], _run)
