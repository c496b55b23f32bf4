"""Sentence pairs from their files: scores, scores of the other direction and words together, and never out of step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from operator import attrgetter
from typing import NamedTuple

from deptree_cli.bitext.files.fitting import record_of
from deptree_cli.bitext.files.layout import PairLayout
from deptree_cli.bitext.files.record import PairRecord
from deptree_cli.bitext.files.text import read_text
from deptree_cli.bitext.model.scores import LinkScores
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import STDIN, place_of
from deptree_cli.io.join import IGNORE, joined
from deptree_cli.io.scores.assumptions import Warn, unheard
from deptree_cli.io.scores.containers import open_scores
from deptree_cli.io.scores.containers.refused import SENTENCES
from deptree_cli.io.scores.raw import RawScores, ReadSpec
from deptree_cli.io.sides import Side, nameless


class PairSource:
    """The files of sentence pairs, read once; `-` is standard input for one of them.

    Args:
        path: of the scores, in any container.
        symmetric: of the scores of the other direction, if there are some; they are averaged with the others.
        text: of the words, if there is such a file.

    Attributes:
        count: the number of pairs, once it is known: in a container with names, while `read` goes on.
    """

    def __init__(self, path: str, symmetric: str | None = None, text: str | None = None) -> None:
        self.path = path
        self.symmetric = symmetric
        self.text = text
        self.count: int | None = None

    @property
    def paths(self) -> list[str]:
        """The paths of all that there is."""
        return [path for path in (self.path, self.symmetric, self.text) if path is not None]

    def read(self, layout: PairLayout, first: int = 1, warn: Warn = unheard) -> Iterator[PairRecord | DeptreeError]:
        """Read every sentence pair.

        Args:
            layout: of the scores, of both directions.
            first: the running number of the first pair.
            warn: tells a line, once for each key: what is assumed of scores, and what is odd.

        Yields:
            a record, or the DeptreeError of a pair that cannot be used.

        Raises:
            DeptreeError: reading cannot begin or go on, or the files are out of step or of differing number.
        """
        if self.paths.count(STDIN) > 1:
            raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
        with ExitStack() as opened:
            scores = opened.enter_context(_opened(self.path, layout))
            self.count = len(scores.items) if isinstance(scores.items, Mapping) else None
            reverse = self.symmetric and opened.enter_context(_opened(self.symmetric, layout))
            pairs = _directions(scores, reverse or None)
            side = Side(pairs, scores.what, scores.place, attrgetter("raw.names"), scores.ordered)
            assumption = ""
            for number, record in enumerate(_records(side, self.text, layout, first), first):
                if isinstance(record, DeptreeError):
                    yield record.at(sent_id=str(number))
                    continue
                assumption = assumption or layout.assumption(record.scores)
                warn(assumption, assumption)
                if LinkScores(record.scores, record.source_nulls, record.target_nulls).none_pays:
                    check = "--null-score" if layout.null is None else f"that --null {layout.null} is where NULL stands"
                    warn("no links", f"no link scores more than leaving both of its words unlinked: check {check}")
                yield record


class _Directions(NamedTuple):
    """A pair's scores, and those of the other direction if there is such a file."""

    raw: RawScores
    reverse: RawScores | None

    @property
    def place(self) -> str:
        """Where the scores were read."""
        return self.raw.place


@contextmanager
def _opened(path: str, layout: PairLayout) -> Iterator[Side[RawScores]]:
    with ExitStack() as opened:
        try:
            file = opened.enter_context(open_scores(path))
        except DeptreeError as error:
            if error.problem == SENTENCES:
                error.remedy = "Name the file of scores, and that of the words with --text"
            raise
        try:
            file.meta.check_of_pairs()
        except DeptreeError as error:
            raise error.at(place_of(path)) from None
        source = file.read(ReadSpec(2, layout.forbidden, pairs=True))
        yield Side(source, "matrices", place_of(path), ordered=file.meta.ordered)


def _directions(scores: Side[RawScores], reverse: Side[RawScores] | None) -> Iterator[_Directions | DeptreeError]:
    if reverse is not None:
        return joined(scores, reverse, lambda raw, other, _: _Directions(raw, other), leftover=IGNORE)
    return (raw if isinstance(raw, DeptreeError) else _Directions(raw, None) for raw in scores.in_order())


def _records(
    pairs: Side[_Directions], text: str | None, layout: PairLayout, first: int
) -> Iterator[PairRecord | DeptreeError]:
    if text is not None:
        lines = Side(read_text(text), "lines", place_of(text), nameless)
        return joined(pairs, lines, lambda pair, words, number: record_of(number, *pair, words, layout), first=first)
    numbered = enumerate(pairs.in_order(), first)
    return (
        pair if isinstance(pair, DeptreeError) else record_of(number, *pair, None, layout) for number, pair in numbered
    )
