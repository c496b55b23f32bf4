"""Sentence pairs from their files: scores, scores of the other direction and words together, and never out of step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain, repeat, zip_longest
from typing import NamedTuple, TypeVar

from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.bitext.fitting import record_of
from deptree_cli.io.bitext.layout import PairLayout
from deptree_cli.io.bitext.record import PairRecord
from deptree_cli.io.bitext.text import PairWords, read_text
from deptree_cli.io.scores.containers import open_scores
from deptree_cli.io.scores.raw import Raw, RawScores, ReadSpec, Source, in_order
from deptree_cli.io.streams import STDIN, place_of

One = TypeVar("One")
Other = TypeVar("Other")

# A pair's scores, and those of the other direction if there is such a file.
_Pair = tuple[Raw, Raw | None]

_Words = PairWords | DeptreeError | None

_SAME = "Check that all files hold the same sentence pairs in the same order"


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

    def read(self, layout: PairLayout, first: int = 1) -> Iterator[PairRecord | DeptreeError]:
        """Read every sentence pair.

        Args:
            layout: of the scores, of both directions.
            first: the running number of the first pair.

        Yields:
            a record, or the DeptreeError of a pair that cannot be used.

        Raises:
            DeptreeError: reading cannot begin or go on, or the files are out of step or of differing number.
        """
        if self.paths.count(STDIN) > 1:
            raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
        with ExitStack() as opened:
            scores = opened.enter_context(_opened(self.path, layout))
            self.count = len(scores.source) if isinstance(scores.source, Mapping) else None
            pairs = _alone(scores)
            if self.symmetric is not None:
                pairs = _both(scores, opened.enter_context(_opened(self.symmetric, layout)))
            for number, ((raw, reverse), words) in enumerate(_with_text(pairs, scores, self.text), first):
                yield record_of(number, raw, reverse, words, layout)


class _Opened(NamedTuple):
    """The matrices of an opened file, and whether they stand in their own order."""

    place: str
    source: Source
    ordered: bool

    def check_ordered(self) -> None:
        """Raise where nothing may be paired with these by order."""
        if not self.ordered:
            problem = "the order of the sentence pairs is not known"
            raise DeptreeError(problem, "Save them as .npz, which keeps the order", place=self.place)


@contextmanager
def _opened(path: str, layout: PairLayout) -> Iterator[_Opened]:
    with open_scores(path) as file:
        source = file.read(ReadSpec(2, layout.forbidden, pairs=True))
        yield _Opened(place_of(path), source, file.meta.ordered)


def _with_text(pairs: Iterator[_Pair], scores: _Opened, text: str | None) -> Iterator[tuple[_Pair, _Words]]:
    if text is None:
        return zip(pairs, repeat(None), strict=False)
    scores.check_ordered()
    return _beside(pairs, read_text(text), scores.place, f"of lines in {place_of(text)}")


def _alone(scores: _Opened) -> Iterator[_Pair]:
    return zip(in_order(scores.source), repeat(None), strict=False)


def _both(scores: _Opened, reverse: _Opened) -> Iterator[_Pair]:
    """The matrices of both directions: by key where both have names, else by order."""
    looked_at: list[Raw] = []
    raws = in_order(scores.source)
    for raw in raws:
        looked_at.append(raw)
        if isinstance(raw, RawScores):
            break
    named = bool(looked_at) and isinstance(looked_at[-1], RawScores) and looked_at[-1].key is not None
    raws = chain(looked_at, raws)
    if named and isinstance(reverse.source, Mapping):
        return ((raw, _of_same_name(raw, reverse.source, reverse.place)) for raw in raws)
    for each in (scores, reverse):
        each.check_ordered()
    return _in_step(_beside(raws, in_order(reverse.source), scores.place, f"in {reverse.place}"))


def _of_same_name(raw: Raw, reverse: Mapping[str, RawScores], place: str) -> Raw:
    if isinstance(raw, DeptreeError):
        return raw
    if raw.key is None or raw.key not in reverse:
        remedy = "Name the scores of both directions alike"
        return DeptreeError(f"{place} has no scores of this name", remedy, place=raw.place)
    try:
        return reverse[raw.key]
    except DeptreeError as error:
        return error


def _in_step(pairs: Iterator[tuple[Raw, Raw]]) -> Iterator[_Pair]:
    """The pairs, unless their names say that they are none."""
    for raw, reverse in pairs:
        names = [each.key for each in (raw, reverse) if isinstance(each, RawScores) and each.key is not None]
        if len(set(names)) > 1:
            problem = f"out of step: {names[0]!r} meets {names[1]!r} at {reverse.place}"
            raise OutOfStep(problem, _SAME, place=raw.place)
        yield raw, reverse


def _beside(items: Iterator[One], others: Iterator[Other], place: str, what: str) -> Iterator[tuple[One, Other]]:
    """Two files by order.

    Raises:
        OutOfStep: one holds more than the other.
    """
    for number, (item, other) in enumerate(zip_longest(items, others)):
        if item is None or other is None:
            ends = number, number + 1 + sum(1 for _ in items) + sum(1 for _ in others)
            matrices, rest = ends if item is None else ends[::-1]
            raise OutOfStep(f"the number of matrices is {matrices}, that {what} is {rest}", _SAME, place=place)
        yield item, other
