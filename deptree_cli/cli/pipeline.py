"""What every command does between its options and its results: prepare, map in order, count what was skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.status_line import progress
from deptree_cli.cli.work import Function, Prepared, PreparesBatches, Read, Source, Work, as_work
from deptree_cli.core.corpus import ordered_map
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.streams import SentenceStreams, sentence_stream
from deptree_cli.io.files.streams import is_at_hand
from deptree_cli.kernels.budget import TREE, foresee, is_decided, once_more

Result = TypeVar("Result")

# An item, and how often its name came before.
Task = tuple[Read, int]

# Which of the items are worked on.
Select = Callable[[Iterator[Task[Read] | DeptreeError]], Iterator[Task[Read] | DeptreeError]]

# The most items that are looked at to tell whether their work is worth a compiler.
LOOKED_AT = 256


class Pipeline(Generic[Read, Prepared]):
    """The items of a source, prepared and worked on by any number of workers, in order.

    Args:
        source: what is read.
        run: who works, and what becomes of errors.
        select: which tasks are done, for commands that want some of them only.
    """

    def __init__(self, source: Source[Read, Prepared], run: RunOptions, select: Select[Read] = iter) -> None:
        self._source = source.items
        self._prepare = source.prepare
        self._run = run
        self._select = select

    def map(
        self, work: Work[Result] | Function[Result], seed: int | None = None, placeholders: Sequence[Result] = ()
    ) -> Iterator[Result]:
        """The work on every prepared item and its random stream, in order; `work` is picklable.

        Args:
            seed: of the random streams, None for work that draws nothing: then none are made.
            placeholders: what comes in the place of each item that is skipped: nothing, or one result that keeps the
                others in step with the source.

        Raises:
            DeptreeError: the first item that cannot be used, unless errors are skipped; or reading cannot go on.
        """
        step: Step[Read, Prepared, Result] = Step(self._prepare, as_work(work), seed)
        run, source = self._run, self._source
        tasks = _foreseen(self._select(self._tasks()), step)
        with closing(ordered_map(step, tasks, run.workers, is_at_hand)) as results:
            for result in progress(results, source, run.shard):
                if isinstance(result, DeptreeError):
                    run.skip(result, source.noun)
                    yield from placeholders
                    continue
                run.messages.tell()
                yield result
        run.messages.conclude()

    def _tasks(self) -> Iterator[Task[Read] | DeptreeError]:
        """The items of this shard with how often their names came before, counted here, where they are in order."""
        occurrences: dict[str, int] = {}
        shard, shards = self._run.shard
        for number, item in enumerate(self._source):
            if isinstance(item, DeptreeError):
                if number % shards == shard - 1:
                    yield item
                continue
            occurrence = occurrences.get(item.sent_id, 0)
            occurrences[item.sent_id] = occurrence + 1
            if number % shards != shard - 1:
                continue
            yield item, occurrence

    @property
    def exit_code(self) -> int:
        """0, or 1 where something was skipped."""
        return 1 if self._run.messages.skipped else 0


@dataclass(frozen=True)
class Step(Generic[Read, Prepared, Result]):
    """What is done to one item; it travels to worker processes."""

    prepare: Callable[[Read], Prepared]
    work: Work[Result]
    seed: int | None

    def __call__(self, task: Task[Read] | DeptreeError) -> Result | DeptreeError:
        """The work's result, or the error that makes the item unusable."""
        if isinstance(task, DeptreeError):
            return task
        try:
            return once_more(partial(self._result, *task))
        except DeptreeError as error:
            return error.at(task[0].place, task[0].sent_id)

    def _result(self, item: Read, occurrence: int) -> Result:
        stream = None if self.seed is None else sentence_stream(self.seed, item.sent_id, occurrence)
        return self.work.one(self.prepare(item), stream)

    def weight(self, task: Task[Read] | DeptreeError) -> int:
        """That of the item."""
        return 0 if isinstance(task, DeptreeError) else task[0].weight

    def steps(self, task: Task[Read] | DeptreeError) -> float:
        """How much work it is, for `foresee`: of n words n^3, and n for each tree that is drawn."""
        weight = self.weight(task)
        return weight**1.5 + TREE * self.work.trees * weight**0.5

    @property
    def together(self) -> Callable[[Sequence[Task[Read] | DeptreeError]], list[Any]] | None:
        """The same for many tasks at once, in batches; None where the work or the preparation knows none."""
        return self._together if self.work.in_batches and isinstance(self.prepare, PreparesBatches) else None

    def _together(self, tasks: Sequence[Task[Read] | DeptreeError]) -> list[Any]:
        results = once_more(partial(self._batched, tasks))
        return [self(task) if result is None else result for task, result in zip(tasks, results, strict=True)]

    def _batched(self, tasks: Sequence[Task[Read] | DeptreeError]) -> list[Any]:
        """The results of those that can be worked on at once, None for the others."""
        results: list[Any] = [None] * len(tasks)
        numbered = [(at, *task) for at, task in enumerate(tasks) if not isinstance(task, DeptreeError)]
        prepare: Any = self.prepare
        batch = prepare.batch([item for _, item, _ in numbered]) if isinstance(prepare, PreparesBatches) else None
        if batch is not None:
            selected = [numbered[place] for place in batch.places]
            names = [(item.sent_id, occurrence) for _, item, occurrence in selected]
            streams = None if self.seed is None else SentenceStreams(self.seed, names)
            for (at, *_), result in zip(selected, self.work.batch(batch, streams), strict=True):
                results[at] = result
        return results


def _foreseen(tasks: Iterator[Task[Read] | DeptreeError], step: Step[Read, Any, Any]) -> Iterator[Any]:
    """The tasks, of which the first ones tell whether kernels are compiled: those that can be had without waiting."""
    first: list[Task[Read] | DeptreeError] = []
    failure: Exception | None = None
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
