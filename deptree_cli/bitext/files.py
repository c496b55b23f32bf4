"""Sentence pairs from their files: scores in one direction or both, words, and gold links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from deptree_cli.bitext.scores import KnownLinks, Link, Links, LinkScores, checked_links, checked_nulls
from deptree_cli.core.dtypes import MASK, Array, Float
from deptree_cli.core.errors import DeptreeError, OutOfStep, Setting, one_of
from deptree_cli.core.scores import SCALES
from deptree_cli.io.files.streams import STDIN, entries_of, lines_of, open_input, place_of
from deptree_cli.io.read import prepared, read
from deptree_cli.io.scores.arrays import Raw, RawScores, ReadSpec
from deptree_cli.io.scores.containers import SENTENCES, open_scores
from deptree_cli.io.sentence import Companion, Sentence, Side, Warn, holding, nameless, unheard

if TYPE_CHECKING:
    from deptree_cli.bitext.distribution import AlignmentDistribution


@dataclass(slots=True, eq=False)
class PairRecord:
    """One sentence pair as it was read."""

    sent_id: str  # the key of the scores, or the running number from 1
    number: int
    place: str  # where the scores were read, for messages
    scores: Float  # log-scores of links (p, q), -inf forbids; the mean of both directions if both were read
    source_nulls: Float  # (p,), log-scores of leaving words unlinked
    target_nulls: Float  # (q,)
    source: tuple[str, ...] = ()  # the words, if they were read
    target: tuple[str, ...] = ()
    key: str | None = None
    known: KnownLinks | None = None  # the gold links, if they were read

    @property
    def weight(self) -> int:
        return self.scores.size**2


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A sentence pair with the distribution over its alignments."""

    record: PairRecord
    distribution: AlignmentDistribution

    @property
    def id(self) -> str:
        return self.record.sent_id


def scored(record: PairRecord, temperature: float = 1.0) -> ScoredPair:
    """Make the distribution of a record."""
    from deptree_cli.bitext.distribution import AlignmentDistribution  # loads kernels: when there is work

    parts = record.scores, "log", record.source_nulls, record.target_nulls
    try:
        return ScoredPair(record, AlignmentDistribution(*parts, record.sent_id, temperature=temperature))
    except DeptreeError as error:
        raise error.at(record.place, record.sent_id) from None


# Rows are source words, columns are target words. With NULL there is a row and a column more, first or last: entry
# [i, NULL] is the score of leaving source word i unlinked, [NULL, j] that of target word j; the corner means nothing.
NULLS = ("first", "last")


@dataclass(frozen=True, slots=True)
class PairLayout:
    """How to read a matrix of scores of links."""

    scale: str = "log"  # or ``weight``
    null: str | None = None  # where NULL stands, ``first`` or ``last``; None without its row and column
    null_score: float | None = None  # without NULL, that of an unlinked word; None for a log-score of 0, a weight of 1
    assumed: tuple[str, ...] = field(default=(), compare=False)  # options that were not passed

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise DeptreeError(f"unknown scale {self.scale!r}", one_of(SCALES))
        if self.null not in (None, *NULLS):
            raise DeptreeError(f"unknown position {self.null!r} of NULL", one_of(NULLS))

    def assumption(self, scores: Array) -> str:
        """The line that reports what is assumed, for the scores of a pair; empty if nothing is assumed."""
        if not self.assumed:
            return ""
        answers = {"--scale": "as log-scores", "--null": "without NULL"}
        if ((scores >= 0) & (scores <= 1)).all():
            answers["--scale"] += " (they are from 0 to 1: if they are weights, pass --scale weight)"
        return f"no {' or '.join(self.assumed)} given: reading {', '.join(answers[each] for each in self.assumed)}"

    def lengths(self, shape: tuple[int, ...]) -> tuple[int, int]:
        nulls = int(self.null is not None)
        if len(shape) != 2:
            problem = f"the scores have shape {shape}, but a sentence pair needs a matrix"
            raise DeptreeError(problem, "Give a row per source word and a column per target word")
        if min(shape) < nulls:
            problem = f"the scores have shape {shape}, without a row and a column for NULL"
            raise DeptreeError(problem, f"Give p + 1 rows and q + 1 columns, or remove --null {self.null}")
        return shape[0] - nulls, shape[1] - nulls

    def cut(self, scores: Array, p: int, q: int) -> Array:
        """Cut a padded matrix to its first p source words and q target words, and NULL."""
        if self.lengths(scores.shape) == (p, q):
            return scores
        if self.null == "last":
            problem = "--null last does not work with padded matrices: the position of NULL is unknown"
            raise DeptreeError(problem, "Save one matrix per sentence pair, unpadded")
        nulls = int(self.null is not None)
        return scores[: p + nulls, : q + nulls]

    def link_scores(self, scores: Array) -> LinkScores:
        """Return the log-scores of a matrix as read, (p, q), or (p + 1, q + 1) with NULL."""
        p, q = self.lengths(scores.shape)
        one = float(self.scale == "weight") if self.null_score is None else self.null_score
        links, of_source, of_target = scores, np.array(one), np.array(one)
        if self.null is not None:
            null, words = (0, slice(1, None)) if self.null == "first" else (-1, slice(-1))
            links, of_source, of_target = scores[words, words], scores[words, null], scores[null, words]
        try:
            return LinkScores(
                checked_links(links, self.scale, 1.0),
                checked_nulls("source", of_source, p, self.scale, 1.0),
                checked_nulls("target", of_target, q, self.scale, 1.0),
            )
        except DeptreeError as error:
            error.options = (Setting("scale", "log"),)  # here the scale is an option of its own
            raise


def averaged(one: LinkScores, other: LinkScores) -> LinkScores:
    """Return the mean of two directions' log-scores, of links and nulls; what either forbids is forbidden."""
    return LinkScores(*((first + second) / 2 for first, second in zip(one, other, strict=True)))


def check_not_padding(scores: Array, layout: PairLayout) -> None:
    """Raise if the last row or column of a slice of a batch, without the corner of NULL, looks like padding.

    It does if nothing in it is possible, or if all of it is one number (0, or -10000 in half precision), which scores
    of a model never are. A matrix of one number only may be meant, and is accepted.
    """
    words = slice(-1) if layout.null == "last" else slice(None)
    masked = scores == 0 if layout.scale == "weight" else scores <= -MASK
    constant = bool((scores == scores[0, 0]).all())
    for what, at in (("row", (-1, words)), ("column", (words, -1))):
        last = scores[at]
        if masked[at].all() or (len(last) > 1 and (last == last[0]).all() and not constant):
            problem = f"the last {what} of a matrix of shape {scores.shape} looks like padding"
            raise DeptreeError(problem, "Give the words with --text FILE, or save one matrix per sentence pair")


class PairWords(NamedTuple):
    """The words of both sentences of a pair, and the place where they were read."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    place: str


def read_text(path: str) -> Iterator[PairWords | DeptreeError]:
    """The words of each line ``source words ||| target words``, the format of fast_align, or the error of a line."""
    with open_input(path) as file:
        for place, line in entries_of(file.stream, file.place):
            words = line.split()  # of bytes: a no-break space is part of a word
            if (times := words.count(b"|||")) != 1:
                problem = f"there are {times} ||| between words" if times else "there is no ||| between words"
                remedy = "Give a line 'source words ||| target words' for every sentence pair"
                yield DeptreeError(problem, remedy, place=place)
                continue
            middle = words.index(b"|||")
            try:
                source, target = (tuple(map(bytes.decode, side)) for side in (words[:middle], words[middle + 1 :]))
                yield PairWords(source, target, place)
            except UnicodeDecodeError:
                yield DeptreeError("the line is not UTF-8", "Save the file as UTF-8", place=place)


# Links of sentence pairs in the Pharaoh format: a line per pair, an empty one for a pair without links.
#
#     0-0 1?2 2p3
#
# Words are counted from 0, the source word first. ``i-j`` is a sure link; ``i?j`` and ``ipj``, both found in annotated
# data, are links that are only possible. The order of links does not matter.
_LINK = re.compile(rb"([0-9]{1,9})([-?p])([0-9]{1,9})")


def read_pharaoh(path: str) -> Iterator[KnownLinks | DeptreeError]:
    """The links of each line, or the error of a line that is not in the format; the file and lines may be empty."""
    with open_input(path, may_be_empty=True) as file:
        for number, line in enumerate(lines_of(file.stream, file.place), 1):
            yield _parsed(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, f"{file.place}:{number}")


def _parsed(line: bytes, place: str) -> KnownLinks | DeptreeError:
    sure, possible = set[Link](), set[Link]()
    for text in line.split():
        match = _LINK.fullmatch(text)
        if match is None:
            shown = text.decode("utf-8", "replace")[:20]
            return DeptreeError(f"{shown!r} is not a link", "Write links as 0-0, possible ones as 0?1", place=place)
        (sure if match[2] == b"-" else possible).add((int(match[1]), int(match[3])))
    return KnownLinks(frozenset(sure), frozenset(sure | possible), place)


def pharaoh_line(sure: Links, possible: Links = frozenset()) -> bytes:
    """The line of a pair, links sorted; possible links that are not sure are marked by ``?``."""
    marked = sorted((link, "-" if link in sure else "?") for link in sure | possible)
    return (" ".join(f"{source}{mark}{target}" for (source, target), mark in marked) + "\n").encode()


def with_links(pairs: Iterator[PairRecord | DeptreeError], paths: Sequence[str]) -> Iterator[PairRecord | DeptreeError]:
    """The pairs, each with the gold links of its line in Pharaoh files; OutOfStep if there are more or fewer lines.

    If the files have no lines at all, no pair has a link.
    """
    lines = chain.from_iterable(map(read_pharaoh, paths))
    if (first := next(lines, None)) is None:
        none = KnownLinks(frozenset(), frozenset())
        return (pair if isinstance(pair, DeptreeError) else replace(pair, known=none) for pair in pairs)
    known = Side(chain([first], lines), "lines", ", ".join(map(place_of, paths)), nameless)
    lead = Side(pairs, "sentence pairs", names=lambda pair: (pair.sent_id,))
    return cast(Iterator[PairRecord | DeptreeError], read(lead, [Companion(known, _add)]))


def _add(pair: Any, known: KnownLinks) -> None:
    try:
        known.check_within(*pair.scores.shape)
    except DeptreeError as error:
        raise error.at(known.place, pair.sent_id) from None
    pair.known = known


# The roles of the scores of a pair as read, of the scores in the other direction, and of its words.
RAW, REVERSE, WORDS = "raw", "reverse", "words"


def record_of(pair: Sentence, layout: PairLayout) -> PairRecord | DeptreeError:
    """The record of a pair with the companion `RAW`, maybe `REVERSE` and `WORDS`; or what is wrong with them."""
    raw: RawScores = pair.companions[RAW]
    reverse, text, sent_id = pair.companions.get(REVERSE), pair.companions.get(WORDS), pair.sent_id
    try:
        words = text or (PairWords(*raw.pair, raw.place) if raw.pair else None)
        found = layout.link_scores(_fitted(raw, words, layout))
        if reverse is not None:
            found = averaged(found, _turned(reverse, raw.key, found.links.shape, layout))
    except OutOfStep as error:
        raise error.at(raw.place, sent_id) from None
    except DeptreeError as error:
        return error.at(raw.place, sent_id)
    source, target = (words.source, words.target) if words else ((), ())
    return PairRecord(sent_id, pair.number, raw.place, *found, source, target, raw.key)


def _fitted(raw: RawScores, words: PairWords | None, layout: PairLayout) -> Array:
    """The matrix, cut to the lengths of its words if these are known."""
    own = p, q = layout.lengths(raw.scores.shape)
    if words is None:
        if raw.length is not None:
            problem = "a sentence pair needs two lengths, but the file has one"
            raise DeptreeError(problem, "Give the words with --text FILE, or save one matrix per sentence pair")
        if raw.padded:
            check_not_padding(raw.scores, layout)
        return raw.scores
    here, there = lengths = len(words.source), len(words.target)
    if own == lengths or _is_cut(raw, own, lengths):
        return layout.cut(raw.scores, *lengths)
    problem = f"the scores are for {p} and {q} words, but there are {here} and {there} words"
    null = "" if layout.null else "; if NULL has one of each, pass --null"
    rows = f"rows are source words, columns target words{null}"
    if words.place == raw.place:
        raise DeptreeError(problem, f"Correct one of them: {rows}")
    same = "Check that all files hold the same sentence pairs in the same order, with the same words"
    raise OutOfStep(f"{problem} at {words.place}", f"{same}: {rows}")


def _turned(reverse: RawScores, key: str | None, lengths: tuple[int, ...], layout: PairLayout) -> LinkScores:
    """The scores of the other direction, turned and cut to the lengths of this one."""
    p, q = lengths
    try:
        own = layout.lengths(reverse.scores.shape)
        if own == (q, p) or _is_cut(reverse, own, (q, p)):
            return layout.link_scores(layout.cut(reverse.scores, q, p)).transposed
    except DeptreeError as error:
        raise error.at(reverse.place) from None
    problem = f"the scores are for {p} and {q} words, those of the other direction for {own[0]} and {own[1]}"
    remedy = f"For p rows and q columns here, give q rows and p columns there ({reverse.place})"
    raise (OutOfStep if key is None or key != reverse.key else DeptreeError)(problem, remedy)


def _is_cut(raw: RawScores, own: tuple[int, int], lengths: tuple[int, int]) -> bool:
    return (raw.padded or raw.length is not None) and own[0] >= lengths[0] and own[1] >= lengths[1]


@dataclass
class PairSource:
    """The files of sentence pairs, read once; `-` is standard input for one of them."""

    path: str
    symmetric: str | None = None  # scores of the other direction; both are averaged
    text: str | None = None
    count: int | None = None  # of pairs, known while a container with names is read

    @property
    def paths(self) -> list[str]:
        return [path for path in (self.path, self.symmetric, self.text) if path is not None]

    def read(self, layout: PairLayout, first: int = 1, warn: Warn = unheard) -> Iterator[PairRecord | DeptreeError]:
        """Yield every sentence pair, or the DeptreeError of one that cannot be used; `first`: its running number.

        warn: reports assumptions, and scores that look wrong: a line, once for each key.
        """
        if self.paths.count(STDIN) > 1:
            raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
        with ExitStack() as opened:
            scores, companions = _side(opened, self.path, layout), list[Companion]()
            self.count = len(scores.items) if isinstance(scores.items, Mapping) else None
            if self.symmetric is not None:
                companions.append(Companion(_side(opened, self.symmetric, layout), holding(REVERSE), shared=True))
            if self.text is not None:
                lines = Side(read_text(self.text), "lines", place_of(self.text), nameless)
                companions.append(Companion(lines, holding(WORDS)))
            lead = replace(scores, items=map(_pair, scores.in_order(), count(first)))
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
                    warn("no links", f"every link scores less than leaving both words unlinked: check {check}")
                yield record


def _pair(raw: Raw, number: int) -> Sentence | DeptreeError:
    if isinstance(raw, DeptreeError):
        return raw
    sent_id, named = raw.key or str(number), raw.key is not None
    return Sentence(sent_id, number, 0, raw.place, named=named, companions={RAW: raw})


def _side(opened: ExitStack, path: str, layout: PairLayout) -> Side:
    """The matrices of a file, which is open as long as others are."""
    try:
        file = opened.enter_context(open_scores(path))
        file.meta.check_of_pairs()
    except DeptreeError as error:
        if error.problem == SENTENCES:
            error.remedy = "Name the file of scores, and that of the words with --text"
        raise error.at(place_of(path)) from None
    source = file.read(ReadSpec(2, 0.0 if layout.scale == "weight" else -np.inf, pairs=True))
    return Side(source, "matrices", place_of(path), ordered=file.meta.ordered)


def read_pairs(
    scores: str,
    text: str | None = None,
    *,
    symmetric: str | None = None,
    scale: str = "log",
    null: str | None = None,
    null_score: float | None = None,
    temperature: float = 1.0,
    on_error: Callable[[DeptreeError], None] | None = None,
) -> Iterator[ScoredPair]:
    """Read the sentence pairs of a score file, one at a time, as ``deptree bitext`` does.

    Args:
        scores: path of a file in any container; `-` is standard input.
        text: path of the words, a line ``source words ||| target words`` for each pair.
        symmetric: path of the scores of the other direction.
        scale, null, null_score, temperature: each as the option of that name on the command line.
        on_error: called with the error of each pair that cannot be used, which is then left out.

    Raises:
        DeptreeError: a file cannot be read, or (without `on_error`) a pair cannot be used.
    """
    records = PairSource(scores, symmetric, text).read(PairLayout(scale, null, null_score))
    return prepared(records, partial(scored, temperature=temperature), on_error)
