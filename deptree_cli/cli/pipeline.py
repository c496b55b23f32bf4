"""What every command does between its options and its results: prepare, map in order, count what was skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from deptree_cli.cli.progress import progress
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.source import Prepared, Read, Source
from deptree_cli.core.corpus import ordered_map
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.streams import SentenceStreams, sentence_stream
from deptree_cli.io.files.streams import is_at_hand

Result = TypeVar("Result")

# An item's work; its random stream is None where the run has no seed, and so nothing is random.
Work = Callable[[Prepared, Any], Result]

# An item, and how often its name came before.
Numbered = tuple[Read, int]

# Which of the items are worked on.
Choose = Callable[[Iterator[Numbered[Read] | DeptreeError]], Iterator[Numbered[Read] | DeptreeError]]


class Pipeline(Generic[Read, Prepared]):
    """The items of a source, prepared and worked on by any number of workers, in order.

    Args:
        source: what is read.
        run: who works, and what becomes of errors.
        choose: which tasks are done, for commands that want some of them only.
    """

    def __init__(
        self,
        source: Source[Read, Prepared],
        run: RunOptions,
        choose: Choose[Read] = iter,
    ) -> None:
        self._source = source.items
        self._prepare = source.prepare
        self._run = run
        self._choose = choose

    def map(
        self, work: Work[Prepared, Result], seed: int | None = None, instead: Sequence[Result] = ()
    ) -> Iterator[Result]:
        """work(prepared item, its random stream) for every item, in order; `work` is picklable.

        Args:
            seed: of the random streams, None for work that draws nothing: then none are made.
            instead: what comes in the place of each item that is skipped: nothing, or one result that keeps the others
                in step with the source.

        Raises:
            DeptreeError: the first item that cannot be used, unless errors are skipped; or reading cannot go on.
        """
        step = Step(self._prepare, work, seed)
        run, source = self._run, self._source
        tasks = self._choose(self._tasks())
        with closing(ordered_map(step, tasks, run.workers, is_at_hand)) as results:
            for result in progress(results, source, run.shard):
                if isinstance(result, DeptreeError):
                    run.skip(result, source.noun)
                    yield from instead
                    continue
                run.messages.tell()
                yield result
        run.messages.conclude()

    def _tasks(self) -> Iterator[Numbered[Read] | DeptreeError]:
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
    work: Work[Prepared, Result]
    seed: int | None

    def __call__(self, task: Numbered[Read] | DeptreeError) -> Result | DeptreeError:
        """The work's result, or the error that makes the item unusable."""
        if isinstance(task, DeptreeError):
            return task
        item, occurrence = task
        try:
            prepared = self.prepare(item)
            load_kernels()
            stream = None if self.seed is None else sentence_stream(self.seed, item.sent_id, occurrence)
            return self.work(prepared, stream)
        except DeptreeError as error:
            return error.at(item.place, item.sent_id)

    def weight(self, task: Numbered[Read] | DeptreeError) -> int:
        """How many numbers an item has, which are kept for as long as others are waited for."""
        return 0 if isinstance(task, DeptreeError) else getattr(task[0], "weight", 0)

    @property
    def together(self) -> Callable[[Sequence[Numbered[Read] | DeptreeError]], list[Any]] | None:
        """The same for many tasks at once, in batches; None where the work or the preparation knows none."""
        in_batches = getattr(self.work, "in_batches", False) and hasattr(self.prepare, "batch")
        return self._together if in_batches else None

    def _together(self, tasks: Sequence[Numbered[Read] | DeptreeError]) -> list[Any]:
        results: list[Any] = [None] * len(tasks)
        numbered = [(at, *task) for at, task in enumerate(tasks) if not isinstance(task, DeptreeError)]
        load_kernels()
        batch = self.prepare.batch([item for _, item, _ in numbered])  # type: ignore[attr-defined]
        if batch is not None:
            chosen = [numbered[place] for place in batch.places]
            names = [(item.sent_id, occurrence) for _, item, occurrence in chosen]
            streams = None if self.seed is None else SentenceStreams(self.seed, names)
            for (at, *_), result in zip(chosen, self.work.batch(batch, streams), strict=True):  # type: ignore[attr-defined]
                results[at] = result
        return [self(task) if result is None else result for task, result in zip(tasks, results, strict=True)]


@cache
def load_kernels() -> None:
    """Load numba, once in every process."""
    from deptree_cli.kernels.flags import start_quickly

    start_quickly()
