"""How a command runs: its source and work, messages, options of running, workers, sums over results, and its job."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from deptree_cli.cli.help import RUNNING
from deptree_cli.cli.options import RESULTS, Bundle, IntRange, check_effect, flag, running, writing
from deptree_cli.cli.terminal import Counted, Table, message, progress, show, status
from deptree_cli.cli.write import Out
from deptree_cli.core.corpus import WORKERS_PER_CORE, Workers, most_workers, ordered_map
from deptree_cli.core.errors import DeptreeError, counted, printable
from deptree_cli.core.streams import sentence_stream
from deptree_cli.io.encoders.base import BARE, CONLLU, Encoder, Page, Row, Sheet, also
from deptree_cli.io.files.streams import is_at_hand
from deptree_cli.io.sentence import Chunk
from deptree_cli.io.signature import signature
from deptree_cli.kernels.budget import TREE, foresee, is_decided, once_more

if TYPE_CHECKING:
    from deptree_cli.io.conllu import Style


Read = TypeVar("Read")
Prepared = TypeVar("Prepared")


def unchanged(item: Any) -> Any:
    return item


@dataclass(frozen=True)
class Source(Generic[Read, Prepared]):
    """What the options of reading become.

    Items are sentences, or batches of them, as they are read once, or what is wrong with one. They have `sent_id`,
    `place` and `weight`: how many numbers are kept for as long as others are waited for. What a worker makes of one
    before the work proper is picklable; with `batch` and `row` it serves work on many, as of `Chunk`.
    """

    items: Counted[Any]
    prepare: Callable[[Read], Prepared] = unchanged
    signature_fields: Mapping[str, object] = field(default_factory=dict)  # what to repeat for the same result
    is_conllu: bool = False  # whether the sentences are CoNLL-U, which is then the usual format of results
    check_words: Callable[[], None] = lambda: None  # raises unless they have words, which CoNLL-U needs


# What is done to a prepared item with its random stream, which is None where the run has no seed and nothing is random.
# It travels to worker processes. It may have two attributes: `trees`, how many trees it draws of an item; and
# `in_batches`: it asks an item for its part of what is found of many, so items travel in large chunks.
Function = Callable[[Any, Any], Any]

NAMED = 10  # how many errors are named, and how many kinds of the others

# What is of one error and not of its kind: numbers, and texts in quotes.
_OWN = re.compile(r"'[^']*'|[-+]?\d[\d,.]*(?<=\d)")


class Messages:
    """The one way to stderr for what is neither a result nor the error that ends the run."""

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
        if line and not self._quiet and key not in self._keys:
            self._keys.add(key)
            (message if self._waiting is None else self._waiting.append)(line)

    def tell(self) -> None:
        """Tell what waits: there is a result."""
        waiting, self._waiting = self._waiting, None
        for line in waiting or ():
            message(line)

    def skip(self, error: DeptreeError, noun: str) -> None:
        """Name an error, or count it among the others of its kind; raise it if errors are not skipped."""
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


def _shard(text: str | None) -> tuple[int, int]:
    """``I/N`` as two numbers; without it all sentences are the one shard of one."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text or "1/1")
    if not match or int(match[1]) > int(match[2]):
        raise click.BadParameter(f"{text!r} is not I/N with I from 1 to N, such as 1/8.")
    return int(match[1]), int(match[2])


@dataclass(eq=False)
class Run(Bundle):
    """How a command runs; of a shard (i, N) it takes the sentences i, i + N, i + 2 N, ... only."""

    output: str | None = writing(
        "--output", "-o", type=RESULTS, often=True, help="Write to FILE, complete or not at all; .gz compresses."
    )
    jobs: int = running(
        "--jobs",
        "-j",
        type=IntRange(1),
        default=1,
        envvar="DEPTREE_JOBS",
        help="Number of processes; DEPTREE_SCHEDULER=ADDRESS: work on that dask cluster.  [default: 1]",
    )
    shard: tuple[int, int] = running(
        "--shard", metavar="I/N", convert=_shard, help="Only sentences I, I+N, I+2N, ... (for job arrays)."
    )
    on_error: str = running(
        "--on-error",
        type=click.Choice(["fail", "skip"]),
        default="fail",
        help="Stop at the first bad sentence, or leave it out and report it.  [default: fail]",
    )
    quiet: bool = flag("--quiet", "-q", section=RUNNING, envvar="DEPTREE_QUIET", help="Only errors on stderr.")
    messages: Any = None  # `Messages`, made of the options, as are workers
    workers: Any = None
    signed: Mapping[str, object] = field(default_factory=dict)  # of the command's own options, as of `signature_fields`
    chosen: Collection[str] = ()  # fields of signatures whose values the user did not choose
    has_news: bool = False  # whether the signature of the results has some of these

    def __post_init__(self) -> None:
        self.messages = self.messages or Messages(self.quiet, self.on_error == "skip")
        if self.shard is None:  # of a command without this option
            self.shard = (1, 1)  # type: ignore[unreachable]
        if self.workers is None:
            scheduler = os.environ.get("DEPTREE_SCHEDULER") or None
            if not scheduler and self.jobs > (most := most_workers()):
                self.warn("jobs", f"--jobs {self.jobs}: {counted(most, 'worker')}, {WORKERS_PER_CORE} for every core")
                self.jobs = most
            self.workers = Workers(self.jobs, scheduler)

    def warn(self, key: str, line: str) -> None:
        self.messages.warn(key, line)

    def skip(self, error: DeptreeError, noun: str = "sentence") -> None:
        self.messages.skip(error, noun)

    def sign(self, command: str, fields: Mapping[str, object]) -> str:
        """The signature of the results."""
        self.has_news = any(fields.get(name) is not None for name in self.chosen)
        return signature(command, fields)

    def also(self, path: str | None, encoder: Encoder, attribute: str, page: Page = BARE) -> list[Fold[Any]]:
        """What writes an attribute of results into a second file, if there is one; it appears with the first."""
        return [Beside(also(path, encoder, page), attribute)] if path else []

    @property
    def signature_fields(self) -> dict[str, object]:
        return {"shard": None if self.shard == (1, 1) else "{}/{}".format(*self.shard), **self.signed}


ALONE = ("jobs", "shard")  # those of a command whose work is not shared: of one sentence, or hardly more than reading


# An item, and how often its name came before; or what is wrong with it.
Tasks = Iterator[tuple[Any, int] | DeptreeError]

# Which of the items are worked on.
Select = Callable[[Tasks], Tasks]

LOOKED_AT = 256  # the most items that are looked at to tell whether their work is worth a compiler


@dataclass
class Pipeline(Generic[Read, Prepared]):
    """The items of a source, prepared and worked on by any number of workers, in order; `select`: which of them."""

    source: Source[Read, Prepared]
    run: Run
    select: Select = iter

    def map(
        self,
        work: Function,
        seed: int | None = None,
        placeholders: Sequence[Any] = (),
        finish: Callable[[Any], Any] = unchanged,
    ) -> Iterator[Any]:
        """The results of work on every item and its random stream (none without a seed), in order; work is picklable.

        `placeholders` come in the place of each item that is skipped: they keep the others in step with the source.
        `finish`: what workers make of each result.
        """
        run, source = self.run, self.source
        step = Step(source.prepare, work, seed, finish)
        tasks = _foreseen(self.select(self._tasks()), step)
        with closing(ordered_map(step, tasks, run.workers, is_at_hand)) as results:
            for result in progress(results, source.items, run.shard):
                if isinstance(result, DeptreeError):
                    run.skip(result, source.items.noun)
                    yield from placeholders
                    continue
                run.messages.tell()
                yield result
        run.messages.conclude()

    def _tasks(self) -> Tasks:
        """The items of this shard with how often their names came before, counted here, where they are in order."""
        occurrences = defaultdict[str, int](int)
        shard, shards = self.run.shard
        for number, item in enumerate(self.source.items):
            task: Any = item
            if not isinstance(item, DeptreeError):
                task = item, occurrences[item.sent_id]
                occurrences[item.sent_id] += 1
            if number % shards == shard - 1:
                yield task

    @property
    def exit_code(self) -> int:
        return 1 if self.run.messages.skipped else 0


@dataclass(frozen=True)
class Step:
    """What is done to items, each with how often its name came before; it travels to worker processes."""

    prepare: Callable[[Any], Any]
    work: Function
    seed: int | None
    finish: Callable[[Any], Any] = unchanged

    def __call__(self, task: Any) -> Any:
        return task if isinstance(task, DeptreeError) else self._tried(task, self.prepare, task[0])

    @property
    def together(self) -> Callable[[Sequence[Any]], Iterator[Any]] | None:
        """The same for many tasks that are prepared as one chunk; None where the work asks nothing of many."""
        return self._together if getattr(self.work, "in_batches", False) and hasattr(self.prepare, "batch") else None

    def _together(self, tasks: Sequence[Any]) -> Iterator[Any]:
        chunk = Chunk([task for task in tasks if not isinstance(task, DeptreeError)], self.prepare, self.seed)
        places = count()
        for task in tasks:
            if isinstance(task, DeptreeError):
                yield task
            else:
                at = next(places)
                yield self._tried(task, chunk.row, at, draws=self.seed is not None and not chunk.answers(at))

    def _tried(self, task: tuple[Any, int], prepare: Callable[[Any], Any], given: Any, draws: bool = True) -> Any:
        item, occurrence = task

        def result() -> Any:
            # from the start each time: what is done anew by machine code draws the same numbers
            stream = sentence_stream(self.seed, item.sent_id, occurrence) if draws and self.seed is not None else None
            return self.finish(self.work(prepare(given), stream))

        try:
            return once_more(result)
        except DeptreeError as error:
            return error.at(item.place, item.sent_id)

    def weight(self, task: Any) -> int:
        return 0 if isinstance(task, DeptreeError) else task[0].weight

    def steps(self, task: Any) -> float:
        """How much work it is, for `foresee`: of n words n^3, and n for each tree that is drawn."""
        weight = self.weight(task)
        return weight**1.5 + TREE * getattr(self.work, "trees", 0) * weight**0.5


def _foreseen(tasks: Tasks, step: Step) -> Iterator[Any]:
    """The tasks, of which the first ones tell whether kernels are compiled: those that can be had without waiting."""
    first, failure = list[Any](), None
    try:
        for task in tasks:
            first.append(task)
            foresee(step.steps(task))
            if len(first) == LOOKED_AT or is_decided() or not is_at_hand():
                break
    except Exception as error:  # of reading: it comes behind the results of what was read
        failure = error
    yield from first
    if failure:
        raise failure
    for task in tasks:
        if not is_decided():
            foresee(step.steps(task))
        yield task


Counts = TypeVar("Counts")


class Fold(Generic[Counts]):
    """Adds up what results count for."""

    attribute = "counted"  # of a result: what it counts for, None for nothing; empty where that is the result itself

    def add(self, counts: Counts) -> None:
        raise NotImplementedError

    def rows(self) -> Sequence[Row]:
        """Return what was found, behind the last result, for the output; raise where there is nothing for a row."""
        return []

    def lines(self) -> Iterable[Table | str]:
        return ()


@dataclass
class Beside(Fold[Any]):
    """Hands what results have under a name on, as it comes."""

    write: Callable[[Any], object]
    attribute: str

    def add(self, counts: Any) -> None:
        self.write(counts)


@dataclass
class OneRow(Fold[tuple[Any, ...]]):
    """Counts that know by themselves what to add up, and are one row in the end; `empty` is raised for none."""

    attribute = ""

    counts: Any
    empty: DeptreeError | None = None

    def add(self, counts: tuple[Any, ...]) -> None:
        self.counts.add(*counts)
        self.empty = None

    def rows(self) -> list[Row]:
        if self.empty:
            raise self.empty
        return [self.counts.row()]


def layout_doubts(errors: float, words: int) -> list[str]:
    """What to tell the user if this many of these words are expected to be wrong: hardly any parser is as bad."""
    line = "more than half of the heads are doubted: is --from right? deptree inspect checks it"
    return [line] if errors > words / 2 else []


class NamedSentences(Fold[str]):
    """Counts sentences and names the first three of them, in a line that tells of all, if there are any."""

    def __init__(self, attribute: str, line: str) -> None:
        self.attribute, self._line = attribute, line
        self._count, self._names = 0, list[str]()

    def add(self, counts: str) -> None:
        self._count += 1
        self._names = [*self._names, counts][:3]

    def lines(self) -> Iterator[str]:
        if self._count:
            who = f"{counted(self._count, 'sentence')} ({', '.join(self._names)}{', ...' * (self._count > 3)})"
            yield f"{who}{self._line}"


_NONE: Mapping[str, object] = {}
NO_ROWS = Sheet()  # of results that are not rows


class Job(Pipeline[Read, Prepared]):
    """A pipeline whose results a command writes, under its name.

    Args:
        first, last: fields of the signature in front of those of `source` and `run`, and behind them.
        about: what formats of scores and of reports are to know of all results.
    """

    def __init__(
        self,
        command: str,
        source: Source[Read, Prepared],
        run: Run,
        out: Out,
        first: Mapping[str, object] = _NONE,
        last: Mapping[str, object] = _NONE,
        select: Select = iter,
        about: Any = None,
    ) -> None:
        super().__init__(source, run, select)
        self.encoder = out.encoder(run.output, source.is_conllu)
        if self.encoder is CONLLU:
            source.check_words()
        else:
            check_effect(["deps", "sent_id_format"], f"--format {CONLLU.name}, but the output is {self.encoder.name}")
        self.signature = run.sign(command, {**first, **source.signature_fields, **run.signature_fields, **last})
        self._out, self._about = out, about

    def write(
        self, work: Function, seed: int | None = None, sheet: Sheet = NO_ROWS, folds: Sequence[Fold[Any]] = ()
    ) -> int:
        """Write the results, which workers encode, and tell what the folds found of them; the exit status."""
        return self._written(self._results(work, self.encoder.encode, seed, folds), sheet, folds)

    def summarise(self, work: Function, fold: Fold[Any], sheet: Sheet = NO_ROWS, seed: int | None = None) -> int:
        """Write what a fold finds of all results, in the columns of the first row if `sheet` has none; the status."""
        deque(self._results(work, None, seed, [fold]), maxlen=0)
        rows = fold.rows()
        encoded = (self.encoder.encode(row, self._out.style) for row in rows)
        return self._written(encoded, sheet if sheet.columns else sheet._replace(columns=tuple(rows[0])), [fold])

    def _results(
        self, work: Function, encode: Callable[[Any, Any], Any] | None, seed: int | None, folds: Sequence[Fold[Any]]
    ) -> Iterator[Any]:
        """The results, encoded, which the folds have counted; one that was skipped counts for nothing."""
        finish = partial(_encoded, encode, self._out.style, tuple(fold.attribute for fold in folds))
        placeholders = [] if encode is None or self.encoder.skipped is None else [(self.encoder.skipped, ())]
        for data, counts in self.map(work, seed, placeholders, finish):
            for fold, each in zip(folds, counts, strict=False):
                if each is not None:
                    fold.add(each)
            yield data

    def _written(self, encoded: Iterator[Any], sheet: Sheet, folds: Sequence[Fold[Any]]) -> int:
        page = Page(self.signature, self._out.header, sheet, self._about)
        with self.encoder.open(self.run.output, page) as write:
            for data in with_signature(encoded, self.signature, self.run):
                for line in getattr(data, "losses", ()):  # of what is spliced into CoNLL-U
                    self.run.warn(line, line)
                write(data)
        for fold in folds if not self.run.quiet else ():
            for each in fold.lines():
                show(each)
        return self.exit_code


def with_signature(results: Iterable[Any], signature: str, run: Run) -> Iterator[Any]:
    """The results on their way to the output; with the first of them the signature on stderr, where it is news.

    That is where it says something that the command line does not. What fails gives one line, the error.
    """
    if run.has_news:
        run.warn("signature", signature)
    for result in results:
        status().make_way()
        yield result


def _encoded(
    encode: Callable[[Any, Any], Any] | None, style: Style, attributes: tuple[str, ...], result: Any
) -> tuple[Any, tuple[Any, ...]]:
    """A result encoded, None without an encoder, with its attributes that folds count; "" is itself."""
    counts = tuple(getattr(result, name) if name else result for name in attributes)
    return encode and encode(result, style), counts
