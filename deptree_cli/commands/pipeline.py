"""What every command does between its options and its results: read, check, map in order, count what was skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing import parent_process
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs
from deptree_cli.core.corpus import Occurrences, ordered_map
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.sentence import Sentence
from deptree_cli.core.streams import sentence_stream
from deptree_cli.io.layout import ASSUMPTION, Layout, to_head_dep
from deptree_cli.io.pairing import Record, read_both, read_records
from deptree_cli.io.report import progress, talk
from deptree_cli.kernels.cache import is_filled

Result = TypeVar("Result")
Task = tuple[Record, int]
Work = Callable[[Sentence, Record, np.random.Generator], Result]


@dataclass
class Pipeline:
    """The sentences of `inputs`, mapped.

    Attributes:
        skipped: the names of sentences that could not be used, with skip_errors.
    """

    inputs: Inputs
    skipped: list[str] = field(default_factory=list)
    _assumed: bool = False
    _said: bool = False

    def map(self, work: Work[Result], seed: int = 0) -> Iterator[Result]:
        """work(sentence, record, stream) of every sentence, in order.

        Raises:
            DeptreeError: the first sentence that cannot be used, unless errors are skipped; or reading cannot go on.
        """
        results = ordered_map(Step(self.inputs, work, seed), self.tasks(), self.inputs.engine, self.inputs.workers)
        for result in progress(results, quiet=self.inputs.quiet):
            if isinstance(result, DeptreeError):
                self._skip(result)
            else:
                self._say_what_was_assumed()
                yield result
        self._report()

    def tasks(self) -> Iterator[Task | DeptreeError]:
        """Records with how often their sent_id came before, counted here because here they are still in order.

        A subclass may choose among them.
        """
        inputs, occurrences = self.inputs, Occurrences()
        if inputs.conllu:
            _load_numba()
        shard, shards = inputs.shard
        for number, record in enumerate(_records(inputs)):
            occurrence = 0 if isinstance(record, DeptreeError) else occurrences.before(record.sent_id)
            if number % shards != shard - 1:
                continue
            if isinstance(record, DeptreeError):
                yield record
                continue
            self._assumed = self._assumed or inputs.layout.is_assumed(record.scores.shape)
            yield record, occurrence

    def _say_what_was_assumed(self) -> None:
        """Once, and only when there is a result: what fails says one thing only, the error."""
        if self._assumed and not self._said and not self.inputs.quiet:
            talk(ASSUMPTION)
            self._said = True

    def _skip(self, error: DeptreeError) -> None:
        if not self.inputs.skip_errors:
            raise error
        self.skipped.append(error.sent_id)
        talk(f"skipped: {error}")

    def _report(self) -> None:
        if self.skipped:
            talk(f"{len(self.skipped)} sentence{'s' * (len(self.skipped) > 1)} skipped")

    @property
    def exit_code(self) -> int:
        """0, or 1 where sentences were skipped."""
        return 1 if self.skipped else 0


def _records(inputs: Inputs) -> Iterator[Record | DeptreeError]:
    if inputs.other is None:
        return read_records(inputs.scores, inputs.layout, inputs.conllu, inputs.lengths, inputs.label_file)
    return read_both(inputs.scores, inputs.other, inputs.layout, inputs.conllu, inputs.lengths)


@dataclass(frozen=True)
class Step(Generic[Result]):
    """What is done to one sentence; it travels to worker processes, so `work` must be picklable."""

    inputs: Inputs
    work: Work[Result]
    seed: int

    def __call__(self, task: Task | DeptreeError) -> Result | DeptreeError:
        """The work's result, or the error that makes the sentence unusable."""
        if isinstance(task, DeptreeError):
            return task
        record, occurrence = task
        try:
            sentence = to_sentence(record, self.inputs, self.inputs.layout)
        except DeptreeError as error:
            error.remedy = _with_hints(error.remedy, record, self.inputs)
            return error.at(record.place, record.sent_id)
        _start(self.inputs.quiet)
        try:
            return self.work(sentence, record, sentence_stream(self.seed, record.sent_id, occurrence))
        except DeptreeError as error:
            return error.at(record.place, record.sent_id)


@cache
def _start(quiet: bool) -> None:
    """Load numba, once in every process; say so where there is more to wait for than that."""
    if not (quiet or is_filled() or parent_process()):
        talk("compiling the kernels, this once: a few seconds, for swor fifteen")
    _load_numba()


def _load_numba() -> None:
    from deptree_cli.kernels.flags import start_quickly

    start_quickly()


def _with_hints(remedy: str, record: Record, inputs: Inputs) -> str:
    """The remedy, and what else may be behind scores that make no sense."""
    layout = inputs.layout
    if record.padded:
        remedy += ". If this is a padded batch, give --lengths or --conllu"
    if layout.is_assumed(record.scores.shape):
        return remedy + ". The rows were taken for heads: if they are dependents, say --orient dep-head"
    rows, columns = layout.arcs(record.scores.shape)
    turned = replace(layout, orient="head-dep" if layout.orient == "dep-head" else "dep-head")
    if rows == columns and _makes_sense(record, inputs, turned):
        remedy += f". Read with --orient {turned.orient} there is one: is that meant?"
    return remedy


def _makes_sense(record: Record, inputs: Inputs, layout: Layout) -> bool:
    try:
        to_sentence(record, inputs, layout)
    except DeptreeError:
        return False
    return True


def to_sentence(record: Record, inputs: Inputs, layout: Layout) -> Sentence:
    """The checked sentence of a record, its matrix read by `layout`, given the heads that are fixed."""
    return _checked(record.scores, record, inputs, layout)


def to_other_sentence(record: Record, inputs: Inputs) -> Sentence:
    """The same of its scores in the other file."""
    assert record.other is not None  # the command has named the file
    try:
        return _checked(record.other, record, inputs, inputs.layout)
    except DeptreeError as error:
        error.problem += f" (in {inputs.other})"
        raise


def _checked(scores: NDArray[np.generic], record: Record, inputs: Inputs, layout: Layout) -> Sentence:
    read: dict[str, Any] = {"scale": layout.scale, "temperature": inputs.temperature, "nan_forbids": inputs.nan_forbids}
    sentence = Sentence.from_scores(
        to_head_dep(scores, layout),
        id=record.sent_id,
        single_root=inputs.single_root,
        labels=inputs.labels if layout.labels else None,
        **read,
    )
    if record.labels is not None and inputs.labels is not None:
        sentence = sentence.with_labels(inputs.labels, to_head_dep(record.labels, inputs.label_layout), **read)
    if inputs.fix_heads and record.block is not None:
        return sentence.with_heads(record.block.heads)
    return sentence
