"""What commands of sentence pairs read and how: SCORES, the options of reading, and the object that they become."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

import click

from deptree_cli.bitext.files.known import with_links
from deptree_cli.bitext.files.layout import NULLS, PairLayout
from deptree_cli.bitext.files.pairs import PairSource
from deptree_cli.bitext.files.record import PairInterpretation, PairRecord, ScoredPair
from deptree_cli.bitext.model.costs import chart_size, seconds
from deptree_cli.bitext.model.progress import watched
from deptree_cli.cli.options import INPUT, Decorator, bound, positive, reading_option
from deptree_cli.cli.run import RunOptions, Source, Task
from deptree_cli.cli.terminal import Counted, message, status
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.memory import available
from deptree_cli.core.scores import SCALES
from deptree_cli.io.files.streams import check_readable, share_read

_Task = Task[PairRecord] | DeptreeError

# Seconds: what takes longer is announced.
PATIENCE = 10.0

_UNITS = ("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1)


@dataclass(frozen=True)
class BitextOptions:
    """What is read, and how it is interpreted.

    Attributes:
        sources: the score files, in order, each with the paths of what belongs to it.
        layout: scale of the matrices, and where NULL stands in them.
        interpretation: how records become distributions: all that workers have to know.
    """

    sources: tuple[PairSource, ...]
    layout: PairLayout
    interpretation: PairInterpretation

    def source(self, run: RunOptions, gold: Sequence[str] = ()) -> Source[PairRecord, ScoredPair]:
        """The sentence pairs, all files one after another, with the gold links of `gold`; to be read once."""
        only = self.sources[0] if len(self.sources) == 1 else None
        total = (lambda: only.count) if only else (lambda: None)
        share = (lambda: share_read(only.path)) if only else (lambda: None)
        pairs = with_links(self._read(run), gold) if gold else self._read(run)
        return Source(Counted(pairs, total, share, noun="pair"), self.interpretation, self.signature_fields)

    def _read(self, run: RunOptions) -> Iterator[PairRecord | DeptreeError]:
        number = 0
        for each in self.sources:
            for record in each.read(self.layout, number + 1, run.warn):
                number += 1
                yield record

    def announcing(
        self, select: Callable[[Iterator[_Task]], Iterator[_Task]], run: RunOptions, sums: int
    ) -> Callable[[Iterator[_Task]], Iterator[_Task]]:
        """Have the selected tasks announced, long ones with a line beforehand.

        Args:
            sums: how often a pair's chart is gone through.
        """
        return lambda tasks: self._announced(select(tasks), run, sums)

    def _announced(self, tasks: Iterator[_Task], run: RunOptions, sums: int) -> Iterator[_Task]:
        """The tasks; what is done in this process shows how far it has come."""
        with nullcontext() if run.workers.are_elsewhere else watched(status().draw):
            for task in tasks:
                if not (run.quiet or isinstance(task, DeptreeError)):
                    (p, q), name = task[0].scores.shape, task[0].sent_id
                    if (time := sums * seconds(p, q)) > PATIENCE and chart_size(p, q) < available():
                        message(f"{name}: sums over alignments of {p:,} by {q:,} words take about {_spelled(time)}")
                yield task

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        read, how = self.layout, self.interpretation
        return {
            "scale": None if read.scale == PairLayout().scale else read.scale,
            "null": read.null,
            "nullscore": None if read.null_score is None else repr(read.null_score),
            "symmetric": ",".join(each.symmetric for each in self.sources if each.symmetric) or None,
            "temperature": None if how.temperature == 1 else repr(how.temperature),
        }


def _spelled(seconds: float) -> str:
    """A time in one figure."""
    unit, length = next((each for each in _UNITS if seconds >= 2 * each[1]), _UNITS[-1])
    return f"{seconds / length:.0f} {unit}"


def _score(context: click.Context, parameter: click.Parameter, number: float | None) -> float | None:
    if number is not None and (isnan(number) or number == inf):
        raise click.BadParameter(f"{number:g} is not a score. Pass a number or -inf.")
    return number


_OPTIONS: list[Decorator[Any]] = [
    click.argument("scores", nargs=-1, required=True, type=INPUT),
    reading_option(
        "--text",
        type=INPUT,
        multiple=True,
        often=True,
        help="Words, a line 'source ||| target' per pair; a file per file of SCORES.",
    ),
    reading_option(
        "--symmetric",
        type=INPUT,
        multiple=True,
        help="Scores of the other direction (target by source words), to be averaged with SCORES as log-scores; one"
        " file per file of SCORES.",
    ),
    reading_option(
        "--scale",
        type=click.Choice(SCALES),
        often=True,
        help="Weights (0 forbids) or log-scores (<= -1e15 forbids).  [default: log]",
    ),
    reading_option(
        "--null",
        type=click.Choice(NULLS),
        often=True,
        help="Which row and column hold the scores of leaving a word unlinked.",
    ),
    reading_option(
        "--null-score",
        type=float,
        callback=_score,
        metavar="X",
        often=True,
        help="Without --null: score of an unlinked word.  [default: 0; for weights, 1]",
    ),
    reading_option(
        "--temperature",
        type=float,
        default=1.0,
        callback=positive,
        metavar="X",
        help="Divide log-scores by this.  [default: 1]",
    ),
]


def _options_of(
    *,
    scores: tuple[str, ...],
    text: tuple[str, ...],
    symmetric: tuple[str, ...],
    scale: str | None,
    null: str | None,
    null_score: float | None,
    temperature: float,
) -> BitextOptions:
    if null is not None and null_score is not None:
        raise click.UsageError("--null-score cannot be combined with --null. Remove one.")
    for option, paths in (("--text", text), ("--symmetric", symmetric)):
        if paths and len(paths) != len(scores):
            counts = f"{len(paths)} {option} for {len(scores)} SCORES"
            raise click.UsageError(f"{counts}. Pass {option} once per score file, in the same order.")
    nothing = (None,) * len(scores)
    sources = tuple(map(PairSource, scores, symmetric or nothing, text or nothing))
    if len(sources) > 1:
        for each in sources:
            check_readable(each.paths)
    assumed = ("--scale",) * (scale is None) + ("--null",) * (null is None and null_score is None)
    layout = PairLayout(scale or PairLayout().scale, null, null_score, assumed)
    return BitextOptions(sources, layout, PairInterpretation(temperature))


# Gives a command SCORES of sentence pairs and the options of reading, as one `bitext: BitextOptions`.
bitext_options = bound("bitext", _OPTIONS, _options_of)
