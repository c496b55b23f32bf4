"""The one way from options to bytes: items are read, worked on, encoded and written, and counted on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.options import check_effect, chosen_for_user
from deptree_cli.cli.pipeline import Pipeline, Select
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.status_line import show, status
from deptree_cli.cli.work import Function, Prepared, Read, Source, Work, as_work
from deptree_cli.cli.writing import Writing
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.splicing import Spliced
from deptree_cli.io.conllu.trees import Style
from deptree_cli.io.encoders.base import Page, Sheet, Write
from deptree_cli.io.encoders.text import CONLLU
from deptree_cli.io.signature import signature

Result = TypeVar("Result")

_NONE: Mapping[str, object] = {}

# Of results that are no rows.
NO_ROWS = Sheet()


class Job(Generic[Read, Prepared]):
    """One run of a command.

    Args:
        command: its name.
        source: what is read.
        run: how the command runs, and where results go.
        writing: how they are written.
        first, last: fields of the signature in front of those of `source` and `run`, and behind them.
        select: which of the items are worked on, for commands that want some of them only.
        about: what formats of scores and of reports are to know of all results.

    Attributes:
        pipeline: from the source to results.
        signature: how these were made.
        encoder: their format.

    Raises:
        DeptreeError: the output has a suffix of another format, or words are missing for CoNLL-U.
    """

    def __init__(
        self,
        command: str,
        source: Source[Read, Prepared],
        run: RunOptions,
        writing: Writing,
        first: Mapping[str, object] = _NONE,
        last: Mapping[str, object] = _NONE,
        select: Select[Read] = iter,
        about: Any = None,
    ) -> None:
        self.run = run
        self.encoder = writing.encoder(run.output, source.is_conllu)
        if self.encoder is CONLLU:
            source.check_words()
        else:
            check_effect(["deps", "sent_id_format"], f"--format {CONLLU.name}, but the output is {self.encoder.name}")
        self.pipeline = Pipeline(source, run, select)
        self.signature = signature(command, {**first, **source.signature_fields, **run.signature_fields, **last})
        self._writing, self._about = writing, about

    def write(
        self,
        work: Work[Any] | Function[Any],
        seed: int | None = None,
        sheet: Sheet = NO_ROWS,
        folds: Sequence[Fold[Any]] = (),
    ) -> int:
        """Write the results, and tell what the folds found of them; the exit status.

        Args:
            work: what is done to an item; its result is encoded by the worker.
            seed: of random numbers, None for work that draws none.
            sheet: how rows are laid out.
            folds: each adds what results count for there.
        """
        with self._opened(sheet) as write:
            results = self._results(work, self.encoder.encode, seed, folds)
            for data in with_signature(results, self.signature, self.run):
                for line in data.losses if isinstance(data, Spliced) else ():
                    self.run.warn(line, line)
                write(data)
        return self._told(folds)

    def summarise(
        self, work: Work[Any] | Function[Any], fold: Fold[Any], sheet: Sheet = NO_ROWS, seed: int | None = None
    ) -> int:
        """Write what a fold finds of all results, in the columns of the first row if `sheet` has none; the status."""
        deque(self._results(work, None, seed, [fold]), maxlen=0)
        rows = fold.rows()
        with self._opened(sheet if sheet.columns else sheet._replace(columns=tuple(rows[0]))) as write:
            for row in with_signature(rows, self.signature, self.run):
                write(self.encoder.encode(row, self._writing.style))
        return self._told([fold])

    def _results(
        self,
        work: Work[Any] | Function[Any],
        encode: Callable[[Any, Any], Any] | None,
        seed: int | None,
        folds: Sequence[Fold[Any]],
    ) -> Iterator[Any]:
        """The results, encoded, which the folds have counted; one that was skipped counts for nothing."""
        encoded = Encoded(as_work(work), encode, self._writing.style, tuple(fold.attribute for fold in folds))
        placeholders = [] if encode is None or self.encoder.skipped is None else [(self.encoder.skipped, ())]
        results: Iterator[tuple[Any, tuple[Any, ...]]] = self.pipeline.map(encoded, seed, placeholders)
        for data, counts in results:
            for fold, each in zip(folds, counts, strict=False):
                if each is not None:
                    fold.add(each)
            yield data

    def _opened(self, sheet: Sheet) -> AbstractContextManager[Write]:
        return self.encoder.open(self.run.output, Page(self.signature, self._writing.header, sheet, self._about))

    def _told(self, folds: Sequence[Fold[Any]]) -> int:
        """Tell people what the folds found; the exit status."""
        if not self.run.quiet:
            for fold in folds:
                for each in fold.lines():
                    show(each)
        return self.pipeline.exit_code


def with_signature(results: Iterable[Result], signature: str, run: RunOptions) -> Iterator[Result]:
    """The results on their way to the output; with the first of them the signature on stderr, where it is news.

    It is shown there if it says something that the command line does not, and only with a result: what fails gives one
    line, the error.
    """
    if chosen_for_user(signature):
        run.warn("signature", signature)
    for result in results:
        status().make_way()
        yield result


@dataclass(frozen=True)
class Encoded(Work[Any]):
    """Work whose result is encoded, None without an encoder, with what it counts for in folds.

    Attributes:
        style: of trees.
        attributes: of a result, which folds count; empty for the result itself.
    """

    work: Work[Any]
    encode: Callable[[Any, Any], Any] | None
    style: Style
    attributes: tuple[str, ...]

    @property
    def trees(self) -> int:
        """How many trees are drawn of an item."""
        return self.work.trees

    @property
    def in_batches(self) -> bool:
        """Whether many items are worked on at once, where they can be."""
        return self.work.in_batches

    def one(self, prepared: Any, stream: Any) -> tuple[Any, tuple[Any, ...]]:
        """The two of a prepared item."""
        return self._encoded(self.work.one(prepared, stream))

    def batch(self, prepared: Any, streams: Any) -> list[tuple[Any, tuple[Any, ...]] | None]:
        """The two of each item of a batch; None for what has to be worked on by itself."""
        return [self._if_encoded(result) for result in self.work.batch(prepared, streams)]

    def _if_encoded(self, result: Any) -> tuple[Any, tuple[Any, ...]] | None:
        """See `_encoded`; None where there is no result or that fails, which is told of the item by itself."""
        try:
            return None if result is None else self._encoded(result)
        except DeptreeError:
            return None

    def _encoded(self, result: Any) -> tuple[Any, tuple[Any, ...]]:
        counts = tuple(getattr(result, name) if name else result for name in self.attributes)
        return self.encode and self.encode(result, self.style), counts
