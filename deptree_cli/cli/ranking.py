"""Words or sentences in order of rank, written when all are known: which of them, and what there is to say of all."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.params import FloatRange, IntRange
from deptree_cli.cli.sections import bound, option
from deptree_cli.core.doubt import Criterion
from deptree_cli.core.errors import DeptreeError, counted

# The column of ranks.
RANK = "rank"

# What to do where no head is annotated.
NO_HEADS = "Give annotated trees with --conllu FILE, or rank by what needs none: --rank entropy or --rank disagreement"


class InRank(NamedTuple):
    """A sentence in CoNLL-U, to be written in its turn."""

    data: bytes

    def to_conllu(self, _: object) -> bytes:
        """The sentence."""
        return self.data


class Ranked(NamedTuple):
    """What has a rank.

    Attributes:
        key: the least has rank 1; of equals the one that was read first.
        value: what `Selection.above` and `below` are about.
        words: how many it has.
        written: the cells of its row, or the sentence.
    """

    key: tuple[float, ...]
    value: float
    words: int
    written: tuple[Any, ...] | InRank


class Counts(NamedTuple):
    """What a sentence counts for.

    Attributes:
        ranked: its words, or itself.
        words: how many are annotated.
        errors: how many of these to expect wrong.
        unknown: how many of these have a label that the scores do not tell.
        marked: how many words are marked.
    """

    ranked: Sequence[Ranked]
    words: int
    errors: float
    unknown: int
    marked: int


@dataclass(frozen=True)
class Selection:
    """Which of the ranked are written.

    Attributes:
        above, below: only those of a value between the two; None: no bound.
        top: this many of the first ones.
        words: of these, in their order, each that still fits into so many words.
    """

    above: float | None = None
    below: float | None = None
    top: int | None = None
    words: int | None = None

    def passes(self, value: float) -> bool:
        """Whether a value is between the bounds."""
        return (self.above is None or value > self.above) and (self.below is None or value < self.below)

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        return {"above": self.above, "below": self.below, "top": self.top, "words": self.words}


_OPTIONS = [
    option(
        "--above",
        type=FloatRange(),
        metavar="P",
        help="Keep rows whose ranking value, such as a probability, is above P.",
    ),
    option("--below", type=FloatRange(), metavar="X", help="Keep rows whose ranking value is below X."),
    option("--top", type=IntRange(1), metavar="N", help="Keep the first N; this also limits memory."),
    option("--words", type=IntRange(1), metavar="N", help="Keep sentences by rank, up to N words."),
]

# Gives a command the options of a selection, as one `selection: Selection`.
selection_options = bound("selection", _OPTIONS, Selection, list(Selection.__dataclass_fields__))


class Ranking(Fold[Counts]):
    """Keeps what is selected of all that is ranked, with `Selection.top` only so many, and sums up what was read.

    Args:
        selection: of them.
        columns: the names of their cells, `RANK` last.
        shown: how many have a place where they are written, None: all.
        by: what sentences are ranked by; None: words are ranked.
        place: of the sentences, for messages.
        marks: how many there are.
    """

    def __init__(
        self,
        selection: Selection,
        columns: Sequence[str],
        shown: int | None,
        by: Criterion | None,
        place: str,
        marks: int,
    ) -> None:
        self._selection, self._columns, self._shown = selection, columns, shown
        self._by, self._place, self._unmarked = by, place, marks
        self._most = selection.top or (None if selection.words else shown)
        self._kept: list[tuple[tuple[float, ...], int, Ranked]] = []
        self._all = self._passed = self._written = 0
        self._sentences = self._words = self._unknown = self._left_out = 0
        self._errors = 0.0

    def add(self, counts: Counts) -> None:
        self._sentences += 1
        self._words += counts.words
        self._errors += counts.errors
        self._unknown += counts.unknown
        self._unmarked -= counts.marked
        self._left_out += self._by is not None and not counts.ranked
        for each in counts.ranked:
            self._all += 1
            if self._selection.passes(each.value):
                self._passed += 1
                self._keep(each)

    def _keep(self, one: Ranked) -> None:
        """Keep it; the greatest has rank 1, so that the first of the heap is the one that goes."""
        key = tuple([-number for number in one.key])
        if self._most is None or len(self._kept) < self._most:
            heapq.heappush(self._kept, (key, -self._all, one))
        elif key > self._kept[0][0]:  # of equals the one that was read first stays
            heapq.heapreplace(self._kept, (key, -self._all, one))

    def rows(self) -> Sequence[Any]:
        if self._sentences and not self._words and (self._by is None or self._by.of_annotation):
            raise DeptreeError("no word has a HEAD", NO_HEADS, place=self._place)
        ranks: Iterable[tuple[int, Ranked]] = enumerate((entry[-1] for entry in sorted(self._kept, reverse=True)), 1)
        if self._selection.words:
            ranks = _within(ranks, self._selection.words)
        found = [(rank, each.written) for rank, each in islice(ranks, self._shown)]
        self._written = len(found)
        return [
            written if isinstance(written, InRank) else dict(zip(self._columns, (*written, rank), strict=True))
            for rank, written in found
        ]

    def lines(self) -> Iterator[str]:
        if not self._all and not self._left_out:
            yield f"nothing to rank: {'all words are marked as fine' if self._words else 'there are no sentences'}"
        if self._kept and not self._written:
            n, of = min(one.words for *_, one in self._kept), counted(len(self._kept), "sentence")
            yield f"nothing fits into --words {self._selection.words}: the shortest of {of} has {counted(n, 'word')}"
        if self._unknown:
            yield f"{counted(self._unknown, 'word')} with a DEPREL that --labels has not: their heads alone are doubted"
        if self._unmarked > 0:
            yield f"{counted(self._unmarked, 'mark')} of no word here with that head: not used"
        if self._left_out:
            yield f"{counted(self._left_out, 'sentence')} left out: not all HEADs that --rank needs are there"
        if self._words:
            of = f"{counted(self._words, 'annotated word')} of {counted(self._sentences, 'sentence')}"
            yield f"{self._errors:.1f} of {of} are wrong, if the probabilities are right"
            yield from layout_doubts(self._errors, self._words)
        if self._passed < self._all:
            yield f"{self._passed} of {counted(self._all, 'sentence' if self._by else 'word')} pass --above and --below"
        if self._shown and self._written == self._shown < self._passed:
            yield f"these are the first {self._shown} of {self._passed}: --top N shows more, --json or -o FILE has all"


def layout_doubts(errors: float, words: int) -> list[str]:
    """What to tell the user if so many of these words are expected to be wrong: hardly any parser is as bad."""
    line = "more than half of the heads are doubted: are --from and --orient right? deptree inspect checks it"
    return [line] if errors > words / 2 else []


def _within(ranks: Iterable[tuple[int, Ranked]], words: int) -> Iterator[tuple[int, Ranked]]:
    """Those that still fit into so many words."""
    for rank, each in ranks:
        if each.words <= words:
            words -= each.words
            yield rank, each
