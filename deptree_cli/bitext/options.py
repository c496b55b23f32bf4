"""Options of the commands of sentence pairs: what is read, and how the probabilities of links are computed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from math import inf, isnan
from types import FrameType
from typing import Any

import click
import numpy as np

from deptree_cli.bitext.files import NULLS, PairLayout, PairRecord, PairSource, ScoredPair, scored, with_links
from deptree_cli.bitext.scores import chart_size, seconds, watched
from deptree_cli.cli import options
from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import INPUT, Bundle, IntRange, check_effect, entry, opt, positive, reading
from deptree_cli.cli.run import Fold, Job, Run, Select, Source, Tasks
from deptree_cli.cli.score_options import check_one_each
from deptree_cli.cli.signals import INTERRUPTED
from deptree_cli.cli.terminal import Counted, message, status
from deptree_cli.core.errors import DeptreeError, plural
from deptree_cli.core.memory import available
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.core.scores import SCALES
from deptree_cli.io.files.streams import check_readable, share_read
from deptree_cli.pruning.methods import ITERATIONS, METHODS, Method, Settings
from deptree_cli.pruning.program import AnyProgram

# Options that were removed, and what to use instead.
GONE_OF_PAIRS = dict.fromkeys(
    ("--chains", "--burn-in", "--counts", "--margin", "--kept"), "in Python, deptree_cli.pruning.expectations takes it"
) | {"--symmetric": "in Python, deptree_cli.bitext.read_pairs takes it"}

PATIENCE = 10.0  # seconds: a pair that takes longer is announced
_UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def _spelled(seconds: float) -> str:
    unit = next((each for each in _UNITS if seconds >= 2 * _UNITS[each]), "seconds")
    return f"{seconds / _UNITS[unit]:.0f} {unit}"


def _score(number: float | None) -> float | None:
    if number is not None and (isnan(number) or number == inf):
        raise click.BadParameter(f"{number:g} is not a score. Pass a number or -inf.")
    return number


@dataclass(eq=False)
class BitextOptions(Bundle):
    """Score files of sentence pairs, their words, and how to read them."""

    scores: tuple[str, ...] = opt(many=True, type=INPUT)
    text: tuple[str, ...] = reading(
        "--text",
        type=INPUT,
        many=True,
        often=True,
        help="Words, a line 'source ||| target' per pair; a file per file of SCORES.",
    )
    scale: str | None = reading(
        "--scale",
        type=click.Choice(SCALES),
        often=True,
        help="Weights (0 forbids) or log-scores (<= -1e15 forbids).  [default: log]",
    )
    null: str | None = reading(
        "--null",
        type=click.Choice(NULLS),
        often=True,
        help="Which row and column hold the scores of leaving a word unlinked.",
    )
    null_score: float | None = reading(
        "--null-score",
        type=float,
        convert=_score,
        metavar="X",
        without=["null"],
        help="Without --null: score of an unlinked word.  [default: 0; for weights, 1]",
    )
    temperature: float = reading(
        "--temperature",
        type=float,
        default=1.0,
        convert=positive,
        metavar="X",
        help="Divide log-scores by this.  [default: 1]",
    )
    sources: tuple[PairSource, ...] = ()

    def __post_init__(self) -> None:
        check_one_each(self.scores, "text", self.text)
        nothing = (None,) * len(self.scores)
        self.sources = tuple(map(PairSource, self.scores, nothing, self.text or nothing))
        for each in self.sources if len(self.sources) > 1 else ():
            check_readable(each.paths)

    @property
    def layout(self) -> PairLayout:
        assumed = ("--scale",) * (self.scale is None) + ("--null",) * (self.null is None and self.null_score is None)
        return PairLayout(self.scale or PairLayout().scale, self.null, self.null_score, assumed)

    def source(self, run: Run, gold: Sequence[str] = ()) -> Source[PairRecord, ScoredPair]:
        """The sentence pairs, all files one after another, with the gold links of `gold`; to be read once."""
        first, is_only = self.sources[0], len(self.sources) == 1
        total, share = lambda: first.count if is_only else None, lambda: share_read(first.path) if is_only else None
        pairs = with_links(self._read(run), gold) if gold else self._read(run)
        prepare = partial(scored, temperature=self.temperature)
        return Source(Counted(pairs, total, share, noun="pair"), prepare, self.signature_fields)

    def _read(self, run: Run) -> Iterator[PairRecord | DeptreeError]:
        number, layout = 0, self.layout
        for each in self.sources:
            for record in each.read(layout, number + 1, run.warn):
                number += 1
                yield record

    def announcing(self, select: Select, run: Run, sums: int) -> Select:
        """Announce long pairs before they are worked on; `sums`: how many times the chart of a pair is swept.

        In this process a status line shows the progress within a pair.
        """

        def announced(tasks: Tasks) -> Tasks:
            with nullcontext() if run.workers.are_elsewhere else watched(status().draw):
                for task in select(tasks):
                    if not (run.quiet or isinstance(task, DeptreeError)):
                        (p, q), name = task[0].scores.shape, task[0].sent_id
                        if (time := sums * seconds(p, q)) > PATIENCE and chart_size(p, q) < available():
                            words = f"alignments of {p:,} by {q:,} words"
                            message(f"{name}: sums over {words} take about {_spelled(time)}")
                    yield task

        return announced

    @property
    def signature_fields(self) -> dict[str, object]:
        return {
            "scale": None if self.scale == PairLayout().scale else self.scale,
            "null": self.null,
            "nullscore": None if self.null_score is None else repr(self.null_score),
            "temperature": None if self.temperature == 1 else repr(self.temperature),
        }


EXACT = METHODS.known[0].name
LISTING = Listing("Methods to compute link probabilities", METHODS, lambda method: f"{method.name}: {method.summary}")


@dataclass(eq=False)
class PruningOptions(Bundle):
    """How the probabilities of links are computed."""

    method: Method = entry(
        METHODS, "--method", default=EXACT, help=f"How to compute probabilities: {{names}}.  [default: {EXACT}]"
    )
    iterations: int | None = opt(
        "--iterations",
        type=IntRange(1),
        help=f"Iterations per chain, or runs of rdp.  [default: {ITERATIONS}; with --seconds, as many as fit]",
    )
    seconds: float | None = opt(
        "--seconds",
        type=float,
        convert=positive,
        metavar="S",
        help="Time limit per sentence; results then depend on the machine.",
    )
    seed: int = options.seed()

    def __post_init__(self) -> None:
        for name in ("iterations", "seconds"):
            if name not in self.method.settings:
                have = [each.name for each in METHODS if name in each.settings]
                check_effect([name], f"--method {' or '.join(have)}")

    @property
    def settings(self) -> Settings:
        usual = ITERATIONS if self.iterations is None and self.seconds is None else self.iterations
        return Settings(usual, self.seconds)

    @property
    def is_asked(self) -> bool:
        return self.method.name != EXACT

    @property
    def stream_seed(self) -> int | None:
        return self.seed if self.method.is_random else None

    @property
    def signature_fields(self) -> dict[str, object]:
        own = {name.replace("_", ""): getattr(self.settings, name) for name in self.method.settings}
        return {"method": self.method.name, **own, "seed": self.stream_seed}


Estimate = Callable[[AnyProgram, np.random.Generator], MonteCarloEstimate]

# Chains that differ by more have not converged to one distribution (Gelman et al. 2013, section 11.4).
HIGHEST_R_HAT = 1.1


def _tell(done: int) -> None:
    status().draw(f"{done:,} {plural(done, 'iteration')}")


class Estimating(Fold[float]):
    """One run; counts the results whose chains differ.

    While it is `listening`, the first Ctrl-C ends the estimate early and keeps its results; the second one ends the
    process. With workers, so does the first.
    """

    attribute = "r_hat"

    def __init__(self, method: Method, settings: Settings, run: Run) -> None:
        self._listens = method.goes_on and not run.workers.are_elsewhere
        if self._listens:
            settings = replace(settings, stop=lambda: self.was_stopped, tell=_tell)
        estimate: Any = method.estimate
        self.estimate: Estimate = partial(estimate, settings=settings)
        self.was_stopped = False
        self._done = self._apart = 0

    def until_stopped(self, tasks: Tasks) -> Tasks:
        return takewhile(lambda _: not self.was_stopped, tasks)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Note the first Ctrl-C within the block; in the main thread only."""
        before = signal.getsignal(signal.SIGINT)

        def note(number: int, frame: FrameType | None) -> None:
            self.was_stopped = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def add(self, counts: float) -> None:
        self._done += 1
        self._apart += counts > HIGHEST_R_HAT

    def lines(self) -> Iterator[str]:
        if self.was_stopped:
            yield f"interrupted: {self._done} done, the last of them with the iterations so far"
        if self._apart:
            chains = f"chains differ (r_hat above {HIGHEST_R_HAT}). Give more --iterations"
            yield f"{self._apart} of {self._done}: {chains}"

    def write(self, job: Job[PairRecord, ScoredPair], work: Any, seed: int | None, *folds: Fold[Any]) -> int:
        """Write the results of a job while listening; the exit status."""
        with self.listening() if self._listens else nullcontext():
            code = job.write(work, seed, folds=[self, *folds])
        return INTERRUPTED if self.was_stopped else code
