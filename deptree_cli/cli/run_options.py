"""How a command runs, whatever it reads: workers, errors, talk, and where the results go."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import click

from deptree_cli.cli.messages import Messages
from deptree_cli.cli.params import RESULTS, IntRange
from deptree_cli.cli.sections import bound, running_option, writing_option
from deptree_cli.core.engines import Workers
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.workers import LOCAL, WORKERS_PER_CORE, most_workers


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

_OPTIONS = [
    writing_option(
        "--output", "-o", type=RESULTS, often=True, help="Write to FILE, which appears when complete; .gz compresses."
    ),
    running_option(
        "--jobs",
        "-j",
        type=IntRange(1),
        default=1,
        envvar="DEPTREE_JOBS",
        metavar="N",
        help="Number of processes.  [default: 1]",
    ),
    running_option(
        "--scheduler",
        envvar="DEPTREE_SCHEDULER",
        metavar="ADDRESS",
        help=f"Work on the dask.distributed cluster at this address; {LOCAL}: on one of its own, of --jobs processes.",
    ),
    running_option(
        "--shard", metavar="I/N", callback=_shard, help="Only sentences I, I+N, I+2N, ... (for job arrays)."
    ),
    on_error_option,
    quiet_option,
]


def _run(
    *, output: str | None, jobs: int, scheduler: str | None, shard: tuple[int, int], on_error: str, quiet: bool
) -> RunOptions:
    messages = Messages(quiet, on_error == "skip")
    workers = Workers(jobs if scheduler else _sensible(jobs, messages), scheduler)
    return RunOptions(output, workers, shard, quiet, messages)


# Gives a command the options of running, as one `run: RunOptions`.
run_options = bound("run", _OPTIONS, _run)
