"""Sentence pairs from their files: scores, scores of the other direction and words together, and never out of step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count

from deptree_cli.bitext.files.fitting import RAW, REVERSE, WORDS, record_of
from deptree_cli.bitext.files.layout import PairLayout
from deptree_cli.bitext.files.record import PairRecord
from deptree_cli.bitext.files.text import read_text
from deptree_cli.bitext.model.scores import LinkScores
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import STDIN, place_of
from deptree_cli.io.read import read
from deptree_cli.io.scores.arrays import Raw, ReadSpec
from deptree_cli.io.scores.containers import open_scores
from deptree_cli.io.scores.containers.base import SENTENCES
from deptree_cli.io.sentence import Companion, Sentence, Side, Warn, holding, nameless, unheard


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
            companions = []
            if self.symmetric is not None:
                reverse = opened.enter_context(_opened(self.symmetric, layout))
                companions.append(Companion(reverse, holding(REVERSE), shared=True))
            if self.text is not None:
                lines = Side(read_text(self.text), "lines", place_of(self.text), nameless)
                companions.append(Companion(lines, holding(WORDS)))
            lead = replace(scores, items=map(_alone, scores.in_order(), count(first)))
            assumption = ""
            for number, pair in enumerate(read(lead, companions), first):
                record = pair if isinstance(pair, DeptreeError) else record_of(pair, layout)
                if isinstance(record, DeptreeError):
                    yield record.at(sent_id=str(number))
                    continue
                assumption = assumption or layout.assumption(record.scores)
                warn(assumption, assumption)
                if LinkScores(record.scores, record.source_nulls, record.target_nulls).none_pays:
                    check = "--null-score" if layout.null is None else f"that --null {layout.null} is where NULL stands"
                    warn("no links", f"no link scores more than leaving both of its words unlinked: check {check}")
                yield record


def _alone(raw: Raw, number: int) -> Sentence | DeptreeError:
    """A pair of which only the scores are known."""
    if isinstance(raw, DeptreeError):
        return raw
    named = raw.key is not None
    return Sentence(raw.key or str(number), number, 0, raw.place, named=named, companions={RAW: raw})


@contextmanager
def _opened(path: str, layout: PairLayout) -> Iterator[Side]:
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
