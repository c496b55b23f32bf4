"""Links that were found beside known ones: the options that name these, and how far they agree."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from deptree_cli.cli.gold_report import GoldReport
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.pipeline import Numbered
from deptree_cli.cli.report import table
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.sections import reading_option
from deptree_cli.core.bitext.links import KnownLinks, LinkCounts, Links
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.pruning.estimate import Estimate
from deptree_cli.io.bitext.pharaoh import PharaohLine, read_pharaoh
from deptree_cli.io.bitext.record import PairRecord
from deptree_cli.io.join import joined
from deptree_cli.io.sides import Side
from deptree_cli.io.streams import place_of

_Task = Numbered[PairRecord] | DeptreeError

# In place of links that cannot be read, and of those in empty files.
NOTHING_KNOWN = KnownLinks(frozenset(), frozenset())

_COLUMNS = ("pairs", "links", "sure", "precision", "recall", "alignment error rate")

link_gold_option = reading_option(
    "--gold",
    type=INPUT,
    multiple=True,
    help="Known links of the same pairs in the Pharaoh format, sure ones as 0-0, possible ones as 0?1. Precision,"
    " recall and alignment error rate (Och and Ney 2003) are shown.",
)


@dataclass(frozen=True)
class Aligned:
    """What was found for a sentence pair.

    Attributes:
        name: the pair's.
        links: those found; None where the pair was skipped.
        probabilities: of the links in their order, where they were worked out.
        estimate: what they are from.
    """

    name: str = ""
    links: Links | None = None
    probabilities: tuple[float, ...] | None = None
    estimate: Estimate | None = None


class LinkReport:
    """The comparison: known links are read as pairs go to work, and counted as these come back in the same order."""

    def __init__(self, paths: Sequence[str], run: RunOptions) -> None:
        self._paths = paths
        self._run = run
        self._known: deque[KnownLinks] = deque()
        self._counts = LinkCounts()

    def beside(self, tasks: Iterator[_Task]) -> Iterator[_Task]:
        """The tasks, which are this shard's, or the errors of those that their line of known links does not fit.

        Files without a single line stand for pairs of which none has a link.

        Raises:
            OutOfStep: there are more of these than of those, or fewer.
        """
        for found in self._with_links(tasks):
            task, links = (found, NOTHING_KNOWN) if isinstance(found, DeptreeError) else found
            self._known.append(links)
            yield task

    def _with_links(self, tasks: Iterator[_Task]) -> Iterator[tuple[_Task, KnownLinks] | DeptreeError]:
        shard, shards = self._run.shard
        lines = chain.from_iterable(map(read_pharaoh, self._paths))
        if (first := next(lines, None)) is None:
            return ((task, NOTHING_KNOWN) for task in tasks)
        what = "lines" if shards == 1 else f"lines for shard {shard}/{shards}"
        own = islice(chain([first], lines), shard - 1, None, shards)
        known = Side(own, what, ", ".join(map(place_of, self._paths)))
        return joined(Side(tasks, "sentence pairs", names=lambda task: (task[0].sent_id,)), known, _checked)

    def counted(self, found: Iterator[Aligned]) -> Iterator[Aligned]:
        """The results as they pass, one for each of the tasks."""
        for each in found:
            known = self._known.popleft()
            if each.links is not None:
                self._counts += LinkCounts.of(each.links, known)
            yield each

    def show(self, to: GoldReport) -> None:
        """Write JSON where it is asked for, else a table on stderr."""
        found = self._counts.summary()
        to.write(found)
        if not to.path and not self._run.quiet:
            *counts, precision, recall, error = found.values()
            rates = ("-" if rate is None else f"{rate:.4f}" for rate in (precision, recall, error))
            table("agreement with known links", _COLUMNS, [[*counts, *rates]])


def _checked(task: Numbered[PairRecord], line: PharaohLine, _: int) -> tuple[Numbered[PairRecord], KnownLinks]:
    """A pair and its known links, if these fit it."""
    record = task[0]
    try:
        line.links.check_within(*record.scores.shape)
    except DeptreeError as error:
        raise error.at(line.place, record.sent_id) from None
    return task, line.links
