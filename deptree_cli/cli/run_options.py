"""How a command runs, whatever it reads: workers, errors, talk, and where the results go."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.help import RUNNING
from deptree_cli.cli.messages import Messages
from deptree_cli.cli.options import entry_option
from deptree_cli.cli.params import OUTPUT
from deptree_cli.cli.ranges import IntRange
from deptree_cli.cli.sections import running_option, writing_option
from deptree_cli.core.engines import ENGINES, Workers
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.register import NamedFunction
from deptree_cli.core.workers import WORKERS_PER_CORE, most_workers


@dataclass(frozen=True)
class RunOptions:
    """How a command runs.

    Attributes:
        output: where results go; None is standard output.
        engine, workers: who does the work; no engine means this process.
        shard: (i, N): the sentences i, i + N, i + 2 N, ... only.
        quiet: say nothing on stderr but errors.
        verbose: say all on stderr, the signature too where the command line says as much.
        messages: what is told beside results.
    """

    output: str | None = None
    engine: str | None = None
    workers: Workers = field(default_factory=Workers)
    shard: tuple[int, int] = (1, 1)
    quiet: bool = False
    verbose: bool = False
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


_OPTIONS = [
    writing_option(
        "--output",
        "-o",
        type=OUTPUT,
        often=True,
        help="Write to FILE, which appears when complete; .gz compresses.",
    ),
    running_option("--jobs", "-j", type=IntRange(1), default=1, metavar="N", help="Number of workers.  [default: 1]"),
    entry_option(
        ENGINES,
        "--engine",
        default=None,
        help="How to run workers",
        names=lambda: [each.line for each in ENGINES],
        section=RUNNING,
    ),
    running_option("--scheduler", metavar="ADDRESS", help="Address of a dask.distributed cluster, for --engine dask."),
    running_option(
        "--shard", metavar="I/N", callback=_shard, help="Only sentences I, I+N, I+2N, ... (for job arrays)."
    ),
    running_option(
        "--on-error",
        type=click.Choice(["fail", "skip"]),
        default="fail",
        help="Stop at the first bad sentence, or leave it out and report it.  [default: fail]",
    ),
    running_option("--quiet", "-q", is_flag=True, help="Only errors on stderr."),
    running_option("--verbose", "-v", is_flag=True, help="Always print the run signature on stderr; not with -q."),
]


def _run(
    *,
    output: str | None,
    jobs: int,
    engine: NamedFunction | None,
    scheduler: str | None,
    shard: tuple[int, int],
    on_error: str,
    quiet: bool,
    verbose: bool,
) -> RunOptions:
    if scheduler is not None and engine != ENGINES.get("dask"):
        raise click.UsageError("--scheduler is for --engine dask.")
    messages = Messages(quiet, on_error == "skip", verbose)
    workers = Workers(jobs if scheduler is not None else _sensible(jobs, messages), scheduler)
    who = engine.name if engine else ("processes" if jobs > 1 else None)
    return RunOptions(output, who, workers, shard, quiet, verbose, messages)


# Gives a command the options of running, as one `run: RunOptions`.
run_options = bound("run", _OPTIONS, _run)
