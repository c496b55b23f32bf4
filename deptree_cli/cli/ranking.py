"""Results in order of rank, written when all are known: which of them, and how many."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.params import FloatRange, IntRange
from deptree_cli.cli.sections import bound, option
from deptree_cli.core.errors import counted

# The column of ranks.
RANK = "rank"


class Ranked(NamedTuple):
    """What has a rank.

    Attributes:
        key: the least has rank 1; of equals the one that was read first.
        value: what `Selection.above` and `below` are about.
        words: how many it has.
        cells: of its row.
        data: the sentence as CoNLL-U, where that is written.
    """

    key: tuple[float, ...]
    value: float
    words: int
    cells: tuple[Any, ...]
    data: bytes | None = None


@dataclass(frozen=True)
class Selection:
    """Which of the ranked are written.

    Attributes:
        above, below: only those of a value between the two; None: no bound.
        top: this many of the first ones.
        budget: of these, in their order, each that still fits into so many words.
    """

    above: float | None = None
    below: float | None = None
    top: int | None = None
    budget: int | None = None

    def passes(self, value: float) -> bool:
        """Whether a value is between the bounds."""
        return (self.above is None or value > self.above) and (self.below is None or value < self.below)

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        return {"above": self.above, "below": self.below, "top": self.top, "budget": self.budget}


_OPTIONS = [
    option("--above", type=FloatRange(), metavar="X", help="Keep rows whose ranking value is above X."),
    option("--below", type=FloatRange(), metavar="X", help="Keep rows whose ranking value is below X."),
    option("--top", type=IntRange(1), metavar="N", help="Keep the first N (and store no more)."),
    option("--budget", type=IntRange(1), metavar="WORDS", help="Keep sentences by rank, up to this many words."),
]

# Gives a command the options of a selection, as one `selection: Selection`.
selection_options = bound("selection", _OPTIONS, Selection, list(Selection.__dataclass_fields__))


class InRank(NamedTuple):
    """A sentence in CoNLL-U, to be written in its turn."""

    data: bytes

    def to_conllu(self, _: object) -> bytes:
        """The sentence."""
        return self.data


class Ranking(Fold[Sequence[Ranked]]):
    """Keeps what is selected of all results, which are lists of `Ranked`; with `Selection.top` only so many.

    Args:
        selection: of them.
        columns: the names of their cells, `RANK` last.
        shown: how many have a place where they are written, None: all.
        noun: what they are.
    """

    attribute = "ranked"

    def __init__(self, selection: Selection, columns: Sequence[str], shown: int | None, noun: str) -> None:
        self._selection = selection
        self._columns = columns
        self._shown = shown
        self._noun = noun
        self._most = selection.top or (None if selection.budget else shown)
        self._kept: list[tuple[tuple[float, ...], int, Ranked]] = []
        self._all = self._passed = self._written = 0

    def add(self, counts: Sequence[Ranked]) -> None:
        for each in counts:
            self._all += 1
            if not self._selection.passes(each.value):
                continue
            self._passed += 1
            # the greatest has rank 1, so that the first of the heap is the one that goes
            entry = tuple(-number for number in each.key), -self._all, each
            if self._most is None or len(self._kept) < self._most:
                heapq.heappush(self._kept, entry)
            else:
                heapq.heappushpop(self._kept, entry)

    def rows(self) -> Sequence[Any]:
        ranks: Iterable[tuple[int, Ranked]] = enumerate((entry[-1] for entry in sorted(self._kept, reverse=True)), 1)
        if self._selection.budget:
            ranks = _within(ranks, self._selection.budget)
        found = list(islice(ranks, self._shown))
        self._written = len(found)
        return [self._written_as(rank, each) for rank, each in found]

    def _written_as(self, rank: int, each: Ranked) -> Any:
        if each.data is not None:
            return InRank(each.data)
        return dict(zip(self._columns, (*each.cells, rank), strict=True))

    def lines(self) -> Iterator[str]:
        if self._passed < self._all:
            yield f"{self._passed} of {counted(self._all, self._noun)} pass --above and --below"
        if self._shown and self._written == self._shown < self._passed:
            yield f"these are the first {self._shown} of {self._passed}: --top N shows more, --json or -o FILE has all"


def _within(ranks: Iterable[tuple[int, Ranked]], budget: int) -> Iterator[tuple[int, Ranked]]:
    """Those that still fit into so many words."""
    for rank, each in ranks:
        if each.words <= budget:
            budget -= each.words
            yield rank, each
