"""The options of the commands of sentence pairs, and the objects that they become."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from math import inf, isnan
from types import FrameType
from typing import Any, TypeVar

import click
import numpy as np

from deptree_cli.bitext.files import NULLS, PairLayout, PairRecord, PairSource, ScoredPair, scored, with_links
from deptree_cli.bitext.scores import chart_size, seconds, watched
from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import (
    INPUT,
    Decorator,
    IntRange,
    bound,
    check_effect,
    entry_option,
    option,
    positive,
    reading_option,
    seed_option,
)
from deptree_cli.cli.run import Fold, RunOptions, Select, Source, Task
from deptree_cli.cli.signals import INTERRUPTED
from deptree_cli.cli.terminal import Counted, message, status
from deptree_cli.core.errors import DeptreeError, plural
from deptree_cli.core.memory import available
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.core.scores import SCALES
from deptree_cli.io.files.streams import check_readable, share_read
from deptree_cli.pruning.methods import ITERATIONS, METHODS, Method, Settings
from deptree_cli.pruning.program import AnyProgram

# Runs that estimate: Ctrl-C makes do with what there is, and what is not to be trusted is named.


Item = TypeVar("Item")


# Chains that differ by more than this have not come to the same distribution (Gelman et al. 2013, section 11.4).
HIGHEST_R_HAT = 1.1


@dataclass(frozen=True)
class Estimator:
    """A method with its settings; it travels to worker processes."""

    method: Method
    settings: Settings

    def __call__(self, program: AnyProgram, rng: np.random.Generator) -> MonteCarloEstimate:
        return self.method.estimate(program, rng, self.settings)


class Estimating(Fold[float]):
    """One run; counts how far the chains of results differ.

    The first Ctrl-C while it is listening is a wish, to make do with what there is; the second one ends the process as
    always. With workers the first one does.
    """

    attribute = "r_hat"

    def __init__(self, method: Method, settings: Settings, run: RunOptions) -> None:
        self._listens = method.goes_on and not run.workers.are_elsewhere
        if self._listens:

            def tell(done: int) -> None:
                status().draw(f"{done:,} {plural(done, 'iteration')}")

            settings = replace(settings, stop=lambda: self.was_stopped, tell=tell)
        self.work = Estimator(method, settings)
        self.was_stopped = False
        self._done = self._apart = 0

    def until_stopped(self, tasks: Iterator[Item]) -> Iterator[Item]:
        return takewhile(lambda _: not self.was_stopped, tasks)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the first Ctrl-C within the block for a wish; in the main thread only."""
        before = signal.getsignal(signal.SIGINT)

        def note(number: int, frame: FrameType | None) -> None:
            self.was_stopped = True
            signal.signal(signal.SIGINT, before)

        if self._listens:
            signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            if self._listens:
                signal.signal(signal.SIGINT, before)

    def add(self, counts: float) -> None:
        self._done += 1
        self._apart += counts > HIGHEST_R_HAT

    def lines(self) -> Iterator[str]:
        if self.was_stopped:
            yield f"interrupted: {self._done} done, the last of them with the iterations so far"
        if self._apart:
            apart = f"{self._apart} of {self._done}"
            yield f"{apart}: chains differ (r_hat above {HIGHEST_R_HAT}). Give more --iterations"

    def exit_code(self, otherwise: int) -> int:
        return INTERRUPTED if self.was_stopped else otherwise


# Options that commands of sentence pairs had, and what does their work now.
GONE_OF_PAIRS = dict.fromkeys(
    ("--chains", "--burn-in", "--counts", "--margin", "--kept"), "in Python, deptree_cli.pruning.expectations takes it"
) | {"--symmetric": "in Python, deptree_cli.bitext.read_pairs takes it"}

# What commands of sentence pairs read and how: SCORES, the options of reading, and the object that they become.


# Seconds: what takes longer is announced.
PATIENCE = 10.0

_UNITS = ("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1)


@dataclass(frozen=True)
class BitextOptions:
    """What is read, and how it is interpreted."""

    sources: tuple[PairSource, ...]
    layout: PairLayout
    temperature: float

    def source(self, run: RunOptions, gold: Sequence[str] = ()) -> Source[PairRecord, ScoredPair]:
        """The sentence pairs, all files one after another, with the gold links of `gold`; to be read once."""
        only = self.sources[0] if len(self.sources) == 1 else None
        total = (lambda: only.count) if only else (lambda: None)
        share = (lambda: share_read(only.path)) if only else (lambda: None)
        pairs = with_links(self._read(run), gold) if gold else self._read(run)
        prepare = partial(scored, temperature=self.temperature)
        return Source(Counted(pairs, total, share, noun="pair"), prepare, self.signature_fields)

    def _read(self, run: RunOptions) -> Iterator[PairRecord | DeptreeError]:
        number = 0
        for each in self.sources:
            for record in each.read(self.layout, number + 1, run.warn):
                number += 1
                yield record

    def announcing(self, select: Select[PairRecord], run: RunOptions, sums: int) -> Select[PairRecord]:
        """Have tasks announced, long ones with a line beforehand; `sums`: how often a pair's chart is gone through.

        What is done in this process shows how far it has come.
        """

        def announced(tasks: Iterator[Task[PairRecord] | DeptreeError]) -> Iterator[Task[PairRecord] | DeptreeError]:
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
        """What of these a run must repeat to give the same result."""
        read = self.layout
        return {
            "scale": None if read.scale == PairLayout().scale else read.scale,
            "null": read.null,
            "nullscore": None if read.null_score is None else repr(read.null_score),
            "temperature": None if self.temperature == 1 else repr(self.temperature),
        }


def _spelled(seconds: float) -> str:
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
    scale: str | None,
    null: str | None,
    null_score: float | None,
    temperature: float,
) -> BitextOptions:
    if null is not None and null_score is not None:
        raise click.UsageError("--null-score cannot be combined with --null. Remove one.")
    if text and len(text) != len(scores):
        counts = f"{len(text)} --text for {len(scores)} SCORES"
        raise click.UsageError(f"{counts}. Pass --text once per score file, in the same order.")
    nothing = (None,) * len(scores)
    sources = tuple(map(PairSource, scores, nothing, text or nothing))
    if len(sources) > 1:
        for each in sources:
            check_readable(each.paths)
    assumed = ("--scale",) * (scale is None) + ("--null",) * (null is None and null_score is None)
    layout = PairLayout(scale or PairLayout().scale, null, null_score, assumed)
    return BitextOptions(sources, layout, temperature)


# Gives a command SCORES of sentence pairs and the options of reading, as one `bitext: BitextOptions`.
bitext_options = bound("bitext", _OPTIONS, _options_of)


# How expectations are worked out: the options of a method and of its settings, and the object that they become.


EXACT = METHODS.known[0].name


@dataclass(frozen=True)
class PruningOptions:
    method: Method
    settings: Settings
    seed: int

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


_METHOD = [
    entry_option(
        METHODS, "--method", default=EXACT, help=f"How to compute probabilities: {{names}}.  [default: {EXACT}]"
    ),
    option(
        "--iterations",
        type=IntRange(1),
        metavar="N",
        help=f"Iterations per chain, or runs of rdp.  [default: {ITERATIONS}; with --seconds, as many as fit]",
    ),
    option(
        "--seconds",
        type=float,
        callback=positive,
        metavar="S",
        help="Time limit per sentence; results then depend on the machine.",
    ),
]


def _build(*, method: Method, seed: int, **given: Any) -> PruningOptions:
    for name in given:
        if name not in method.settings:
            check_effect([name], _one_of(each.name for each in METHODS if name in each.settings))
    if not method.is_random:
        check_effect(["seed"], _one_of(each.name for each in METHODS if each.is_random))
    if given["iterations"] is None and given["seconds"] is None:
        given["iterations"] = ITERATIONS
    return PruningOptions(method, Settings(**given), seed)


def _one_of(names: Iterable[str]) -> str:
    return "--method " + " or ".join(names)


# Gives a command --method and its settings; it receives them as one `pruning: PruningOptions`.
pruning_options = bound("pruning", [*_METHOD, seed_option], _build)

# The methods for help texts.
LISTING = Listing("Methods to compute link probabilities", METHODS, lambda method: f"{method.name}: {method.summary}")
