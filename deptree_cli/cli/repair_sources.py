"""Trees that are read to be repaired: once to learn from those without mistakes, once more to be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import click

from deptree_cli.cli.broken_rules import BrokenRules
from deptree_cli.cli.given_trees import Asked
from deptree_cli.cli.other_tags import OtherTags
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.repair_options import RepairOptions
from deptree_cli.cli.repairing import WRITTEN, Look, Looked, Prepared, Repair, Unseen
from deptree_cli.cli.rule_options import met
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.work import Counted, Source
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.repair.habits import Habits
from deptree_cli.core.repair.nearest import Aims
from deptree_cli.core.repair.ties import Ties
from deptree_cli.io.files.rereading import Reread, rereadable
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.sentence import Sentence, Side
from deptree_cli.io.trees.base import TreeFormat, names_of
from deptree_cli.io.trees.jsonl import JSON_LINES
from deptree_cli.io.trees.written import Written, format_of, read_written


@dataclass(frozen=True)
class Trees:
    """Files of trees that are read together.

    Attributes:
        files: all of one format.
        fmt: that format.
    """

    files: Sequence[Reread]
    fmt: TreeFormat

    def read(self, tags: OtherTags, suspects: Sequence[int] | None = None) -> Iterator[Written]:
        """The sentences, noted if they have other tags; see `read_written`."""
        number = 1
        for each in self.files:
            with each.opened() as file:
                ends = each is self.files[-1]
                found = read_written(file.stream, file.place, self.fmt, number, suspects, ends)
                for written in tags.watched(found, file.place):
                    yield written
                    number = written.number + 1

    def counted(self, items: Iterator[Any], total: int | None = None, note: str = "") -> Counted[Any]:
        """The items that are made of them, for a progress bar."""
        return Counted(items, lambda: total, share_of([each.path for each in self.files]), note=lambda: note)

    @property
    def place(self) -> str:
        """What messages call all of them."""
        return ", ".join(each.place for each in self.files)


@contextmanager
def trees_in(paths: Sequence[str]) -> Iterator[Trees]:
    """The files, to be read as often as one likes within the block.

    Raises:
        DeptreeError: one cannot be read, or they have two formats.
    """
    with rereadable(paths) as files:
        formats = []
        for each in files:
            with each.opened() as file:
                formats.append(format_of(file))
                if formats[-1] is not formats[0]:
                    problem = f"this is {formats[-1].name}, but {files[0].place} is {formats[0].name}"
                    raise DeptreeError(problem, "Repair them one by one", place=each.place)
        yield Trees(files, formats[0])


def work_on(
    trees: Trees, how: RepairOptions, run: RunOptions, told: bool, before: BrokenRules
) -> tuple[Source[Any, Any], Repair]:
    """What is to be repaired, and how.

    Args:
        told: whether changes are told word by word.
        before: broken rules are counted there, where all sentences are looked at first.

    Raises:
        DeptreeError: a sentence is malformed, and errors are not skipped.
    """
    if trees.fmt is JSON_LINES and how.rules.in_misc:
        raise click.UsageError(f"--rules misc needs CoNLL-U, but {trees.place} has no MISC. Name a file.")
    rules = how.rules.rules
    prepared, suspects = Prepared(Asked(how.rules, how.space, mends=True)), None
    habits, tags = Habits(), OtherTags(rules.upos, run.warn, "used by no rule")
    if how.like is not None:
        with trees_in([how.like]) as treebank:
            habits, _ = _learn(treebank, prepared.asked, tags, run, BrokenRules(rules))
    elif how.scores is None or how.scores.how.labels is None:
        habits, suspects = _learn(trees, prepared.asked, tags, run, before)
    counted = suspects is not None
    if suspects is not None and how.worth < inf:
        suspects = bytes(len(suspects) * [1])
    ties = Ties(habits)
    work = Repair(ties, Aims(how.costs, how.worth, how.budget, how.relax), counted, told)
    items: Iterator[Any] = trees.read(tags, suspects)
    if how.scores is not None:
        lead, scores = Side(map(_lead, items), "sentences", trees.place), how.scores.how
        items = how.scores.files[0].read(scores.layout, warn=run.warn, lead=lead)
        prepared = replace(prepared, how=scores)
    read = trees.counted(met(items, how.rules, _names_of), len(suspects) if suspects else None)
    return Source(read, prepared, how.signature_fields), work


def _names_of(item: Written | Sentence | DeptreeError) -> Sequence[str]:
    """What files of rules may call a sentence."""
    if isinstance(item, DeptreeError):
        return [item.sent_id]
    written = item if isinstance(item, Written) else item.companions[WRITTEN]
    with suppress(DeptreeError):  # malformed: an error of the sentence, raised where it is worked on
        return [*names_of(written.block.sent_id), written.sent_id]
    return [written.sent_id]


def _learn(trees: Trees, asked: Asked, tags: OtherTags, run: RunOptions, before: BrokenRules) -> tuple[Habits, bytes]:
    """How words attach in the sentences without mistakes; and of each sentence whether it has some."""
    habits, suspects = Habits(), bytearray()
    items = trees.counted(trees.read(tags), note="looked at")
    pipeline: Pipeline[Written, Written] = Pipeline(Source(items, Unseen(asked)), replace(run, shard=(1, 1)))
    results: Iterator[Looked] = pipeline.map(Look(asked, run.messages.skips))
    for looked in results:
        suspects.append(looked.suspect)
        if looked.counts is not None:
            before.add(looked.counts)
        if looked.habits is not None:
            habits += looked.habits
    return habits, bytes(suspects)


def _lead(written: Written) -> Sentence | DeptreeError:
    """A sentence that has scores; the error of one that is malformed."""
    try:
        block = written.block
    except DeptreeError as error:
        return error
    number, named = written.number, bool(block.sent_id)
    return Sentence(written.name, number, block.n, written.place, block, named=named, companions={WRITTEN: written})
