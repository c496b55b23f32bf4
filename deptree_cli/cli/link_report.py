"""Links that were found beside known ones: the options that name these, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.pipeline import Numbered
from deptree_cli.cli.report import Table
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.sections import reading_option
from deptree_cli.core.bitext.links import KnownLinks, LinkCounts
from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.bitext.pharaoh import PharaohLine, read_pharaoh
from deptree_cli.io.bitext.record import PairRecord
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.streams import place_of

_Task = Numbered[PairRecord] | DeptreeError

# In place of links that cannot be read, and of those in empty files.
NOTHING_KNOWN = KnownLinks(frozenset(), frozenset())

_COLUMNS = ("pairs", "links", "sure", "precision", "recall", "alignment error rate")

_SAME = "Give a line for each of the same sentence pairs in the same order, an empty one for a pair without links"


link_gold_option = reading_option(
    "--gold",
    type=INPUT,
    multiple=True,
    help="Known links of the same pairs in the Pharaoh format, sure ones as 0-0, possible ones as 0?1. Precision,"
    " recall and alignment error rate (Och and Ney 2003) are shown.",
)


class LinkAgreement(Fold[LinkCounts]):
    """How far links agree with known ones; each pair counts with its own counts."""

    attribute = "agreement"

    def __init__(self) -> None:
        self._counts = LinkCounts()

    def add(self, counts: LinkCounts) -> None:
        self._counts += counts

    def rows(self) -> list[Row]:
        return [self._counts.summary()]

    def tables(self) -> Iterator[Table]:
        *counts, precision, recall, error = self._counts.summary().values()
        rates = ("-" if rate is None else f"{rate:.4f}" for rate in (precision, recall, error))
        yield Table("agreement with known links", _COLUMNS, [[*counts, *rates]])


def with_links(tasks: Iterator[_Task], paths: Sequence[str], run: RunOptions) -> Iterator[_Task]:
    """The tasks, which are this shard's, each with its known links, or the errors of those that these do not fit.

    Files without a single line stand for pairs of which none has a link.

    Raises:
        OutOfStep: there are more of these than of those, or fewer.
    """
    shard, shards = run.shard
    lines = chain.from_iterable(map(read_pharaoh, paths))
    if (first := next(lines, None)) is None:
        for task in tasks:
            yield task if isinstance(task, DeptreeError) else _with(task, NOTHING_KNOWN)
        return
    own = islice(chain([first], lines), shard - 1, None, shards)
    for task in tasks:
        line = next(own, None)
        if line is None:
            name = task.sent_id if isinstance(task, DeptreeError) else task[0].sent_id
            raise OutOfStep(f"{place_of(paths[-1])} has no line for this pair", _SAME, sent_id=name)
        yield _checked(task, line)
    if (left := next(own, None)) is not None:
        raise OutOfStep("there is no sentence pair for this line", _SAME, place=left.place)


def _with(task: Numbered[PairRecord], known: KnownLinks) -> Numbered[PairRecord]:
    return replace(task[0], known=known), task[1]


def _checked(
    task: Numbered[PairRecord] | DeptreeError, line: PharaohLine | DeptreeError
) -> Numbered[PairRecord] | DeptreeError:
    """The task, or what is wrong with it or with its line of known links."""
    if isinstance(task, DeptreeError):
        return task
    record = task[0]
    if isinstance(line, DeptreeError):
        return line.at(sent_id=record.sent_id)
    try:
        line.links.check_within(*record.scores.shape)
    except DeptreeError as error:
        return error.at(line.place, record.sent_id)
    return _with(task, line.links)
